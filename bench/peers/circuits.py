"""Circuits beside PySDD and KLay: compile time, size, number of models, and a batch of 1,000 with gradients.

    pip install . pysdd klaycircuits torch
    python bench/peers/circuits.py [--quick]

Random 3-CNF, a tree of labels, and rankings. Every count is compared with PySDD's; a difference ends the program. A row that took
longer than 60 s says so. KLay evaluates the SDD.
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
SECONDS = 60


def cnf(variables: int, ratio: float, seed: int) -> Clauses:
    r = random.Random(seed)
    return [
        tuple(sorted(v * r.choice((-1, 1)) for v in r.sample(range(1, variables + 1), 3)))
        for _ in range(round(ratio * variables))
    ]


def tree(labels: int, seed: int) -> Clauses:
    r = random.Random(seed)
    return [(-child, r.randint(max(1, child // 6), max(1, child // 2))) for child in range(2, labels + 1)]


def ranking(items: int) -> Clauses:
    """Item i has rank j: one rank for each item, one item for each rank."""
    at = lambda i, j: 1 + i * items + j
    rows = [[at(i, j) for j in range(items)] for i in range(items)]
    columns = [[at(i, j) for i in range(items)] for j in range(items)]
    pairs = [(-a, -b) for line in rows + columns for a, b in itertools.combinations(line, 2)]
    return [tuple(line) for line in rows + columns] + pairs


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
    begun = time.perf_counter()
    kb = logltn.torch.KnowledgeBase(theory, sorts={"X": 1}, tables=tables, semantics="probability", dtype="float64")
    compiled = time.perf_counter() - begun
    count = math.exp(-float(kb.loss(v=torch.zeros(1, variables).double())) + variables * math.log(2))
    edges = kb.check()["axioms"][0].get("edges", math.nan)
    kb = logltn.torch.KnowledgeBase(theory, sorts={"X": batch}, tables=tables, semantics="probability")
    x = torch.randn(batch, variables, requires_grad=True)

    def step() -> None:
        kb.loss(v=x).backward()

    return {"compile": compiled, "edges": edges, "count": count, "batch": best_of(step)}


def theirs(variables: int, clauses: Clauses, batch: int) -> dict[str, Any]:
    from pysdd.sdd import SddManager
    from klay import Circuit

    with tempfile.NamedTemporaryFile("w", suffix=".cnf", delete=False) as file:
        file.write(f"p cnf {variables} {len(clauses)}\n" + "".join(" ".join(map(str, c)) + " 0\n" for c in clauses))
    begun = time.perf_counter()
    manager, root = SddManager.from_cnf_file(file.name.encode())
    compiled = time.perf_counter() - begun
    os.unlink(file.name)
    count = root.global_model_count()
    size = root.size()
    circuit = Circuit()
    circuit.add_sdd(root)
    module = circuit.to_torch_module(semiring="log", probabilistic=False, compile=False)
    x = torch.randn(batch, variables, requires_grad=True)

    def step() -> None:
        positive, negative = torch.nn.functional.logsigmoid(x), torch.nn.functional.logsigmoid(-x)
        module(positive, negative).sum().backward()

    return {"compile": compiled, "edges": size, "count": count, "batch": best_of(step)}


def best_of(step: Any, times: int = 5) -> float:
    step()
    found = []
    for _ in range(times):
        begun = time.perf_counter()
        step()
        found.append(time.perf_counter() - begun)
    return min(found)


def limited(run: Any, *arguments: Any) -> dict[str, Any] | None:
    """In a process of its own, which ends after a minute."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(False)

    def work() -> None:
        torch.set_num_threads(2)
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
    quick = parser.parse_args().quick
    cases = [(f"3-CNF, {n} variables, {ratio} a variable", n, cnf(n, ratio, n)) for n in (30, 40, 50, 60) for ratio in (1.5, 2.0, 3.0)]
    cases += [(f"ranking of {n}", n * n, ranking(n)) for n in (4, 5)]
    cases += [(f"tree of {n} labels", n, tree(n, 1)) for n in (100, 500, 4000)]
    if quick:
        cases = [case for case in cases if "30" in case[0] or "of 4" in case[0] or "100" in case[0]]
    print("| case | compile, s: ours | PySDD | edges: ours | SDD size | 1,000 with gradients, ms: ours | KLay |\n|---|---|---|---|---|---|---|")
    for name, variables, clauses in cases:
        batch = 1000 if variables < 1000 else 100
        a, b = limited(ours, variables, clauses, batch), limited(theirs, variables, clauses, batch)
        if a and b and "count" in a and "count" in b and not math.isclose(a["count"], b["count"], rel_tol=1e-6):
            raise SystemExit(f"{name}: {a['count']} models, PySDD finds {b['count']}")
        cell = lambda found, key, times=1.0: f"> {SECONDS} s" if found is None else found.get("error", "")[:40] if "error" in found else f"{found[key] * times:.4g}"
        print(f"| {name} | {cell(a, 'compile')} | {cell(b, 'compile')} | {cell(a, 'edges')} | {cell(b, 'edges')} | {cell(a, 'batch', 1e3)} | {cell(b, 'batch', 1e3)} |", flush=True)


if __name__ == "__main__":
    main()
