"""The smallest case of every task with the real programs: all of them start, take steps and compute our loss.

Run by `bench/peers/test` where the environments are; prints what each took."""

import tempfile
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "peers"))

import cases
from measure import Repetitions, measure, say

IN_TORCH = ["in_torch:stable", "in_torch:logltn"]
OURS = ["logltn:stable", "logltn:logltn"]


def main():
    wrong = []
    with tempfile.TemporaryDirectory() as work:
        for folder, peers in (
            (cases.growing_points(work, 100), OURS + IN_TORCH + ["ltntorch", "ltn:", "ltn:eager", "pytorch:eager", "pytorch:compiled"]),
            (cases.mnist_add(work, 32), OURS + IN_TORCH + ["ltntorch", "ltn:", "ltn:eager", "pytorch:eager", "pytorch:network"]),
            (cases.pascal_part(work, 60), OURS + IN_TORCH + ["ltntorch", "pytorch:eager", "pytorch:stop-eager"]),
            (cases.multi_add(work, 1), ["logltn:logltn-lse", "in_torch:logltn-lse", "pytorch:eager", "klay:", "deepproblog:"]),
        ):
            say(f"{folder.name}:")
            for r in measure(folder, peers, Repetitions(1, 0.01)):
                reason = r.get("failed") or r.get("mismatch")
                if reason:
                    wrong.append(f"{folder.name}, {r['peer']}: {reason}")
    for line in wrong:
        say(f"WRONG: {line}")
    sys.exit(1 if wrong else 0)


main()
