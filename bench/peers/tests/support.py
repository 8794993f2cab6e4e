"""What the tests share: fake programs in place of peers."""

import json
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "peers"))

import measure
import process


class WithFakes(unittest.TestCase):
    """`self.fakes` says how each program behaves, by its name; all others behave well."""

    def setUp(self):
        self.fakes, self.started = {}, []
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.replace(process, "command_of", self.command)
        self.replace(measure, "say", lambda *text: None)
        # Fakes start within a second or so even on a busy machine.
        self.replace(measure, "LIMIT", 2.0)

    def replace(self, module, name, value):
        patch = mock.patch.object(module, name, value)
        patch.start()
        self.addCleanup(patch.stop)

    def command(self, name, folder):
        self.started.append(name)
        return [sys.executable, "-S", HERE / "fake_worker.py", json.dumps(self.fakes.get(name, {}))]

    def measured(self, names, turns=3, epoch_steps=None):
        results = measure.measure(self.folder, names, measure.Repetitions(turns, 0.01), epoch_steps)
        return {r["peer"]: r for r in results}


def result(peer, median, peak_mb=None, **more):
    """A program's figures as `measure` gives them."""
    return dict({"peer": peer, "median": median, "least": 0.9 * median, "most": 1.2 * median,
                 "peak_kb": (peak_mb or 100) * 1024}, **more)  # fmt: skip


def group(*results, **facts):
    about = {"commit": "abc", "date": "2026-01-02 03:04", "machine": "2 cores of X", "threads": "2",
             "cores_of_others": 0.0, "seconds": 3}  # fmt: skip
    return dict(about, results=list(results), **facts)
