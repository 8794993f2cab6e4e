"""Reasoning shortcuts counted twice: by `logltn identify`, and as rsbench's `rsscount` does, as models of a propositional theory.

A map of classes is a choice of one value for each class; the rule of each row that occurs, read with the mapped classes, must give
the row's label. rsbench hands that to a model counter (pyeda's formulas); here clingo lists the models of the same theory.
"""

import itertools
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import clingo

RSBENCH = {  # classes, the rule over the concepts of a row, the rows that occur
    "MNAdd-Half": (5, "a + b", ["00", "01", "23", "24"]),
    "MNAdd-EvenOdd": (10, "a + b", ["06", "28", "46", "48", "15", "37", "19", "39"]),
    "MNMath (generator's example)": (3, "(2*a + b) * 10 + c + d", ["0120", "2101", "0002"]),
    "MNLogic (generator's example)": (2, "max(a * b, 1 - c)", ["001", "010", "000"]),
    "MNLogic (xor of 4)": (2, "(a + b + c + d) % 2", ["".join(bits) for bits in itertools.product("01", repeat=4)]),
}


def label(rule: str, row) -> int:
    return eval(rule, {"max": max}, dict(zip("abcd", row)))  # noqa: S307 (rules are written above)


def by_models(classes: int, rule: str, rows: list[tuple[int, ...]]) -> tuple[int, int]:
    """How many maps there are, and how many bijections."""
    program = f"1 {{ becomes(K, V) : V = 0..{classes - 1} }} 1 :- K = 0..{classes - 1}.\n#show becomes/2.\n"
    for row in rows:
        used = sorted(set(row))
        wanted = label(rule, row)
        for values in itertools.product(range(classes), repeat=len(used)):
            mapped = dict(zip(used, values))
            if label(rule, [mapped[k] for k in row]) != wanted:
                program += ":- " + ", ".join(f"becomes({k},{v})" for k, v in mapped.items()) + ".\n"
    control = clingo.Control(["0"])
    control.add("base", [], program)
    control.ground([("base", [])])
    maps = bijections = 0
    with control.solve(yield_=True) as models:
        for model in models:
            maps += 1
            bijections += len({str(atom.arguments[1]) for atom in model.symbols(shown=True)}) == classes
    return maps, bijections


def by_identify(program: str, classes: int, rule: str, rows: list[tuple[int, ...]]) -> tuple[int, int]:
    letters = "abcd"[: len(rows[0])]
    images = [f"x{letter}" for letter in letters]
    guard = f"{rule} = n"
    columns = ", ".join(f"{x}: Image" for x in images)
    atoms = " and ".join(f"digit({x}, {letter})" for x, letter in zip(images, letters))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        (path / "t.ltn").write_text(
            f"sort Image\nsort Digit = 0..{classes - 1}\ntable rows({columns}, n: Int)\npredicate digit(Image, Digit)\n"
            f"axiom rule: forall ({', '.join(images)}, n) in rows. exists {', '.join(letters)}: Digit where {guard}. {atoms}\n"
        )
        (path / "images.csv").write_text("pixel\n" + "0\n" * classes)
        (path / "labels.csv").write_text("digit\n" + "".join(f"{k}\n" for k in range(classes)))
        lines = [",".join(map(str, [*row, label(rule, row)])) for row in rows]
        (path / "rows.csv").write_text(",".join([*images, "n"]) + "\n" + "\n".join(lines) + "\n")
        (path / "m.toml").write_text(
            'theory = "t.ltn"\n[sorts.Image]\nfeatures = "images.csv"\nlabels = { file = "labels.csv" }\n'
            '[tables]\nrows = { rows = "rows.csv" }\n[predicates.digit]\nnetwork = { mlp = [4] }\noutput = "softmax"\n'
        )
        done = subprocess.run([program, "identify", path / "m.toml", "--json"], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    return int(found["maps"]), int(found["bijective"])


def main() -> None:
    program, count = sys.argv[1], int(sys.argv[2])
    tasks = {name: (classes, rule, [tuple(map(int, row)) for row in rows]) for name, (classes, rule, rows) in RSBENCH.items()}
    rng = random.Random(0)
    for number in range(count):
        classes = rng.randint(2, 6)
        rule = rng.choice(["a + b", "a * b", "max(a, b)", "2*a + b", "(a + b) % 3", "a - b"])
        rows = [(rng.randrange(classes), rng.randrange(classes)) for _ in range(rng.randint(classes, 3 * classes))]
        tasks[f"random {number}: {rule}, {classes} classes"] = (classes, rule, rows)
    wrong = 0
    print(f"{'task':40} {'maps':>8} {'bijections':>10} {'models':>9} {'identify':>9}")
    for name, task in tasks.items():
        begun = time.perf_counter()
        models = by_models(*task)
        middle = time.perf_counter()
        own = by_identify(program, *task)
        end = time.perf_counter()
        wrong += own != models
        mark = "" if own == models else f"  DIFFERS: identify says {own}"
        print(f"{name:40} {models[0]:8} {models[1]:10} {middle - begun:7.2f} s {end - middle:7.2f} s{mark}")
    sys.exit(f"{wrong} counts differ" if wrong else 0)


if __name__ == "__main__":
    main()
