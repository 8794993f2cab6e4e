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
