"""Threads, forks, panics and a great many calls."""

import gc
import multiprocessing
import os
import resource
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import logltn
from test_numpy import LOGITS, addition

rng = np.random.default_rng(1)
TEXT = "sort P  predicate C(P, P)  axiom a: forall x, y, z: P. C(x, y) and C(y, z) -> C(x, z)"


def large(n=200):
    return logltn.KnowledgeBase(TEXT, sorts={"P": n}), {"C": rng.normal(size=(n, n)).astype(np.float32)}


def test_the_lock_is_released():
    kb, values = large()
    kb.evaluate(values)
    counted = [0]
    done = threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1
            time.sleep(0)

    thread = threading.Thread(target=count)
    thread.start()
    start = time.perf_counter()
    before = counted[0]
    kb.evaluate(values, gradients=True)
    while_evaluating = counted[0] - before
    assert time.perf_counter() - start > 0.01, "too quick to tell"
    done.set()
    thread.join()
    assert while_evaluating > 10


def test_several_threads():
    kb = addition(batched=["sums"])
    expected = {rows: kb.evaluate({"digit": LOGITS}, batch={"sums": list(rows)}).loss for rows in ((0,), (1,), (0, 1))}
    wrong = []

    def work(rows):
        for _ in range(200):
            if kb.evaluate({"digit": LOGITS}, batch={"sums": list(rows)}, gradients=True).loss != expected[rows]:
                wrong.append(rows)

    threads = [threading.Thread(target=work, args=(rows,)) for rows in [*expected, *expected]]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not wrong


def _in_child(kb, values, out):
    out.put(float(kb.evaluate(values, gradients=True).loss))
    other, values = large(60)
    out.put(float(other.evaluate(values).loss))


@pytest.mark.parametrize("busy", [False, True])
def test_fork(busy):
    kb, values = large()
    expected = float(kb.evaluate(values).loss)
    done = threading.Event()

    def work():
        while not done.is_set():
            kb.evaluate(values, gradients=True)

    threads = [threading.Thread(target=work) for _ in range(2 if busy else 0)]
    [t.start() for t in threads]
    try:
        context = multiprocessing.get_context("fork")
        for _ in range(3):
            out = context.Queue()
            child = context.Process(target=_in_child, args=(kb, values, out))
            child.start()
            assert out.get(timeout=120) == expected
            out.get(timeout=120)
            child.join(120)
            assert child.exitcode == 0
    finally:
        done.set()
        [t.join() for t in threads]
    assert float(kb.evaluate(values).loss) == expected


def test_many_calls_do_not_grow():
    """LOGLTN_CALLS=1000000 is the long form."""
    kb = addition(batched=["sums"])
    streamed = logltn.KnowledgeBase(kb.theory, outputs={"digit": "softmax"}, streamed=["sums"])

    def some(n):
        for i in range(n):
            kb.evaluate({"digit": LOGITS}, batch={"sums": [i % 2]}, gradients=True)
            rows = {"x": [0], "y": [1], "n": [i % 19]}
            streamed.evaluate({"digit": LOGITS[:2]}, sorts={"Image": 2}, tables={"sums": rows}, gradients=True)
            if i % 50 == 0:
                with pytest.raises(logltn.InputError):
                    kb.evaluate({"digit": LOGITS[:, 1:]})

    some(2000)
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    some(int(os.environ.get("LOGLTN_CALLS", 20_000)))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4_000  # kB


MEMORY = """
import numpy as np
import logltn
from logltn import _native

# The limit is the process's; the command sets it.
_native.main(["logltn", "--memory", "40MB", "check", "missing.toml"])
text = "sort P  predicate p(P)  axiom a: forall x, y: P where dist(x, y) < 1. p(x) -> p(y)"
try:
    logltn.KnowledgeBase(text, sorts={"P": np.zeros((1_000_000, 16))})
except MemoryError as error:
    print("features:", error)
kb = logltn.KnowledgeBase("sort P  predicate p(P)  axiom a: forall x: P. p(x)", sorts={"P": 2000})
values = {"p": np.zeros(2000)}
print(len(kb.query("find x: P, y: P. p(x) and p(y)", values, top=3)["answers"]))
try:
    kb.query("find x: P, y: P. p(x) and p(y)", values, top=0)
except logltn.InputError as error:
    print("answers:", error)
"""


def test_memory_is_asked_for():
    done = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    features, three, answers = done.stdout.strip().split("\n", 2)
    assert features.startswith("features: an array of what was given takes about 256 MB of memory"), done.stdout
    assert three == "3"
    assert "the list of all answers takes about" in answers, done.stdout
