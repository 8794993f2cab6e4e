"""Turns, limits and comparisons, with fake programs."""

import os
import time
import unittest
from pathlib import Path

from support import WithFakes

import measure
from process import MEMORY_LIMIT

OURS = ["logltn:stable", "logltn:logltn"]
NO_MEMORY = f"out of memory (limit {MEMORY_LIMIT >> 30} GB)"


class Measuring(WithFakes):
    def test_median_least_and_most_of_the_turns(self):
        self.fakes["pytorch:eager"] = {"seconds": 0.004}
        found = self.measured(OURS + ["pytorch:eager"])
        self.assertEqual(list(found), OURS + ["pytorch:eager"])
        theirs = found["pytorch:eager"]
        self.assertEqual((theirs["median"], theirs["least"], theirs["most"]), (0.004, 0.004, 0.004))
        self.assertEqual((len(theirs["turns"]), theirs["steps_in_a_turn"]), (3, 2))
        self.assertGreater(theirs["peak_kb"], 1000)
        self.assertNotIn("mismatch", theirs)

    def test_an_epoch_is_scaled_where_it_would_take_long(self):
        self.fakes["pytorch:eager"] = {"seconds": 0.02}
        found = self.measured(OURS + ["pytorch:eager"], epoch_steps=30)
        # 0.06 s for a turn: 3 steps of 30.
        self.assertAlmostEqual(found["pytorch:eager"]["median"], 0.6)
        self.assertEqual(found["pytorch:eager"]["extrapolated_from_steps"], 3)
        self.assertAlmostEqual(found["logltn:stable"]["median"], 0.03)
        self.assertNotIn("extrapolated_from_steps", found["logltn:stable"])

    def test_an_epoch_is_run_once_before_its_turns(self):
        # Ten steps to compare, five to plan, then step 30 of the first epoch is the 45th: not yet in a turn.
        self.fakes["pytorch:eager"] = {"at_step": 45, "then": "leave"}
        found = self.measured(OURS + ["pytorch:eager"], epoch_steps=30)
        self.assertEqual(found["pytorch:eager"]["failed"], "ended with status 7")
        self.assertNotIn("turns", found["pytorch:eager"])

    def test_slow_programs_get_fewer_turns(self):
        for seconds, turns in ((5.5, 2), (20.5, 1)):
            self.fakes["ltntorch"] = {"seconds": seconds}
            found = self.measured(OURS + ["ltntorch"], turns=5)
            self.assertEqual(found["ltntorch"]["turns"], [seconds] * turns)
            self.assertEqual(len(found["logltn:logltn"]["turns"]), 5)


class Comparing(WithFakes):
    def test_another_loss_at_once_or_after_ten_steps(self):
        # The third number is that of the step before last of the ten, the last that of the tenth.
        ours = [1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1]
        for name in OURS:
            self.fakes[name] = {"losses": ours}
        self.fakes["ltntorch"] = {"losses": [1.0001] + ours[1:]}
        self.fakes["ltn:"] = {"losses": [1.0002] + ours[1:]}
        self.fakes["pytorch:eager"] = {"losses": ours[:-1] + [0.111]}
        self.fakes["pytorch:compiled"] = {"losses": ours[:-1] + [0.109]}
        self.fakes["pytorch:network"] = {"losses": [55.0]}
        found = self.measured(OURS + ["ltntorch", "ltn:", "pytorch:eager", "pytorch:compiled", "pytorch:network"])
        wrong = {name: r["mismatch"] for name, r in found.items() if "mismatch" in r}
        self.assertEqual(
            wrong,
            {
                "ltn:": "loss: 1.0002, but logltn:stable has 1",
                "pytorch:eager": "later_loss: 0.111, but logltn:logltn has 0.1",
            },
        )

    def test_a_loss_that_is_no_number_is_another_loss(self):
        self.fakes["ltntorch"] = {"losses": [float("nan")]}
        self.assertIn("mismatch", self.measured(OURS + ["ltntorch"])["ltntorch"])

    def test_each_is_compared_with_the_semantics_it_computes(self):
        self.fakes["logltn:stable"] = {"losses": [2.0]}
        self.fakes["ltntorch"] = {"losses": [2.0]}
        self.fakes["klay:"] = {"losses": [2.0]}
        found = self.measured(OURS + ["ltntorch", "pytorch:eager", "klay:"])
        self.assertEqual([n for n, r in found.items() if "mismatch" in r], ["klay:"])


class Failing(WithFakes):
    def failed(self, **fake):
        self.fakes["ltntorch"] = fake
        found = self.measured(OURS + ["ltntorch", "pytorch:eager"])
        # Whatever it does, the others have their figures.
        for name in OURS + ["pytorch:eager"]:
            self.assertIn("median", found[name])
        return found["ltntorch"]["failed"]

    def test_hanging(self):
        self.assertEqual(self.failed(at_step=1, then="hang"), "more than 2 s")
        self.replace(measure, "FIRST_LIMIT", 2.0)
        self.assertEqual(self.failed(starting="hang"), "more than 2 s")

    def test_out_of_memory(self):
        for how in ("no_memory", "bad_alloc", "killed"):
            self.assertEqual(self.failed(at_step=1, then=how), NO_MEMORY, how)
            self.assertEqual(self.failed(starting=how), NO_MEMORY, how)

    def test_other_ends(self):
        self.assertEqual(self.failed(at_step=2, then="raise"), "ValueError: no such")
        self.assertEqual(self.failed(at_step=1, then="abort"), "ended by signal 6")
        self.assertEqual(self.failed(starting="leave"), "ended with status 7")

    def test_turns_before_the_end_count(self):
        # Ten steps to compare, five to plan a turn, ten a turn.
        self.fakes["ltntorch"] = {"at_step": 27, "then": "leave"}
        theirs = self.measured(OURS + ["ltntorch"])["ltntorch"]
        self.assertEqual((len(theirs["turns"]), theirs["failed"]), (1, "ended with status 7"))

    def test_without_ours_nothing_else_is_started(self):
        self.fakes["logltn:stable"] = {"starting": "raise"}
        found = self.measured(OURS + ["ltntorch"])
        self.assertEqual(self.started, ["logltn:stable"])
        self.assertEqual(found["logltn:stable"]["failed"], "ValueError: no such")

    def test_what_a_program_started_ends_with_it(self):
        note = self.folder / "child"
        self.fakes["pytorch:compiled"] = {"child": str(note)}
        self.measured(OURS + ["pytorch:compiled"])
        pid = int(note.read_text())
        for _ in range(50):
            if not alive(pid):
                return
            time.sleep(0.1)
        self.fail("it still runs")


def alive(pid):
    try:
        os.kill(pid, 0)
        # A zombie has ended; that nobody has asked for its status is not our affair.
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except (ProcessLookupError, FileNotFoundError):
        return False


if __name__ == "__main__":
    unittest.main()
