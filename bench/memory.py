#!/usr/bin/env python3
"""Random theories of many shapes: the memory that `logltn check` announces beside what `check` and `train` take at most.

    bench/memory.py [--logltn target/release/logltn] [--seed 0] [--times 1] [--size 1.0] [shape …]

A training may take half as much again; whatever takes more is marked, and the status is 1.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MANIFEST = 'theory = "t.ltn"\n[train]\nsteps = 3\n'


def learnable(predicate: str) -> str:
    return MANIFEST + f"[predicates.{predicate}]\nlearnable = true\n"


def csv(header: str, rows: int, cell) -> str:
    return header + "\n" + "\n".join(",".join(cell() for _ in header.split(",")) for _ in range(rows)) + "\n"


class Shapes:
    """A method makes a theory, its manifest and its files."""

    def __init__(self, rng: random.Random, size: float):
        self.rng, self.size = rng, size

    def n(self, low: int, high: int, power: int = 1) -> int:
        """A number of which the `power` grows as the size does."""
        return max(2, int(self.rng.randint(low, high) * self.size ** (1 / power)))

    def over(self, n: int, more: str, arity: int = 2):
        return f"sort S = 0..{n}\npredicate w({', '.join(['S'] * arity)})\n{more}\n", learnable("w"), {}

    def guard_less(self):
        return self.over(self.n(900, 1500, 2), "axiom a: forall x, y: S where x < y. w(x, y) -> not w(y, x)")

    def guard_remainder(self):
        return self.over(self.n(1500, 2500, 2), "axiom a: forall x, y: S where (x + y) % 3 = 0. w(x) -> w(y)", 1)

    def guard_sum(self):
        return self.over(self.n(100, 160, 2), "axiom a: forall x, y, z: S where x + y = z + 2. w(x) and w(y) -> w(z)", 1)

    def guard_of_exists(self):
        return self.over(self.n(300, 500, 2), "axiom a: forall x: S. exists y, z: S where x = y + z. w(y) and w(z) and w(x)", 1)

    def guard_near(self):
        return self.over(self.n(1200, 2000, 2), "axiom a: forall x, y: S where abs(x - y) < 200. w(x, y)")

    def family(self):
        return self.over(self.n(8000, 15000), "axiom a for x: S: w(x) or not w(0)", 1)

    def family_of_foralls(self):
        n = self.n(800, 1500)
        text = f"sort S = 0..{n}\nsort T = 0..50\npredicate w(S, T)\naxiom a for x: S: forall t: T. w(x, t) or not w(0, t)\n"
        return text, learnable("w"), {}

    def family_with_a_guard(self):
        return self.over(self.n(200, 300, 2), "axiom a for x, y: S where x < y and x % 3 = y % 3: w(x, y) or not w(y, x)")

    def many_axioms(self):
        pick = lambda: self.rng.randrange(1000)
        axioms = (f"axiom a{i}: w({pick()}) and not w({pick()}) -> w({pick()})" for i in range(self.n(15000, 22000)))
        return self.over(999, "\n".join(axioms), 1)

    def many_foralls(self):
        pick = lambda: self.rng.randrange(100)
        axioms = (f"axiom a{i}: forall x: S. w(x, {pick()}) -> w(x, {pick()})" for i in range(self.n(4000, 6000)))
        return self.over(99, "\n".join(axioms))

    def table(self, batch: str = ""):
        rows = csv("x,y,n", self.n(800_000, 1_100_000), lambda: str(self.rng.randrange(1000)))
        text = (
            "sort S = 0..999\ntable t(x: S, y: S, n: Int)\npredicate w(S, S)\n"
            "axiom a: forall (x, y, n) in t where n > 100. w(x, y)\n"
        )
        return text, learnable("w") + f'[tables]\nt = {{ rows = "t.csv"{batch} }}\n', {"t.csv": rows}

    def table_in_batches(self):
        return self.table(", batch = 100")

    def features(self):
        rows = csv("a,b,c", self.n(200_000, 300_000), lambda: f"{self.rng.random():.4f}")
        more = '[sorts.S]\nfeatures = "f.csv"\n[predicates.w]\nnetwork = { mlp = [8] }\noutput = "sigmoid"\n'
        return "sort S\npredicate w(S)\naxiom a: forall x: S. w(x)\n", MANIFEST + more, {"f.csv": rows}

    def closed_form_distance(self):
        text, _, files = self.over(self.n(700, 1100, 2), "axiom a: forall x, y: S where x != y. not w(x, y)")
        more = '[sorts.S]\nlearnable = 16\n[predicates.w]\nargs = ["u", "v"]\nclosed_form = { logit = "1 - dist(u, v)" }\n'
        return text, MANIFEST + more, files

    def closed_form_of_three(self):
        n = self.n(250, 350, 2)
        text = f"sort S = 0..{n}\nsort R = 0..3\npredicate l(S, R, S)\naxiom a: forall x, y: S, r: R. l(x, r, y)\n"
        more = "[sorts.S]\nlearnable = 32\n[sorts.R]\nlearnable = 32\n"
        more += '[predicates.l]\nargs = ["h", "r", "t"]\nclosed_form = { logit = "sum(h * r * t)" }\n'
        return text, MANIFEST + more, {}

    def closed_form_softmax(self):
        text, _, files = self.over(self.n(1500, 2500, 2), "axiom a: forall x, y: S where y = x + 1. w(x, y)")
        more = '[sorts.S]\nlearnable = 8\n[predicates.w]\nargs = ["x", "y"]\nclosed_form = { softmax = "sum(x * y)" }\n'
        return text, MANIFEST + more, files

    def definition(self):
        return self.over(
            self.n(400, 700, 2),
            "define both(x: S, y: S): w(x, y) and w(y, x)\naxiom a: forall x, y: S. both(x, y) or not both(y, x)",
        )

    def shared_part(self):
        return self.over(
            self.n(400, 700, 2), "axiom a: forall x, y: S. (w(x, y) and w(y, x)) or not (w(x, y) and w(y, x))"
        )

    def definition_with_a_depth(self):
        depth = self.rng.randint(2, 8)
        return self.over(
            self.n(60, 120, 2),
            f"define r(x: S, y: S) to depth {depth}: w(x, y) or (exists z: S. w(x, z) and r(z, y))\naxiom a: forall x, y: S. r(x, y)",
        )

    def definition_along_a_chain(self):
        n = self.n(20_000, 60_000)
        return self.over(n, f"define up(x: S): w(x) and (exists y: S where y = x - 1. up(y))\naxiom a: up({n})", 1)

    def definition_along_a_table(self):
        rows = csv("x,y", self.n(2000, 4000), lambda: str(self.rng.randrange(400)))
        text = (
            "sort S = 0..399\ntable t(x: S, y: S)\npredicate w(S, S)\n"
            "define r(x: S, y: S) to depth 4: w(x, y) or (exists z: S where t(x, z). w(x, z) and r(z, y))\n"
            "axiom a: forall x, y: S. r(x, y)\n"
        )
        return text, learnable("w") + '[tables]\nt = { rows = "t.csv" }\n', {"t.csv": rows}

    def long_any(self):
        return self.over(self.n(40_000, 60_000), "axiom a: any x: S. w(x)", 1)


def peak(program: str, arguments: list[str], folder: Path) -> tuple[int, int, str]:
    """The status, the most memory, and what was printed."""
    with open(folder / "out", "w") as out, open(folder / "err", "w") as err:
        child = subprocess.Popen([program, *arguments], cwd=folder, stdout=out, stderr=err)
        most = 0
        while child.poll() is None:
            try:
                lines = Path(f"/proc/{child.pid}/status").read_text().splitlines()
            except OSError:
                continue
            kib = (line.split()[1] for line in lines if line.startswith("VmHWM:"))
            most = max(most, 1024 * int(next(kib, 0)))
            time.sleep(0.002)
    return child.returncode, most, (folder / "out").read_text()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("shapes", nargs="*")
    parser.add_argument("--logltn", default="target/release/logltn")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--size", type=float, default=1.0)
    given = parser.parse_args()
    program, wrong = str(Path(given.logltn).resolve()), 0
    for seed in range(given.seed, given.seed + given.times):
        for name in given.shapes or [name for name in vars(Shapes) if name not in ("n", "over") and name[0] != "_"]:
            theory, manifest, files = getattr(Shapes(random.Random(f"{seed} {name}"), given.size), name)()
            with tempfile.TemporaryDirectory() as temporary:
                folder = Path(temporary)
                for file, text in {"t.ltn": theory, "m.toml": manifest, **files}.items():
                    (folder / file).write_text(text)
                status, check, said = peak(program, ["check", "m.toml", "--json"], folder)
                if status:
                    sys.exit(f"{name}, seed {seed}: {(folder / 'err').read_text()}")
                says = json.loads(said)["step"]["memory_bytes"]
                status, train, _ = peak(program, ["train", "m.toml", "--out", "run"], folder)
            much = status != 0 or max(check, train) > 1.5 * says
            wrong += much
            mark = "  TOO MUCH" if much else ""
            print(
                f"{name:26} seed {seed}: says {says / 1e6:7.1f} MB, check takes {check / says:4.2f} times that, "
                f"train {train / says:4.2f}{mark}",
                flush=True,
            )
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
