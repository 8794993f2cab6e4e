"""The examples of docstrings and of the site run."""

import doctest
import importlib
import pathlib
import re

import pytest

MODULES = ["logltn", "logltn._given"]
TORCH = ["logltn.torch"]


@pytest.mark.parametrize("name", MODULES + TORCH)
def test_docstrings(name):
    if name in TORCH:
        pytest.importorskip("torch")
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0
    assert result.attempted > 0


def test_docstrings_of_methods():
    # A module's own search passes over them, as they are written in another file.
    logltn = importlib.import_module("logltn")
    runner, found = doctest.DocTestRunner(), 0
    for method in (logltn.KnowledgeBase.query, logltn.KnowledgeBase.explain, logltn.KnowledgeBase.identify):
        for test in doctest.DocTestFinder().find(method, globs={**vars(logltn)}):
            found += len(test.examples)
            assert runner.run(test).failed == 0
    assert found >= 6


@pytest.mark.parametrize("name", ["pytorch", "python", "ltntorch"])
def test_pages(name, monkeypatch, tmp_path):
    """The Python on a page of the site runs, in order; what needs a run of its own is left out."""
    pytest.importorskip("torch")
    folder = pathlib.Path(__file__).parents[3] / "docs"
    if not folder.exists():
        pytest.skip("no clone around the tests")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", (folder / f"{name}.md").read_text(encoding="utf-8"), re.M | re.S)
    blocks = [block for block in blocks if "load_run" not in block]
    assert blocks
    names: dict = {}
    for block in blocks:
        exec(compile(block, f"docs/{name}.md", "exec"), names)
