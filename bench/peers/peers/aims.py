"""What was aimed at before anything was measured, and what came out: the first table of the page."""

from dataclasses import dataclass


@dataclass
class Aim:
    text: str
    task: str
    group: str
    # All of these, where there are several: the worst counts.
    peers: tuple
    ours: str
    factor: float
    key: str = "median"


CLUSTERING, ADDITION, PARTS = ("clustering", "step"), ("mnist_add", "step"), ("pascal_part", "step")
STABLE, LOG = "logltn:stable", "logltn:logltn"
BY_HAND = ("pytorch:eager", "pytorch:compiled")
# Which of these is the fastest is not known beforehand: all of them count.
PARTS_BY_HAND = BY_HAND + ("pytorch:stop-eager", "pytorch:stop-compiled")
ALONE = ("pytorch:network", "pytorch:network-pool-first")

AIMS = [
    Aim("clustering: 200 times as fast as LTNtorch", *CLUSTERING, ("ltntorch",), STABLE, 200),
    Aim("clustering: 200 times as fast as `ltn`", *CLUSTERING, ("ltn:",), STABLE, 200),
    Aim("the same, `ltn` without `tf.function`", *CLUSTERING, ("ltn:eager",), STABLE, 200),
    Aim("clustering: 5 times as fast as the best PyTorch by hand", *CLUSTERING, BY_HAND, LOG, 5),
    Aim("clustering: a tenth of LTNtorch's memory", *CLUSTERING, ("ltntorch",), STABLE, 10, "peak_kb"),
    Aim("MNISTAdd: 40 times as fast as `ltn`", *ADDITION, ("ltn:",), STABLE, 40),
    Aim("the same, `ltn` without `tf.function`", *ADDITION, ("ltn:eager",), STABLE, 40),
    Aim("MNISTAdd: 8 times as fast as LTNtorch", *ADDITION, ("ltntorch",), STABLE, 8),
    Aim("MNISTAdd: faster than PyTorch's network alone, also with pooling before ELU", *ADDITION, ALONE, LOG, 1),
    Aim("PASCAL-Part: 20 times as fast as LTNtorch", *PARTS, ("ltntorch",), STABLE, 20),
    Aim("PASCAL-Part: twice as fast as PyTorch by hand", *PARTS, PARTS_BY_HAND, LOG, 2),
]


def ratios(aim, tasks):
    """By peer, how many times ours theirs is; empty if something of it was not measured, or not the same loss."""
    groups = next((task["groups"] for task in tasks if task["task"] == aim.task), {})
    found = {r["peer"]: r for r in groups.get(aim.group, {"results": []})["results"] if "mismatch" not in r}
    wanted = [found.get(name, {}).get(aim.key) for name in (aim.ours, *aim.peers)]
    if not all(wanted):
        return {}
    return {peer: value / wanted[0] for peer, value in zip(aim.peers, wanted[1:])}


def table(tasks, figures):
    lines = ["| aim | measured | |", "|---|---|---|"]
    for aim in AIMS:
        found = ratios(aim, tasks).values()
        measured = " and ".join(f"{figures(ratio)}×" for ratio in found) or "–"
        reached = ("reached" if min(found) >= aim.factor else "missed") if found else "not measured"
        lines.append(f"| {aim.text} | {measured} | {reached} |")
    return lines
