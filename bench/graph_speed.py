"""Steps and ranking over embeddings of 100,000 × 200 numbers, ours beside a loop of PyTorch written by hand, in the same run:
`THREADS=1 python bench/graph_speed.py`. A step is a batch of 512 facts with 64 negatives, DistMult; fastest of 15."""

import os
import subprocess
import time

import torch
import torch.nn.functional as F

THREADS = os.environ.get("THREADS", "1")
torch.set_num_threads(int(THREADS))
ENTITIES, RELATIONS, WIDTH, BATCH, NEGATIVES, RANKED = 100_000, 10, 200, 512, 64, 200


def steps(sparse: bool) -> float:
    entities = torch.nn.Embedding(ENTITIES, WIDTH, sparse=sparse)
    relations = torch.nn.Embedding(RELATIONS, WIDTH, sparse=sparse)
    kind = torch.optim.SparseAdam if sparse else torch.optim.Adam
    optimizer = kind([*entities.parameters(), *relations.parameters()], 0.001)
    fastest = float("inf")
    for _ in range(16):
        h, t = torch.randint(ENTITIES, (2, BATCH))
        r = torch.randint(RELATIONS, (BATCH,))
        negatives = torch.randint(ENTITIES, (NEGATIVES,))
        start = time.perf_counter()
        asked = entities(h) * relations(r)
        right = (asked * entities(t)).sum(1)
        wrong = asked @ entities(negatives).T
        loss = (F.softplus(-right).mean() + F.softplus(wrong).mean()) / 2
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        fastest = min(fastest, time.perf_counter() - start)
    return BATCH / fastest


@torch.no_grad()
def ranking() -> float:
    entities, relations = torch.randn(ENTITIES, WIDTH), torch.randn(RELATIONS, WIDTH)
    h, t = torch.randint(ENTITIES, (2, RANKED))
    r = torch.randint(RELATIONS, (RANKED,))
    start = time.perf_counter()
    scores = (entities[h] * relations[r]) @ entities.T
    right = scores.gather(1, t[:, None])
    1 + (scores > right).sum(1) + ((scores == right).sum(1) - 1) / 2
    return RANKED / (time.perf_counter() - start)


def main() -> None:
    command = ["cargo", "run", "--release", "-q", "-p", "logltn-learn", "--example", "graph_speed"]
    ours = subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, "RAYON_NUM_THREADS": THREADS})
    figures = {}
    for line in ours.stdout.splitlines():
        name, figure = line.rsplit(": ", 1)
        figures[name] = float(figure.split()[0])
    theirs = {"step, sparse_adam": steps(True), "step, adam": steps(False), "ranking": ranking()}
    print(f"triples per second, {THREADS} thread(s)")
    for name, figure in theirs.items():
        print(f"{name:20} ours {figures[name]:10,.0f}   PyTorch {figure:10,.0f}   ratio {figures[name] / figure:.2f}")


if __name__ == "__main__":
    main()
