"""`python -m logltn` does what the program does."""

import json
import subprocess
import sys

import pytest

import logltn
from conformance_cases import FOLDER, near, read


def run(*arguments):
    return subprocess.run([sys.executable, "-m", "logltn", *arguments], capture_output=True, text=True, timeout=120)


def test_version_and_usage():
    assert run("--version").stdout.split() == ["logltn", logltn.__version__]
    assert run("nonsense").returncode == 2
    assert "Usage" in run("--help").stdout


@pytest.mark.filterwarnings("ignore::logltn.InputWarning")
def test_check_is_the_same_document():
    done = run("check", str(FOLDER / "mereology" / "case.toml"), "--json")
    assert done.returncode == 0
    theirs = json.loads(done.stdout)
    arguments, values, _ = read("mereology")
    ours = logltn.KnowledgeBase(**arguments).check()
    assert set(theirs) == set(ours)
    # What networks and optimizer take is known to the program only: here they are the user's.
    assert set(theirs["step"]) - {"memory_bytes"} == set(ours["step"])
    assert ours["step"]["groundings"] == theirs["step"]["groundings"] and ours["step"]["seconds"] > 0
    for key in ("semantics", "params", "tables", "memory_bytes", "axioms"):
        assert ours[key] == theirs[key], key


def test_eval_agrees():
    arguments, values, _ = read("clustering")
    done = run("eval", str(FOLDER / "clustering" / "case.toml"), "--alpha", "2", "--json")
    assert done.returncode == 0, done.stderr
    kb = logltn.KnowledgeBase(**arguments, dtype="float64")
    assert near(json.loads(done.stdout)["loss"], float(kb.evaluate(values, alpha=2.0).loss))


def test_mistakes_are_printed():
    done = run("check", "nowhere.toml")
    assert done.returncode == 2 and "nowhere.toml" in done.stderr
