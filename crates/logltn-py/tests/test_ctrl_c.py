"""Ctrl-C in the middle of something long: heard within a second, and everything is usable afterwards."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import logltn

SECONDS = float(os.environ.get("LOGLTN_SECONDS", 30))

SCRIPT = """
import signal, sys
import numpy as np
import logltn

# A shell that starts tests in the background has them ignore it, and Python leaves that as it is.
signal.signal(signal.SIGINT, signal.default_int_handler)

action, threads = sys.argv[1], int(sys.argv[2])
if action == "loss":
    import torch, logltn.torch
CHAIN = "sort P  predicate C(P, P)  axiom a: forall x, y, z: P. C(x, y) and C(y, z) -> C(x, z)"
MANY = "x * y * z % 1000003 = 1"  # keeps few, of which all have to be tried
rng = np.random.default_rng(0)
values = lambda n: {"C": rng.normal(size=(n, n)).astype(np.float32)}
kb = logltn.KnowledgeBase(CHAIN, threads=threads)
numbers = logltn.KnowledgeBase("sort N = 0..2999  predicate q(N)  axiom a: forall x: N. q(x)")
small, large, size = values(5), values(2500), {"P": 2500}
expected = kb.evaluate(small, sorts={"P": 5}, gradients=True)

def loss():
    torch_kb = logltn.torch.KnowledgeBase(CHAIN, threads=threads)
    torch_kb.loss(C=torch.from_numpy(large["C"]).requires_grad_(), sorts=size).backward()

def handler():
    heard = []
    signal.signal(signal.SIGINT, lambda *_: heard.append(1))
    while not heard:
        kb.evaluate(values(600), sorts={"P": 600})
    raise KeyboardInterrupt  # as the others do

ACTIONS = {
    "evaluate": lambda: kb.evaluate(large, sorts=size),
    "gradients": lambda: kb.evaluate(large, sorts=size, gradients=True),
    "loss": loss,
    "query": lambda: kb.query("forall x, y, z: P. C(x, y) or C(y, z) or C(z, x)", large, sorts=size),
    "find": lambda: kb.query("find x: P. forall y, z: P. C(x, y) or C(y, z) or C(z, x)", large, sorts=size),
    "explain": lambda: kb.explain(large, sorts=size),
    "planning": lambda: logltn.KnowledgeBase(f"sort N = 0..2999  predicate q(N)  axiom a: forall x, y, z: N where {MANY}. q(x) -> q(z)"),
    "question": lambda: numbers.query(f"forall x, y, z: N where {MANY}. q(x)", {"q": np.zeros(3000)}),
    "handler": handler,  # one that raises nothing: the call goes on
}
print("ready", flush=True)
try:
    ACTIONS[action]()
except KeyboardInterrupt:
    print("raised", flush=True)
again = kb.evaluate(small, sorts={"P": 5}, gradients=True)
assert again.loss == expected.loss and (again.gradients["C"] == expected.gradients["C"]).all()
assert kb.query("forall x, y: P. C(x, y)", small, sorts={"P": 5})["truth"] < 0
assert numbers.query("q(7)", {"q": np.zeros(3000)})["truth"] < 0
print("usable")
"""


@pytest.mark.parametrize("action", ["evaluate", "gradients", "loss", "query", "find", "explain", "planning", "question", "handler"])
@pytest.mark.parametrize("threads", ["1", "2"])
def test_ctrl_c(action, threads):
    if action == "loss":
        pytest.importorskip("torch")
    if threads == "2" and action not in ("evaluate", "explain"):
        pytest.skip("the same code")
    process = subprocess.Popen([sys.executable, "-W", "ignore", "-c", SCRIPT, action, threads], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(1)
        assert process.poll() is None, "it was quicker than this test"
        process.send_signal(signal.SIGINT)
        start = time.perf_counter()
        assert process.stdout.readline() == "raised\n"
        seconds = time.perf_counter() - start
        # A second, and what a busy machine and an unoptimised build make of it. Left alone, they all take minutes.
        if action != "handler":
            assert seconds < SECONDS
        assert process.stdout.read() == "usable\n"
        assert process.wait(60) == 0
        print(f"{action}: {seconds:.2f} s")
    finally:
        process.kill()


@pytest.mark.parametrize("delay", [0.01, 0.03, 0.1])
def test_what_is_raised_while_planning_stops_the_evaluation(delay):
    """Planning may end before it is to stop, and then the evaluation was not."""
    kb = logltn.KnowledgeBase("sort P  predicate C(P, P)  axiom a: forall x, y, z: P. C(x, y) and C(y, z) -> C(x, z)")
    values = {"C": np.zeros((2500, 2500), np.float32)}
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        start = time.perf_counter()
        signal.setitimer(signal.ITIMER_REAL, delay)
        with pytest.raises(KeyboardInterrupt):
            kb.evaluate(values, sorts={"P": 2500})
        assert time.perf_counter() - start < SECONDS
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
