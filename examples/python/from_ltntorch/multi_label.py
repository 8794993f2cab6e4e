"""Several labels each, as in LTNtorch and in logltn: crabs are blue or orange, and male or female. Only rules say what is false.

    python examples/python/from_ltntorch/multi_label.py
"""

import ltn
import torch
from side_by_side import And, Forall, Not, OfClass, SatAgg, mlp, side_by_side
from torch import nn

import logltn.torch

torch.manual_seed(0)
LABELS = ["blue", "orange", "male", "female"]
colour, sex = torch.arange(200) % 2, torch.arange(200) // 2 % 2
crabs = 0.6 * torch.randn(200, 5) + torch.stack([2 * colour - 1, 2 * sex - 1], 1).float() @ torch.randn(2, 5)
labels = torch.stack([colour == 0, colour == 1, sex == 0, sex == 1], 1)
order = torch.randperm(200)
train, test = order[:160], order[160:]


def theirs(modules):
    P = ltn.Predicate(OfClass(modules["P"], torch.sigmoid))
    blue, orange, male, female = classes = [ltn.Constant(torch.tensor([float(k)])) for k in range(4)]

    def loss():
        x = ltn.Variable("x", crabs[train])
        of = [ltn.Variable(name, crabs[train][labels[train, k]]) for k, name in enumerate(LABELS)]
        return 1 - SatAgg(
            *(Forall(x, P(x, label)) for x, label in zip(of, classes)),
            Forall(x, Not(And(P(x, blue), P(x, orange)))),
            Forall(x, Not(And(P(x, male), P(x, female)))),
        )

    return loss


def ours(modules):
    rows = labels[train].nonzero()
    kb = logltn.torch.KnowledgeBase(
        """
        sort Crab
        sort Label = {blue, orange, male, female}
        table labelled(x: Crab, l: Label)
        predicate P(Crab, Label)
        axiom labels for l: Label: forall (x, m) in labelled where m = l. P(x, l)
        axiom one_colour: forall x: Crab. not (P(x, blue) and P(x, orange))
        axiom one_sex:    forall x: Crab. not (P(x, male) and P(x, female))
        """,
        sorts={"Crab": len(train)},
        tables={"labelled": {"x": rows[:, 0], "l": [LABELS[k] for k in rows[:, 1]]}},
        semantics="stable",
        threads=1,
    )
    # One run of the network gives all four numbers of a crab.
    return lambda: kb.loss(P=modules["P"](crabs[train]))


@torch.no_grad()
def figures(modules):
    right = (modules["P"](crabs) > 0) == labels
    return {"labels of 40 other crabs, right": right[test].float().mean().item()}


def main():
    return side_by_side(nn.ModuleDict({"P": mlp(5, 16, 16, 8, 4)}), theirs, ours, figures, steps=500)


if __name__ == "__main__":
    main()
