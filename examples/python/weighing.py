"""A training loop that weighs axioms itself: `kb.axioms` gives the truth of each as a tensor with gradients.

    python examples/python/weighing.py

Two people have labelled points. One was careful, the other guessed every second time, and the loop is not told who. Both count
the same if the loss is `kb.loss`. The loop below learns how far to trust each source along with the network, by the
uncertainty of each (Kendall, Gal and Cipolla, 2018), and brings in the rule that neighbours are alike slowly.
"""

import os

import torch
from torch import nn

import logltn.torch

THEORY = """
    sort Point
    sort Class = 0..2
    table anns(x: Point, k: Class)       # labels by Ann
    table bobs(x: Point, k: Class)       # labels by Bob
    param near
    predicate of(Point, Class)
    axiom ann:   forall (x, k) in anns. of(x, k)
    axiom bob:   forall (x, k) in bobs. of(x, k)
    axiom alike: forall k: Class, x, y: Point where dist(x, y) < near. of(x, k) <-> of(y, k)
"""
STEPS = int(os.environ.get("LOGLTN_STEPS", 300))


def made_up() -> tuple[torch.Tensor, torch.Tensor, dict[str, dict[str, torch.Tensor]]]:
    """Three spirals; 30 labels by Ann, which are right, and 120 by Bob, every second of which is random."""
    turn, arm = torch.rand(600), torch.arange(600) % 3
    angle = 4 * turn + 2.094 * arm
    points = (0.2 + turn)[:, None] * torch.stack([angle.cos(), angle.sin()], 1) + 0.02 * torch.randn(600, 2)
    drawn = torch.where(torch.rand(120) < 0.5, torch.randint(3, (120,)), arm[30:150])
    return points, arm, {"anns": {"x": torch.arange(30), "k": arm[:30]}, "bobs": {"x": torch.arange(30, 150), "k": drawn}}


def main() -> float:
    torch.manual_seed(0)
    torch.set_num_threads(1)  # small networks gain nothing from more
    points, arm, tables = made_up()
    kb = logltn.torch.KnowledgeBase(
        THEORY, sorts={"Point": points}, tables=tables, params={"near": 0.1}, outputs={"of": "softmax"}
    )
    accuracies = {}
    for way in ("kb.loss", "weighed"):
        torch.manual_seed(1)
        net = nn.Sequential(nn.Linear(2, 32), nn.ELU(), nn.Linear(32, 32), nn.ELU(), nn.Linear(32, 3))
        doubt = nn.ParameterDict({name: nn.Parameter(torch.zeros(())) for name in ("ann", "bob")})
        optimizer = torch.optim.Adam([*net.parameters(), *doubt.parameters()], 0.01)
        for step in range(STEPS):
            logits = net(points)
            if way == "kb.loss":
                loss = kb.loss(of=logits, alpha=2.0)
            else:
                truth = kb.axioms(of=logits, alpha=2.0)
                # In log space truths are logarithms: 0 is true, and the distance from 0 is the error.
                loss = -min(1.0, step / 100) * truth["alike"]
                for source in ("ann", "bob"):
                    loss = loss - torch.exp(-doubt[source]) * truth[source] + doubt[source]
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            accuracies[way] = (net(points).argmax(1) == arm)[150:].float().mean().item()
        print(f"{way:8}: {100 * accuracies[way]:5.1f} % of the 450 points without labels are told right; truths "
              + ", ".join(f"{name} {value:.2f}" for name, value in kb.truths.items()))  # fmt: skip
    print("learnt weights: " + ", ".join(f"{source} {(-value).exp().item():.2f}" for source, value in doubt.items()))
    return accuracies["weighed"]


if __name__ == "__main__":
    main()
