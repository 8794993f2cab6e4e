"""Several classes, exactly one of which is right, as in LTNtorch and in logltn: flowers of three species, which overlap a little.

    python examples/python/from_ltntorch/multi_class.py
"""

import ltn
import torch
from side_by_side import Forall, OfClass, SatAgg, mlp, side_by_side
from torch import nn

import logltn.torch

torch.manual_seed(0)
species = torch.arange(150) % 3
flowers = torch.tensor([[-1.0, 0.8, -1.3, -1.3], [0.1, -0.7, 0.3, 0.2], [0.9, -0.1, 1.0, 1.1]])[species] + 0.5 * torch.randn(150, 4)
train, test = torch.arange(120), torch.arange(120, 150)


def theirs(modules):
    P = ltn.Predicate(OfClass(modules["P"], lambda logits: logits.softmax(1)))
    classes = [ltn.Constant(torch.tensor([float(k)])) for k in range(3)]

    def loss():
        xs = [ltn.Variable(f"x{k}", flowers[train][species[train] == k]) for k in range(3)]
        return 1 - SatAgg(*(Forall(x, P(x, k)) for x, k in zip(xs, classes)))

    return loss


def ours(modules):
    return logltn.torch.KnowledgeBase(
        """
        sort Flower
        sort Species = 0..2
        table labelled(x: Flower, s: Species)
        predicate P(Flower, Species)
        axiom labels for s: Species: forall (x, t) in labelled where t = s. P(x, s)
        """,
        sorts={"Flower": flowers},
        tables={"labelled": {"x": train, "s": species[train]}},
        predicates={"P": logltn.torch.softmax(modules["P"])},
        semantics="stable",
        threads=1,
    )


@torch.no_grad()
def figures(modules):
    right = modules["P"](flowers).argmax(1) == species
    return {"accuracy on 30 other flowers": right[test].float().mean().item()}


def main():
    return side_by_side(nn.ModuleDict({"P": mlp(4, 16, 16, 8, 3)}), theirs, ours, figures, steps=500)


if __name__ == "__main__":
    main()
