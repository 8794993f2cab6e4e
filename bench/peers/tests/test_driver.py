"""What is measured, what is left out, and how a stopped run goes on."""

import contextlib
import io
import json
import time
import unittest

from support import WithFakes, group, result

import driver
import machine
from measure import Repetitions
from report import NAMES, TITLES
from store import Store
from tasks import PEERS, TASKS, Group

OURS = ["logltn:stable", "logltn:logltn"]


class Running(WithFakes):
    def setUp(self):
        super().setUp()
        self.replace(driver, "say", lambda *text: None)
        self.store = Store(self.folder / "results")
        self.made = []

    def growth(self, *sizes, peers=("ltntorch", "pytorch:eager")):
        def make(size):
            def case(_work):
                self.made.append(size)
                return self.folder

            return case

        return [Group(str(size), make(size), OURS + list(peers)) for size in sizes]

    def run_task(self, groups, **more):
        return driver.run_task("growth_points", groups, self.store, Repetitions(1, 0.001), **more)

    def peers_at(self, size):
        return [r["peer"] for r in self.store.groups("growth_points")[str(size)]["results"]]

    def test_each_size_is_kept_as_soon_as_it_is_measured(self):
        self.assertTrue(self.run_task(self.growth(10)))
        self.assertTrue(self.run_task(self.growth(10, 20)))
        self.assertEqual(self.made, [10, 20])
        facts = self.store.groups("growth_points")["20"]
        self.assertEqual(set(facts), set(group()))

    def test_interrupted_in_the_second_size(self):
        groups = self.growth(10, 20, 30)

        def interrupted(_work):
            raise KeyboardInterrupt

        groups[1].make = interrupted
        with self.assertRaises(KeyboardInterrupt):
            self.run_task(groups)
        self.run_task(self.growth(10, 20, 30))
        self.assertEqual(self.made, [10, 20, 30])

    def test_who_fails_is_not_tried_on_larger_sizes_even_in_a_later_run(self):
        self.fakes["ltntorch"] = {"at_step": 1, "then": "no_memory"}
        self.run_task(self.growth(10))
        self.fakes.clear()
        self.run_task(self.growth(10, 20))
        self.assertEqual(self.peers_at(10), OURS + ["ltntorch", "pytorch:eager"])
        self.assertEqual(self.peers_at(20), OURS + ["pytorch:eager"])

    def test_nothing_larger_once_ours_has_failed(self):
        self.fakes["logltn:logltn"] = {"at_step": 1, "then": "hang"}
        self.run_task(self.growth(10, 20))
        self.assertEqual(self.made, [10])
        self.assertEqual(
            list(driver.wrongs(self.store.all(TASKS))), ["growth_points, 10, logltn:logltn: more than 2 s"]
        )

    def test_no_size_is_begun_when_time_is_up(self):
        self.assertFalse(self.run_task(self.growth(10, 20), deadline=time.monotonic() - 1))
        self.assertEqual(self.made, [])

    def test_a_file_of_an_earlier_version_counts_as_none(self):
        self.store.path("growth_points").write_text(json.dumps({"groups": {"10": [result("ltntorch", 1)]}}))
        self.assertEqual(self.store.groups("growth_points"), {})
        self.store.path("growth_points").write_text('{"groups": {"10": ')
        self.run_task(self.growth(10))
        self.assertEqual(self.made, [10])

    def test_forgetting(self):
        self.store.add("clustering", "step", group())
        self.store.forget("clustering")
        self.store.forget("mnist_add")
        self.assertEqual(self.store.all(TASKS), [])

    def test_what_was_not_measured_here_is_as_it_was(self):
        raw = self.folder / "results.json"
        raw.write_text(json.dumps([{"task": "clustering", "groups": {"step": "then"}}, {"task": "growth_digits", "groups": {"1": "then"}}]))
        self.replace(driver.report, "RAW", raw)
        merged = driver.with_published([{"task": "clustering", "groups": {"step": "now"}}])
        self.assertEqual([(t["task"], *t["groups"].values()) for t in merged], [("clustering", "now"), ("growth_digits", "then")])


class Tasks(unittest.TestCase):
    def test_every_program_and_task_has_a_name_for_people(self):
        for quick in (True, False):
            for task, groups in TASKS.items():
                self.assertIn(task, TITLES)
                for each in groups(quick):
                    self.assertTrue(set(each.peers) <= set(NAMES), each)
                    self.assertTrue(each.peers[0].startswith("logltn:"))
                    self.assertEqual(len(set(each.peers)), len(each.peers))

    def test_growth_goes_as_far_as_it_should(self):
        last = lambda task: TASKS[task](False)[-1].name
        names = ("growth_points", "growth_clusters", "growth_axioms", "growth_digits")
        self.assertEqual([last(n) for n in names], ["100000", "500", "6000", "15"])

    def test_only_some_peers(self):
        peers = driver.arguments(["--peers", "in_torch,pytorch"]).peers
        names = {name for g in driver.chosen(TASKS["mnist_add"](True), peers) for name in g.peers}
        families = {name.partition(":")[0] for name in names}
        self.assertEqual(families, {"logltn", "in_torch", "pytorch"})
        everybody = [name for task in TASKS.values() for g in driver.chosen(task(False), None) for name in g.peers]
        self.assertEqual({name.partition(":")[0] for name in everybody}, {"logltn", *PEERS})
        with contextlib.redirect_stderr(io.StringIO()), self.assertRaises(SystemExit):
            driver.arguments(["--peers", "torch"])

    def test_only(self):
        self.assertEqual(driver.arguments(["--only", "clustering,mnist_add"]).tasks, ["clustering", "mnist_add"])
        with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()) as said:
            driver.arguments(["--only", "clusterin"])
        self.assertIn("no such task: clusterin; there are clustering, mnist_add", said.getvalue())


class Machine(unittest.TestCase):
    def test_processor_time_of_all(self):
        ticks = machine.busy_seconds("cpu  100 20 30 99999 888 1 2 3 50 60") * machine.os.sysconf("SC_CLK_TCK")
        self.assertAlmostEqual(ticks, 156)

    def test_our_own_time_is_not_that_of_others(self):
        others = machine.Others()
        others.busy -= 5.0  # as if five seconds had been used
        others.own -= 4.0  # four of them by us
        others.begun -= 10.0
        # The rest is what this machine does just now, on at most all of its cores for an instant.
        self.assertGreaterEqual(others.cores(), 0.09)
        self.assertLess(others.cores(), 0.5)


if __name__ == "__main__":
    unittest.main()
