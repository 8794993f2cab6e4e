"""Starts the peers of a case, sees to it that they compute the same loss, and times them in turns."""

import os
import statistics
import sys
import time
from dataclasses import dataclass

from process import Peer, Stopped

TOLERANCE = 1e-4  # of the loss with the same weights
LATER_TOLERANCE = 1e-2  # of the loss after ten steps: Adam's epsilon differs among frameworks, and rounding grows
LIMIT = float(os.environ.get("LOGLTN_PEERS_SECONDS", "60"))  # that a step may take
PLAN_LIMIT = 180.0  # seconds that we may take to get ready
FIRST_LIMIT = 180.0  # seconds to get ready, or of the first step where it compiles
WARM_EPOCH = 10.0  # seconds that an epoch may take to be run once before the first turn
SLOW, SLOWEST = 5.0, 20.0  # seconds of a step from which on a program gets two turns, or one


@dataclass
class Repetitions:
    """How many turns, and for how many seconds each."""

    turns: int
    chunk: float


def say(*text):
    print(*text, file=sys.stderr, flush=True)


def reference_of(name, semantics):
    """Which of our semantics a peer computes."""
    family = name.partition(":")[0]
    if name in semantics or name.startswith("pytorch:network"):
        return None  # ourselves, or no logic and so no loss to compare
    if family in ("ltntorch", "ltn") or name == "in_torch:stable":
        return "logltn:stable"
    return next(s for s in semantics if s != "logltn:stable")


class Row:
    """One peer on one case."""

    def __init__(self, name, folder):
        self.name = name
        self.result = {"peer": name}
        self.peer = Peer(name, folder)

    def attempt(self, action):
        if "failed" in self.result:
            return None
        try:
            return action()
        except Stopped as stopped:
            self.result["failed"] = str(stopped)
            say(f"  {self.name}: {stopped}")
            return None


def measure(folder, names, repetitions, epoch_steps=None):
    """`names` begins with ours. Gives a list of results; with `epoch_steps`, of so many steps together."""
    rows, semantics = [], [n for n in names if n.startswith("logltn:")]
    try:
        for name in semantics:  # alone on the machine: planning is measured
            row = Row(name, folder)
            rows.append(row)
            ready = row.attempt(lambda: row.peer.answer(PLAN_LIMIT))
            row.result.update(ready or {})
            row.attempt(lambda: row.peer.ask(f"weights {folder / 'weights.safetensors'}"))
            if "failed" in row.result:
                return [row.result for row in rows]  # no weights, so nothing to compare with
        for name in names:
            if name not in semantics:
                rows.append(Row(name, folder))
        for row in rows[len(semantics) :]:
            ready = row.attempt(lambda: row.peer.answer(FIRST_LIMIT))
            row.result.update(ready or {})
        compare(rows, semantics, checked=epoch_steps is None)
        counts = {}
        for row in rows:
            counts[row.name] = row.attempt(lambda: plan_chunk(row, repetitions.chunk, epoch_steps))
        for turn in range(repetitions.turns):
            for row in rows:
                if counts[row.name] and turn < turns_of(row, repetitions.turns):
                    row.attempt(lambda: take_turn(row, counts[row.name], epoch_steps))
        for row in rows:
            finish(row)
    finally:
        for row in rows:
            if row.peer.stopped is None:
                row.peer.close()
    for row in rows:
        text = row.result.get("failed") or row.result.get("mismatch")
        time_text = f"{row.result['median'] * 1e3:10.3f} ms" if "median" in row.result else text
        say(f"  {row.name:28} {time_text}   {(row.result.get('peak_kb') or 0) / 1024:8.0f} MB")
    return [row.result for row in rows]


def turns_of(row, most):
    one = row.result.get("first_seconds", 0)
    return min(most, 1 if one > SLOWEST else 2 if one > SLOW else most)


def compare(rows, semantics, checked):
    """The first ten steps of each. The batch is the whole table, so they are the same steps."""
    for row in rows:
        limit = FIRST_LIMIT if row.name.endswith("compiled") else LIMIT
        first = row.attempt(lambda: row.peer.ask("step 1", limit))
        if first:
            row.result["loss"] = first["losses"][0]
            row.result["first_step_seconds"] = first["seconds"][0]
            second = row.attempt(lambda: row.peer.ask("step 1", LIMIT))
            row.result["first_seconds"] = second["seconds"][0] if second else LIMIT
            if row.result["first_seconds"] < 2:
                later = row.attempt(lambda: row.peer.ask("step 8", 2 * LIMIT))
                row.result["later_loss"] = later and later["losses"][1]
    if not checked:
        return
    by_name = {row.name: row.result for row in rows}
    for row in rows:
        reference = reference_of(row.name, semantics)
        if reference is None or reference not in by_name or "failed" in row.result:
            continue
        for key, tolerance in (("loss", TOLERANCE), ("later_loss", LATER_TOLERANCE)):
            ours, theirs = by_name[reference].get(key), row.result.get(key)
            if ours is None or theirs is None:
                continue
            # Ten steps may bring a loss close to 0; what they did is measured by where it began.
            size = abs(by_name[reference]["loss"])
            if not abs(ours - theirs) <= tolerance * size:
                row.result["mismatch"] = f"{key}: {theirs:.7g}, but {reference} has {ours:.7g}"
                say(f"  DIFFERENT LOSS: {row.name}: {row.result['mismatch']}")


def plan_chunk(row, chunk_seconds, epoch_steps):
    """How many steps make a turn."""
    if row.result["first_seconds"] > 2:
        one = row.result["first_seconds"]
    else:
        # Warm, and a better guess than a single step.
        one = statistics.median(row.peer.ask("step 5", 2 * LIMIT)["seconds"])
    if epoch_steps is None:
        return max(1, min(1000, int(chunk_seconds / one)))
    if one * epoch_steps < WARM_EPOCH:
        # The last batch is smaller than the others, for which some compile anew: not in a turn.
        row.peer.ask(f"block {epoch_steps}", FIRST_LIMIT)
    return max(1, min(epoch_steps, int(6 * chunk_seconds / one)))


def take_turn(row, count, epoch_steps):
    time.sleep(0.02)  # let the last one's threads fall asleep
    command = "step" if epoch_steps is None else "block"
    # A slow step need not be taken a third time to know how long it takes.
    taken = epoch_steps is None and row.result["first_seconds"] > SLOWEST
    seconds = [row.result["first_seconds"]] if taken else row.peer.ask(f"{command} {count}", 1.5 * LIMIT)["seconds"]
    value = statistics.median(seconds)
    if epoch_steps is not None and count < epoch_steps:
        value *= epoch_steps / count
        row.result["extrapolated_from_steps"] = count
    row.result.setdefault("turns", []).append(value)
    row.result["steps_in_a_turn"] = count


def finish(row):
    turns = row.result.get("turns")
    if turns:
        row.result.update(median=statistics.median(turns), least=min(turns), most=max(turns))
        if row.peer.stopped is None:
            row.result["peak_kb"] = row.peer.peak_kb()
