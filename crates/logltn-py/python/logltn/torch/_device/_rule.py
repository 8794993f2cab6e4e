"""Where a call with values on a device is quicker: there, or in the CPU engine, with values copied there and gradients back.

The times are microseconds of loss and gradient, on one H200 and 8 threads of the machine it is in; ``bench/gpu/crossover`` measures
them again, and docs/performance.md has the table. On other machines they are others, but the cases lie far apart: what kernels compute is
always quicker on the device, and what is left to torch operations costs their launches there, however few the numbers are.
"""

from __future__ import annotations

from dataclasses import dataclass

# A call that kernels compute, and one for rows that did not come before.
DEVICE_CALL = 600.0
DEVICE_CHOICE = 3000.0
# For each formula that is left to torch operations, and for each binding of its.
DEVICE_NODE = 980.0
DEVICE_BINDING = 0.0002
# Values to the CPU engine and gradients back, each number of them, and each binding there.
CPU_CALL = 640.0
CPU_NUMBER = 0.002
CPU_BINDING = 0.024
# Copying waits for what the device is doing, which without it would go on: the CPU must be as many times as quick.
MARGIN = 2.0


@dataclass
class History:
    """What is known of a plan after calls of it have been on the device."""

    # How many have; of the first one everything is there that a CUDA graph needs.
    calls: int = 0
    # How many formulas are left to torch operations.
    nodes: int = 0
    # About how many bindings there are in all.
    bindings: float = 0.0


def cpu_is_quicker(history: History, bindings: float, numbers: int, new: bool) -> bool:
    """Whether a call with so many bindings and numbers, and perhaps rows that are new, is better left to the CPU engine."""
    device = DEVICE_CALL + DEVICE_CHOICE * new + DEVICE_NODE * history.nodes + DEVICE_BINDING * bindings
    cpu = CPU_CALL + CPU_NUMBER * numbers + CPU_BINDING * bindings
    return MARGIN * cpu < device
