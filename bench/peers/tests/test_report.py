"""Ratios, exponents and the page."""

import json
import math
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from support import group, result

import aims
import report
from tasks import TASKS


class Numbers(unittest.TestCase):
    def test_three_figures(self):
        shown = [report.figures(x) for x in (0, 0.01234, 1.005, 9.999, 12.34, 99.96, 123.4, 12345)]
        self.assertEqual(shown, ["0", "0.0123", "1.00", "10.0", "12.3", "100", "123", "12,345"])

    def test_units(self):
        self.assertEqual([report.seconds(x) for x in (2, 0.0025, 4e-7)], ["2.00 s", "2.50 ms", "0.400 µs"])
        self.assertEqual(report.with_spread(result("ltntorch", 0.002)), "2.00 ms (1.80–2.40)")


class Tables(unittest.TestCase):
    def test_ratios_to_the_semantics_that_is_compared(self):
        lines = report.table([
            result("logltn:stable", 0.002, 10), result("logltn:logltn", 0.001, 20),
            result("ltntorch", 0.2, 1000), result("pytorch:eager", 0.005, 800),
        ])  # fmt: skip
        self.assertEqual(lines[4], "| LTNtorch 1.0.2 | 200 ms (180 ms–240 ms) | 100× | 1,000 MB | 100× |")
        self.assertEqual(lines[5], "| PyTorch by hand | 5.00 ms (4.50 ms–6.00 ms) | 5.00× | 800 MB | 40.0× |")
        self.assertEqual(lines[2].split(" | ")[2], "1")

    def test_no_ratio_where_the_loss_differs_or_nothing_was_measured(self):
        lines = report.table([
            result("logltn:stable", 0.002), result("ltntorch", 0.2, mismatch="loss: 2, but 1"),
            {"peer": "ltn:", "failed": "more than 60 s"},
        ])  # fmt: skip
        self.assertIn("| different loss |", lines[3])
        self.assertEqual(lines[4], "| `ltn` 2.1 (TensorFlow) | more than 60 s | – | – | – |")

    def test_epochs_that_were_scaled(self):
        task = {"task": "mnist_add", "groups": {"epoch of 1,500": group(
            result("logltn:stable", 1), result("ltntorch", 30, extrapolated_from_steps=61))}}  # fmt: skip
        text = report.markdown([task])
        self.assertIn("30.0 s (27.0 s–36.0 s) ¹61", text)
        self.assertIn("¹ Measured over so many steps", text)


class Aims(unittest.TestCase):
    def step(self, *results):
        return [{"task": "clustering", "groups": {"step": group(*results)}}]

    def row(self, tasks, text):
        return next(line for line in aims.table(tasks, report.figures) if line.startswith(f"| {text}"))

    def test_the_best_of_several_programs_must_be_beaten(self):
        ours = result("logltn:logltn", 0.001)
        by_hand = [result("pytorch:eager", 0.0049), result("pytorch:compiled", 0.008)]
        row = self.row(self.step(ours, *by_hand), "clustering: 5 times")
        self.assertTrue(row.endswith("| 4.90× and 8.00× | missed |"), row)
        by_hand[0]["median"] = 0.005
        self.assertTrue(self.row(self.step(ours, *by_hand), "clustering: 5 times").endswith("| reached |"))

    def test_memory(self):
        tasks = self.step(result("logltn:stable", 0.001, 8), result("ltntorch", 1, 800))
        self.assertTrue(self.row(tasks, "clustering: a tenth").endswith("| 100× | reached |"))

    def test_what_failed_or_computes_something_else_reaches_nothing(self):
        for theirs in ({"failed": "more than 60 s"}, result("ltntorch", 9, mismatch="loss")):
            tasks = self.step(result("logltn:stable", 0.001), dict(theirs, peer="ltntorch"))
            self.assertTrue(self.row(tasks, "clustering: 200").endswith("| – | not measured |"))

    def test_every_aim_is_about_something_that_is_measured(self):
        for aim in aims.AIMS:
            groups = {g.name: g.peers for g in TASKS[aim.task](False)}
            self.assertTrue({aim.ours, *aim.peers} <= set(groups[aim.group]), aim)


def growing(task="growth_points"):
    """Ours is linear in time and has a root's growth in memory; LTNtorch is quadratic until it fails."""
    groups = {}
    for size in (100, 1_000, 10_000, 100_000):
        found = [result("logltn:logltn", 1e-6 * size, math.sqrt(size), plan_seconds=1e-5 * size)]
        if size <= 1_000:
            found.append(result("ltntorch", 1e-6 * size**2, 100))
        elif size == 10_000:
            found.append({"peer": "ltntorch", "failed": "out of memory (limit 12 GB)"})
        groups[str(size)] = group(*found)
    return {"task": task, "groups": groups}


class Growth(unittest.TestCase):
    def test_exponents(self):
        text = report.slope_text(growing()["groups"], "logltn:logltn")
        self.assertIn("from 10,000 to 100,000 time grows with the power 1.00, peak memory with 0.50", text)
        two = {100: result("ltntorch", 0.01), 1_000: result("ltntorch", 1)}
        self.assertAlmostEqual(report.power(*two.items(), "median"), 2)
        # Two sizes are too few to speak of growth.
        self.assertEqual(report.slope_text(growing()["groups"], "ltntorch"), "")

    def test_table_says_who_gave_up_and_where(self):
        lines = report.growth_table(growing())
        self.assertEqual(lines[4], "| 10,000 | 10.0 ms (9.00–12.0) | out of memory (limit 12 GB) |")
        self.assertEqual(lines[5], "| 100,000 | 100 ms (90.0–120) |  |")
        self.assertIn("LTNtorch 1.0.2: out of memory (limit 12 GB) at 10,000; not tried beyond.\n", lines)
        self.assertIn("100,000: 1.00 s.", "\n".join(lines))


class Page(unittest.TestCase):
    def test_what_is_missing_or_was_disturbed(self):
        tasks = [growing()]
        text = report.markdown(tasks)
        self.assertIn("**Not measured yet: clustering; mnist_add;", text)
        self.assertIn("growth_points (300, 3000, 30000)", text)
        self.assertNotIn("busy", text)
        tasks[0]["groups"]["100"]["cores_of_others"] = 0.7
        self.assertIn("during growth_points (0.7).**", report.markdown(tasks))

    def test_only_what_is_between_the_markers_changes(self):
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.md"
            page.write_text(f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n")
            places = {"PAGE": page, "RAW": Path(folder) / "raw.json", "ROOT": Path(folder), "plot": lambda task: None}
            with mock.patch.multiple(report, **places), mock.patch("sys.stderr"):
                report.write([growing()])
                report.write([growing()])
            text = page.read_text()
            self.assertTrue(text.startswith(f"before\n{report.BEGIN}\nMeasured by"))
            self.assertTrue(text.endswith(f"{report.END}\nafter\n"))
            self.assertNotIn("old", text)
            self.assertEqual(text.count("### Growth: points"), 1)
            self.assertEqual(json.loads((Path(folder) / "raw.json").read_text())[0]["task"], "growth_points")


if __name__ == "__main__":
    unittest.main()
