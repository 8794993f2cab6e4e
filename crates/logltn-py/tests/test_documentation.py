"""The examples of docstrings and of the site run."""

import doctest
import importlib
import importlib.util
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


# What the Python of a page takes as given.
GIVEN = {
    "distributed": """
import os, socket, torch, logltn.torch
with socket.socket() as s:
    s.bind(("127.0.0.1", 0))
    port = s.getsockname()[1]
os.environ.update(RANK="0", WORLD_SIZE="1", MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
theory = '''sort Image  sort Digit = 0..9  table sums(x: Image, y: Image, n: Int)  predicate digit(Image, Digit)
axiom addition: forall (x, y, n) in sums. exists a, b: Digit where a + b = n. digit(x, a) and digit(y, b)'''
net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(16, 10))
optimizer = torch.optim.Adam(net.parameters())
loader = [(torch.rand(3, 2, 1, 4, 4), torch.tensor([3, 9, 12]))]
""",
    "tables": """
import pandas
X = pandas.DataFrame({"age": [20.0, 30.0, 65.0, 70.0, 40.0, 80.0], "income": [1.0, 2.0, 1.5, 1.0, 3.0, 0.5]})
y = ["working", "working", "retired", None, "working", "retired"]
""",
    "worlds": """
import logltn.torch, torch
text = '''sort Thing  sort Label = {cat, animal}  table isa(c: Label, p: Label)  predicate is(Thing, Label)
axiom hierarchy: forall x: Thing. forall (c, p) in isa. is(x, c) -> is(x, p)'''
isa = {"c": ["cat"], "p": ["animal"]}
logits = torch.tensor([[2.0, -1.0], [0.5, 1.0]], requires_grad=True)
labels = torch.tensor([[1.0, 1.0], [0.0, 1.0]])
""",
    "../README": """
import logltn.torch, torch
theory = '''sort Image  sort Digit = 0..9  table sums(x: Image, y: Image, n: Int)  predicate digit(Image, Digit)
axiom addition: forall (x, y, n) in sums. exists a, b: Digit where a + b = n. digit(x, a) and digit(y, b)'''
images = torch.rand(4, 16)
net = torch.nn.Linear(16, 10)
rows = {"x": [0, 2], "y": [1, 3], "n": [7, 12]}
""",
}


def blocks(path):
    """The Python on a page; what needs a run, or a notebook, is left out."""
    found = re.findall(r"^```python\n(.*?)^```", path.read_text(encoding="utf-8"), re.M | re.S)
    return [block for block in found if "load_run" not in block and not block.startswith("%")]


def test_pages(monkeypatch, tmp_path):
    """The Python of every page of the site runs, in order."""
    pytest.importorskip("torch")
    folder = pathlib.Path(__file__).parents[3] / "docs"
    if not folder.exists():
        pytest.skip("no clone around the tests")
    pages = {path.stem: blocks(path) for path in folder.glob("*.md")}
    pages["../README"] = blocks(folder / "../README.md")
    pages = {name: found for name, found in pages.items() if found}
    assert set(GIVEN) < set(pages) and len(pages) >= 7
    monkeypatch.chdir(tmp_path)
    for name, found in pages.items():
        if name == "tables" and not all(map(importlib.util.find_spec, ["pandas", "sklearn"])):
            continue
        names: dict = {}
        for block in [GIVEN.get(name, ""), *found]:
            exec(compile(block, f"docs/{name}.md", "exec"), names)
    torch_distributed = importlib.import_module("torch.distributed")
    torch_distributed.destroy_process_group()
