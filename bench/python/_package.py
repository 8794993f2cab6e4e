"""With LOGLTN_NATIVE=path/to/lib_native.so: this clone's package with a native part that was built elsewhere. Otherwise the one that is installed."""

import os
import runpy
from pathlib import Path

if "LOGLTN_NATIVE" in os.environ:
    runpy.run_path(str(Path(__file__).resolve().parents[1] / "gpu/_package.py"))["load"]()
