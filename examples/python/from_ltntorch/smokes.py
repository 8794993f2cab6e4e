"""Smokes, friends, cancer, as in LTNtorch and in logltn: facts about some, rules for all, people as vectors that are learnt.

    python examples/python/from_ltntorch/smokes.py

What was learnt about whom is shown by ../smokes.py.
"""

import sys
from pathlib import Path

import ltn
import torch
from side_by_side import And, Exists, Forall, Implies, Not, Or, SatAgg, side_by_side

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))
import smokes_data as data  # noqa: E402

import logltn.torch  # noqa: E402

torch.manual_seed(0)


def predicate(net):
    return ltn.Predicate(func=lambda *of: torch.sigmoid(net(torch.cat(of, 1))).squeeze(1))


def theirs(modules):
    people = modules["people"].weight
    friend, smokes, cancer = (predicate(modules[name]) for name in ("friend", "smokes", "cancer"))

    def known(name, said, negated):
        columns = [ltn.Variable(f"{name}.{column}", people[rows]) for column, rows in data.tables()[name].items()]
        if len(columns) > 1:
            ltn.diag(*columns)
        return Forall(columns, Not(said(*columns)) if negated else said(*columns))

    def loss():
        x, y = ltn.Variable("x", people), ltn.Variable("y", people)
        return 1 - SatAgg(
            known("friends", friend, False), known("strangers", friend, True),
            known("smokers", smokes, False), known("non_smokers", smokes, True),
            known("ill", cancer, False), known("well", cancer, True),
            Forall(x, Not(friend(x, x)), p=5),
            Forall([x, y], Implies(friend(x, y), friend(y, x)), p=5),
            Forall(x, Exists(y, friend(x, y), p=6)),
            Forall([x, y], Implies(And(friend(x, y), smokes(x)), smokes(y))),
            Forall(x, Implies(smokes(x), cancer(x))),
            Forall(x, Implies(Not(smokes(x)), Not(cancer(x)))),
        )  # fmt: skip

    return loss


def ours(modules):
    return data.knowledge_base(modules)


@torch.no_grad()
def figures(modules):
    """Asked of both by LTNtorch: what follows from the rules, and what does not."""
    people = modules["people"].weight
    friend, smokes, cancer = (predicate(modules[name]) for name in ("friend", "smokes", "cancer"))
    x, y = ltn.Variable("x", people), ltn.Variable("y", people)
    return {
        "satisfaction": 1 - theirs(modules)().item(),
        "who has cancer smokes": Forall(x, Implies(cancer(x), smokes(x)), p=5).value.item(),
        "... is everybody's friend": Forall([x, y], Implies(Or(cancer(x), cancer(y)), friend(x, y)), p=5).value.item(),
    }


def main():
    return side_by_side(data.modules(), theirs, ours, figures, steps=400, rate=0.01)


if __name__ == "__main__":
    main()
