"""A peer as a process that trains on request, so that peers can take turns and each has a peak of memory of its own."""

import ctypes
import json
import os
import resource
import selectors
import signal
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
STEP_SERVER = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "release/examples/step_server"
THREADS = os.environ.get("LOGLTN_PEERS_THREADS", "2")

# A process that wants more is out of memory: the machine is to survive it.
MEMORY_LIMIT = int(os.environ.get("LOGLTN_PEERS_MEMORY_GB", "12")) << 30

SIGNS_OF_NO_MEMORY = ("memory", "alloc", "OOM", "MemoryError", "ResourceExhausted")


class Stopped(Exception):
    """Why a peer has no number."""


def command_of(name, folder):
    """`logltn:SEMANTICS` or a peer of worker.py."""
    family, _, variant = name.partition(":")
    if family == "logltn":
        return [STEP_SERVER, folder / f"{variant}.toml"]
    python = os.environ["LOGLTN_PEERS_TF_PYTHON"] if family == "ltn" else sys.executable
    return [python, "-W", "ignore", HERE / "worker.py", name, folder]


def in_the_child():
    """Runs in the new process before the program does."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_LIMIT, MEMORY_LIMIT))
    try:
        # If memory is short anyway, the kernel ends this program and no other.
        Path("/proc/self/oom_score_adj").write_text("1000")
        # PR_SET_PDEATHSIG: nothing goes on computing when the driver is killed.
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    except (OSError, AttributeError):
        pass  # comforts of Linux


class Peer:
    def __init__(self, name, folder):
        self.name, self.stopped = name, None
        threads = {k: THREADS for k in ("RAYON_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "THREADS")}
        self.log_path = folder / f"{name.replace(':', '-')}.log"
        with open(self.log_path, "w") as log:
            self.process = subprocess.Popen(
                command_of(name, folder), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                env=dict(os.environ, **threads), preexec_fn=in_the_child, cwd=ROOT,
                # A group of its own, so that what it starts (`torch.compile` does) ends with it.
                start_new_session=True,
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
                answer = parsed(line)
                if answer is None:
                    continue  # libraries greet
                if "failed" in answer:
                    self.stop(first_line(answer["failed"]))
                return answer
            left = end - time.monotonic()
            if left <= 0 or not self.selector.select(left):
                self.stop(f"more than {seconds:.0f} s")
            piece = os.read(self.process.stdout.fileno(), 1 << 16)
            if not piece:
                self.stop(self.ending())
            self.rest += piece

    def ask(self, command, seconds=60.0):
        if self.stopped:
            raise Stopped(self.stopped)
        try:
            self.process.stdin.write(command.encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # it has ended; what it said before is still to be read
        return self.answer(seconds)

    def ending(self):
        """Why a process that said nothing has ended."""
        try:
            code = self.process.wait(10)
        except subprocess.TimeoutExpired:
            return "closed its output"
        if code == -signal.SIGKILL:
            return "out of memory"  # nobody but the kernel kills it
        last = last_line(self.log_path.read_text(errors="replace"))
        if any(sign in last for sign in SIGNS_OF_NO_MEMORY):
            return last
        return f"ended by signal {-code}" if code < 0 else f"ended with status {code}"

    def peak_kb(self):
        """The largest resident size so far."""
        try:
            lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
            return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), None)
        except OSError:
            return None

    def stop(self, reason):
        if any(sign in reason for sign in SIGNS_OF_NO_MEMORY):
            reason = f"out of memory (limit {MEMORY_LIMIT >> 30} GB)"
        self.stopped = reason
        self.close()
        raise Stopped(reason)

    def close(self):
        if self.process.stdin.closed:
            return
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        self.process.stdout.close()
        self.selector.close()


def parsed(line):
    """An answer, or None if this is not one."""
    try:
        answer = json.loads(line)
    except ValueError:
        return None
    return answer if isinstance(answer, dict) else None


def first_line(text):
    return next((line.strip() for line in text.splitlines() if line.strip()), "")[:160]


def last_line(text):
    return first_line("\n".join(reversed(text[-2000:].splitlines())))
