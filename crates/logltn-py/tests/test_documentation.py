"""The examples of docstrings run."""

import doctest
import importlib

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
    for method in (logltn.KnowledgeBase.query, logltn.KnowledgeBase.explain):
        for test in doctest.DocTestFinder().find(method, globs={**vars(logltn)}):
            found += len(test.examples)
            assert runner.run(test).failed == 0
    assert found >= 6
