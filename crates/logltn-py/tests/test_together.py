"""Many processes on one machine, by gloo: one, two, three and four compute what one does with all rows."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
import logltn  # noqa: E402
import logltn.torch  # noqa: E402

pytestmark = pytest.mark.skipif(
    not (torch.distributed.is_available() and torch.distributed.is_gloo_available()), reason="PyTorch without gloo"
)
EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "python" / "distributed.py"


def run_together(size, store, checks=(), **environment):
    worker = Path(__file__).with_name("together_worker.py")
    end = time.monotonic() + 900
    started = [
        subprocess.Popen(
            [sys.executable, worker, str(rank), str(size), store, *checks], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, env={**os.environ, "GLOO_SOCKET_IFNAME": "lo", **environment},
        )
        for rank in range(size)
    ]  # fmt: skip
    # One that fails may leave the others waiting.
    while any(process.poll() is None for process in started) and time.monotonic() < end:
        if any(process.poll() not in (None, 0) for process in started):
            end = min(end, time.monotonic() + 10)
        time.sleep(0.1)
    for process in started:
        process.kill()
    said = [process.communicate()[0] for process in started]
    assert all(process.returncode == 0 for process in started), "\n".join(said)
    assert all("fine" in out for out in said), said


def test_one_two_three_and_four_processes(tmp_path):
    run_together(4, tmp_path / "store")


def test_kernels_in_the_interpreter(tmp_path):
    pytest.importorskip("triton")
    run_together(2, tmp_path / "store", ["check_semantics"], TRITON_INTERPRET="1")


def test_the_example_with_torchrun():
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", EXAMPLE, "--sums", "64"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    done = subprocess.run([*command, "--epochs", "1"], capture_output=True, text=True, env=environment, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 processes" in done.stdout and done.stdout.count("epoch 1") == 1, done.stdout


def test_without_a_group():
    with pytest.raises(logltn.InputError) as caught:
        logltn.torch.KnowledgeBase("predicate p()  axiom a: p()", process_group=object())
    assert caught.value.diagnostics[0].code == "wrong-type"
    assert type(logltn.torch.KnowledgeBase("predicate p()  axiom a: p()", process_group=None)) is logltn.torch.KnowledgeBase
