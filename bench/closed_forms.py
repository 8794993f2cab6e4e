"""The scorers of `cargo run --release -p logltn-learn --example closed_forms guarded` in PyTorch, on as many random rows:
`THREADS=1 python bench/closed_forms.py`. Fastest of 15."""

import os
import time

import torch

torch.set_num_threads(int(os.environ.get("THREADS", "1")))
ENTITIES, RELATIONS, WIDTH, ROWS = 1000, 5, 32, 234919

entities = torch.randn(ENTITIES, WIDTH, requires_grad=True)
relations = torch.randn(RELATIONS, WIDTH, requires_grad=True)
margin = torch.ones(1, requires_grad=True)
h, t = torch.randint(ENTITIES, (2, ROWS))
r = torch.randint(RELATIONS, (ROWS,)).sort().values
by = torch.randn(ROWS)


def transe():
    return margin - (entities[h] + relations[r] - entities[t]).norm(dim=1)


def distmult():
    return (entities[h] * relations[r] * entities[t]).sum(1) - margin


for scorer in (transe, distmult):
    fastest = [float("inf")] * 2
    for _ in range(15):
        for parameter in (entities, relations, margin):
            parameter.grad = None
        start = time.perf_counter()
        score = scorer()
        middle = time.perf_counter()
        score.backward(by)
        times = middle - start, time.perf_counter() - middle
        fastest = [min(pair) for pair in zip(fastest, times)]
    print(f"{scorer.__name__}: forward {fastest[0] * 1e3:.2f} ms, backward {fastest[1] * 1e3:.2f} ms")
