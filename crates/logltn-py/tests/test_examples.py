"""Every file of `examples/python` runs, with few steps: whether the results are good is said by the full ones."""

import math
import runpy
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
import logltn.torch  # noqa: E402, F401

FOLDER = Path(__file__).resolve().parents[3] / "examples" / "python"
HELPERS = {"side_by_side.py", "smokes_data.py"}
FILES = sorted(str(f.relative_to(FOLDER)) for f in FOLDER.rglob("*.py") if f.name not in HELPERS)
ARGUMENTS = {
    "mnist_add.py": ["--sums", "128", "--epochs", "1", "--workers", "2"],
    "distributed.py": ["--sums", "128", "--epochs", "1"],
    "credit.py": ["--rows", "80", "--steps", "20"],
    "few_labels.py": ["moons", "--theory", "own"],
}


def test_all_are_there():
    ltntorch = ["binary", "clustering", "mnist_add", "multi_class", "multi_label", "regression", "smokes"]
    ours = ["credit", "distributed", "few_labels", "knowledge_graph", "mnist_add", "pascal_part", "smokes", "stories", "weighing"]
    expected = [*(f"{name}.py" for name in ours), *(f"from_ltntorch/{name}.py" for name in ltntorch)]
    assert FILES == sorted(expected)


@pytest.mark.parametrize("file", FILES)
def test_runs(file, monkeypatch, capsys):
    path = FOLDER / file
    if file == "credit.py":
        pytest.importorskip("sklearn")
    if path.parent != FOLDER:
        pytest.importorskip("ltn")
    monkeypatch.setenv("LOGLTN_STEPS", "3")
    monkeypatch.setattr(sys, "argv", [str(path), *ARGUMENTS.get(file, [])])
    monkeypatch.setattr(sys, "path", [str(path.parent), *sys.path])
    threads = torch.get_num_threads()
    # Under its own name first: what it gives is looked at, and files of the same name must not meet.
    known = set(sys.modules)
    try:
        found = runpy.run_path(str(path), run_name="example")["main"]()
    finally:
        torch.set_num_threads(threads)
        for name in {"side_by_side", "smokes_data", "mnist_add"} - known:
            sys.modules.pop(name, None)
    figures = found.values() if isinstance(found, dict) else [found]
    figures = [f for figure in figures for f in (figure.values() if isinstance(figure, dict) else [figure])]
    assert all(math.isfinite(figure) for figure in figures)
    if file == "few_labels.py":
        assert found == 1.0
    out = capsys.readouterr().out
    assert out.strip()
    if path.parent != FOLDER:  # they and we, with times
        assert "LTNtorch" in out and "a step, ms" in out
