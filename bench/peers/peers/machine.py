"""This machine: what it is, and how much of it other programs use while we measure."""

import os
import platform
import resource
import time
from pathlib import Path

# From this many cores in other programs' use on, the page says that the machine was busy.
BUSY = 0.1


def description():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    model = next((l.split(":")[1].strip() for l in lines if l.startswith("model name")), platform.machine())
    return f"{os.cpu_count()} cores of {model}"


def available_gb():
    """Memory that programs could still have, or None where nobody says."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) / (1 << 20) for line in lines if line.startswith("MemAvailable:")), None)


def busy_seconds(stat):
    """Processor time of all programs, and what a host took away, by the first line of /proc/stat."""
    user, nice, system, _idle, _wait, irq, soft, steal = map(int, stat.split()[1:9])
    return (user + nice + system + irq + soft + steal) / os.sysconf("SC_CLK_TCK")


def own_seconds():
    """Ours and that of all our programs that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


class Others:
    """From its making on: the cores that other programs used, on average. Ask when all our programs have ended.

    The load average cannot tell: for a minute after a task it still counts that task's own programs."""

    def __init__(self):
        self.begun, self.own, self.busy = time.monotonic(), own_seconds(), self.read()

    @staticmethod
    def read():
        try:
            with open("/proc/stat") as file:
                return busy_seconds(file.readline())
        except (OSError, ValueError):
            return None

    def cores(self):
        now, passed = self.read(), time.monotonic() - self.begun
        if now is None or self.busy is None or passed <= 0:
            return None
        used = (now - self.busy) - (own_seconds() - self.own)
        return round(max(0.0, used / passed), 2)
