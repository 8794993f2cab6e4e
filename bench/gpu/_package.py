"""Imports logltn of this clone with a native part that was built elsewhere."""

import importlib.machinery
import importlib.util
import os
import sys
from pathlib import Path

CLONE = Path(__file__).resolve().parents[2]


def load():
    sys.path[:0] = [str(CLONE / "crates/logltn-py/python"), str(CLONE / "crates/logltn-py/tests")]
    native = os.environ.get("LOGLTN_NATIVE")
    if native:
        loader = importlib.machinery.ExtensionFileLoader("logltn._native", native)
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader("logltn._native", loader))
        sys.modules["logltn._native"] = module
        loader.exec_module(module)
    import logltn.torch  # noqa: F401
