"""A peer as a process that trains on request, so that peers can take turns and each has a peak of memory of its own."""

import json
import os
import resource
import selectors
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
STEP_SERVER = ROOT / "target/release/examples/step_server"
THREADS = os.environ.get("LOGLTN_PEERS_THREADS", "2")

# A process that wants more is out of memory: the machine is to survive it.
MEMORY_LIMIT = 12 << 30


class Stopped(Exception):
    """Why a peer has no number."""


def limit_memory():
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_LIMIT, MEMORY_LIMIT))


class Peer:
    """`logltn:SEMANTICS` or a peer of worker.py."""

    def __init__(self, name, folder):
        self.name, self.stopped = name, None
        family, _, variant = name.partition(":")
        if family == "logltn":
            command = [STEP_SERVER, folder / f"{variant}.toml"]
        elif family == "ltn":
            command = [os.environ["LOGLTN_PEERS_TF_PYTHON"], "-W", "ignore", HERE / "worker.py", name, folder]
        else:
            command = [sys.executable, "-W", "ignore", HERE / "worker.py", name, folder]
        threads = {k: THREADS for k in ("RAYON_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "THREADS")}
        self.log = open(folder / f"{name.replace(':', '-')}.log", "w")
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log,
            env=dict(os.environ, **threads), preexec_fn=limit_memory, cwd=ROOT,
        )  # fmt: skip
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.process.stdout, selectors.EVENT_READ)
        self.rest = b""

    def answer(self, seconds):
        """The next line that is JSON."""
        end = time.monotonic() + seconds
        while True:
            line, newline, rest = self.rest.partition(b"\n")
            if newline:
                self.rest = rest
                if not line.startswith(b"{"):
                    continue  # libraries greet
                answer = json.loads(line)
                if "failed" in answer:
                    self.stop(first_line(answer["failed"]))
                return answer
            left = end - time.monotonic()
            if left <= 0 or not self.selector.select(left):
                self.stop(f"more than {seconds:.0f} s")
            piece = os.read(self.process.stdout.fileno(), 1 << 16)
            if not piece:
                code = self.process.wait()
                # Aborted by a C++ exception, or killed by the kernel.
                self.stop("out of memory" if code in (-6, -9) else f"ended with status {code}")
            self.rest += piece

    def ask(self, command, seconds=60.0):
        if self.stopped:
            raise Stopped(self.stopped)
        try:
            self.process.stdin.write(command.encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            self.stop("ended")
        return self.answer(seconds)

    def peak_kb(self):
        """The largest resident size so far."""
        for line in open(f"/proc/{self.process.pid}/status"):
            if line.startswith("VmHWM:"):
                return int(line.split()[1])
        return None

    def stop(self, reason):
        if any(word in reason for word in ("memory", "alloc", "OOM", "MemoryError", "ResourceExhausted")):
            reason = f"out of memory (limit {MEMORY_LIMIT >> 30} GB)"
        self.stopped = reason
        self.close()
        raise Stopped(reason)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self.selector.close()
        self.log.close()


def first_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return (lines[0] if lines else text)[:160]
