"""Circuits beside PySDD and KLay: compile time, size, number of models, and a batch of 1,000 with gradients.

    pip install . pysdd klaycircuits torch
    python bench/peers/circuits.py [--quick] [--only grid] [--threads 1] [--device cuda] [--seconds 15] [--minutes 5.5]

Random 3-CNF, shortest ways through grids, rankings, one of many, boards, and hierarchies of labels. Every count is compared with PySDD's; a difference ends the program. A cell that
took longer than `--seconds` says so, and what `--minutes` leaves no time for is not run. KLay evaluates the SDD; with `--device cuda` both evaluate on the GPU.
"""

from __future__ import annotations

import argparse
import itertools
import math
import multiprocessing
import os
import random
import tempfile
import time
import warnings
from typing import Any

import numpy as np
import torch

Clauses = list[tuple[int, ...]]
SECONDS = 15.0
THREADS = 2
DEVICE = "cpu"


def clock() -> float:
    """Of the wall; with one thread of the processor, which other work on the machine does not change much."""
    if DEVICE != "cpu" and torch.cuda.is_initialized():
        torch.cuda.synchronize()
    return time.perf_counter() if THREADS > 1 or DEVICE != "cpu" else time.process_time()


def cnf(variables: int, ratio: float, seed: int) -> Clauses:
    r = random.Random(seed)
    return [
        tuple(sorted(v * r.choice((-1, 1)) for v in r.sample(range(1, variables + 1), 3)))
        for _ in range(round(ratio * variables))
    ]


def tree(labels: int, seed: int) -> Clauses:
    r = random.Random(seed)
    return [(-child, r.randint(max(1, child // 6), max(1, child // 2))) for child in range(2, labels + 1)]


def graph(labels: int, seed: int) -> Clauses:
    """The same, but every third label has a second parent."""
    r = random.Random(seed)
    others = [(-child, r.randint(max(1, child // 6), max(1, child // 2))) for child in range(4, labels + 1, 3)]
    return tree(labels, seed) + sorted(set(others) - set(tree(labels, seed)))


def ranking(items: int) -> Clauses:
    """Item i has rank j: one rank for each item, one item for each rank."""
    at = lambda i, j: 1 + i * items + j
    rows = [[at(i, j) for j in range(items)] for i in range(items)]
    columns = [[at(i, j) for i in range(items)] for j in range(items)]
    pairs = [(-a, -b) for line in rows + columns for a, b in itertools.combinations(line, 2)]
    return [tuple(line) for line in rows + columns] + pairs


def one(items: int) -> Clauses:
    """Exactly one of some."""
    return [tuple(range(1, items + 1)), *((-a, -b) for a, b in itertools.combinations(range(1, items + 1), 2))]


def apart(size: int) -> Clauses:
    """No two neighbours of a board."""
    beside = [(i * size + j + 1, i * size + j + 2) for i in range(size) for j in range(size - 1)]
    below = [(i * size + j + 1, (i + 1) * size + j + 1) for i in range(size - 1) for j in range(size)]
    return [(-a, -b) for a, b in beside + below]


def grid(size: int) -> Clauses:
    """The shortest ways through a grid of crossings, from corner to corner: what comes into a crossing goes out again."""
    edges: dict[tuple[int, int, str], int] = {}
    for row, column in itertools.product(range(size), repeat=2):
        if column + 1 < size:
            edges[row, column, "right"] = len(edges) + 1
        if row + 1 < size:
            edges[row, column, "down"] = len(edges) + 1
    clauses: Clauses = []
    for row, column in itertools.product(range(size), repeat=2):
        came = [edges[at] for at in ((row, column - 1, "right"), (row - 1, column, "down")) if at in edges]
        goes = [edges[at] for at in ((row, column, "right"), (row, column, "down")) if at in edges]
        clauses += [(-a, -b) for line in (came, goes) for a, b in itertools.combinations(line, 2)]
        if not came or not goes:
            clauses.append(tuple(came + goes))
            continue
        clauses += [(-edge, *goes) for edge in came] + [(-edge, *came) for edge in goes]
    return clauses


def ours(variables: int, clauses: Clauses, batch: int) -> dict[str, Any]:
    import logltn.torch

    warnings.simplefilter("ignore")
    text = ["sort X", f"sort V = 1..{variables}", "predicate v(X, V)"]
    tables: dict[str, dict[str, list[int]]] = {}
    parts = []
    for clause in clauses:
        name = f"c{len(clause)}_" + "".join("p" if l > 0 else "n" for l in clause)
        table = tables.setdefault(name, {f"a{i}": [] for i in range(len(clause))})
        for i, literal in enumerate(clause):
            table[f"a{i}"].append(abs(literal))
    for name, table in tables.items():
        signs = name.split("_")[1]
        text.append(f"table {name}({', '.join(f'{a}: V' for a in table)})")
        body = " or ".join(f"{'' if s == 'p' else 'not '}v(x, {a})" for a, s in zip(table, signs))
        parts.append(f"(forall ({', '.join(table)}) in {name}. {body})")
    true = "(exists y: V. v(x, y) or not v(x, y))"  # two members at least: a forall alone would lead
    text.append(f"axiom f: forall x: X. {' and '.join([*parts, true])}")
    theory = "\n".join(text)
    begun = clock()
    kb = logltn.torch.KnowledgeBase(theory, sorts={"X": 1}, tables=tables, semantics="probability", dtype="float64")
    compiled = clock() - begun
    count = -float(kb.loss(v=torch.zeros(1, variables).double())) + variables * math.log(2)
    edges = kb.check()["axioms"][0].get("edges", math.nan)
    backend = "auto" if DEVICE == "cpu" else "cuda"
    kb = logltn.torch.KnowledgeBase(theory, sorts={"X": batch}, tables=tables, semantics="probability", backend=backend)
    x = torch.randn(batch, variables, device=DEVICE, requires_grad=True)

    def step() -> None:
        kb.loss(v=x).backward()

    return {"compile": compiled, "edges": edges, "count": count, "batch": best_of(step)}


def theirs(variables: int, clauses: Clauses, batch: int) -> dict[str, Any]:
    from pysdd.sdd import SddManager
    from klay import Circuit

    with tempfile.NamedTemporaryFile("w", suffix=".cnf", delete=False) as file:
        file.write(f"p cnf {variables} {len(clauses)}\n" + "".join(" ".join(map(str, c)) + " 0\n" for c in clauses))
    begun = clock()
    manager, root = SddManager.from_cnf_file(file.name.encode())
    compiled = clock() - begun
    os.unlink(file.name)
    count = root.wmc(log_mode=True).propagate()  # its count of models has 64 bits
    size = root.size()
    circuit = Circuit()
    circuit.add_sdd(root)
    module = circuit.to_torch_module(semiring="log", probabilistic=False, compile=False).to(DEVICE)
    x = torch.randn(batch, variables, device=DEVICE, requires_grad=True)

    def step() -> None:
        positive, negative = torch.nn.functional.logsigmoid(x), torch.nn.functional.logsigmoid(-x)
        module(positive, negative).sum().backward()

    return {"compile": compiled, "edges": size, "count": count, "batch": best_of(step)}


def best_of(step: Any, times: int = 5, seconds: float = 2.0) -> float:
    """Of a few, after one that does not count; fewer where they take long."""
    step()
    found: list[float] = []
    while len(found) < times and sum(found) < seconds:
        begun = clock()
        step()
        found.append(clock() - begun)
    return min(found)


def limited(run: Any, *arguments: Any) -> dict[str, Any] | None:
    """In a process of its own, which ends when its time is over."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(False)

    def work() -> None:
        torch.set_num_threads(THREADS)
        try:
            sender.send(run(*arguments))
        except Exception as error:  # noqa: BLE001  a row says what went wrong
            sender.send({"error": str(error).splitlines()[0]})

    process = context.Process(target=work)
    process.start()
    found = receiver.recv() if receiver.poll(SECONDS) else None
    if process.is_alive():
        process.kill()
    process.join()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", help="cases whose names have this in them")
    parser.add_argument("--threads", type=int, default=THREADS, help="1 measures the processor's time, for machines that are not quiet")
    parser.add_argument("--device", default=DEVICE, help="where batches are evaluated: cpu or cuda")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="how long a cell may take")
    parser.add_argument("--minutes", type=float, default=5.5, help="how long all may take")
    arguments = parser.parse_args()
    globals().update(THREADS=arguments.threads, DEVICE=arguments.device, SECONDS=arguments.seconds)
    end = time.monotonic() + 60 * arguments.minutes
    os.environ["RAYON_NUM_THREADS"] = str(arguments.threads)
    quick, only = arguments.quick, arguments.only
    cases = [(f"3-CNF, {n} variables, {ratio} a variable", n, cnf(n, ratio, n)) for n in (30, 40, 50, 60) for ratio in (1.5, 2.0, 3.0)]
    cases += [(f"grid of {n} × {n}", 2 * n * (n - 1), grid(n)) for n in (4, 5)]
    cases += [(f"ranking of {n}", n * n, ranking(n)) for n in (4, 5, 8)]
    cases += [(f"one of {n}", n, one(n)) for n in (40, 100)]
    cases += [(f"no neighbours on a board of {n} × {n}", n * n, apart(n)) for n in (6, 10)]
    cases += [(f"tree of {n} labels", n, tree(n, 1)) for n in (100, 500, 4000)]
    cases += [(f"graph of {n} labels", n, graph(n, 1)) for n in (100, 200)]
    if quick:
        cases = [case for case in cases if "30 " in case[0] or "of 4 " in case[0] + " " or "100" in case[0]]
    if only:
        cases = [case for case in cases if only in case[0]]
    print("| case | compile, s: ours | PySDD | edges: ours | SDD size | 1,000 with gradients, ms: ours | KLay |\n|---|---|---|---|---|---|---|")
    for name, variables, clauses in cases:
        batch = 1000 if variables < 1000 else 100
        if time.monotonic() + 2 * SECONDS > end:
            print(f"| {name} | not run: no time left |", flush=True)
            continue
        a, b = limited(ours, variables, clauses, batch), limited(theirs, variables, clauses, batch)
        if a and b and "count" in a and "count" in b and not math.isclose(a["count"], b["count"], rel_tol=1e-9):
            raise SystemExit(f"{name}: the log of the number of models is {a['count']}, PySDD finds {b['count']}")
        cell = lambda found, key, times=1.0: f"> {SECONDS:g} s" if found is None else found.get("error", "")[:40] if "error" in found else f"{found[key] * times:.4g}"
        print(f"| {name} | {cell(a, 'compile')} | {cell(b, 'compile')} | {cell(a, 'edges')} | {cell(b, 'edges')} | {cell(a, 'batch', 1e3)} | {cell(b, 'batch', 1e3)} |", flush=True)


if __name__ == "__main__":
    main()
