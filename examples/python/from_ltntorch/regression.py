"""Regression, as in LTNtorch and in logltn: a function that should be close to the prices that were paid.

    python examples/python/from_ltntorch/regression.py
"""

import ltn
import torch
from side_by_side import Forall, SatAgg, mlp, side_by_side
from torch import nn

import logltn.torch

torch.manual_seed(0)
houses = torch.randn(400, 6)
prices = 38 + 6 * houses[:, 0] - 5 * houses[:, 1] * (houses[:, 2] > 0) + 2 * houses[:, 3] + torch.randn(400)
train, test = torch.arange(320), torch.arange(320, 400)


def theirs(modules):
    f = ltn.Function(modules["f"])
    # Not the root of a square, as LTNtorch's example has it: that has no derivative at 0, and an exact hit ends in NaN.
    eq = ltn.Predicate(func=lambda x, y: torch.exp(-0.05 * (x - y).abs().squeeze(1)))

    def loss():
        x, y = ltn.Variable("x", houses[train]), ltn.Variable("y", prices[train].unsqueeze(1))
        return 1 - SatAgg(Forall(ltn.diag(x, y), eq(f(x), y)))

    return loss


def ours(modules):
    return logltn.torch.KnowledgeBase(
        """
        sort House
        table prices(x: House, y: Real)
        function f(House): Real
        predicate eq(Real, Real)
        axiom prices: forall (x, y) in prices. eq(f(x), y)
        """,
        sorts={"House": houses},
        tables={"prices": {"x": train, "y": prices[train]}},
        functions={"f": lambda x: modules["f"](x).squeeze(1)},
        # The logarithm of the truth, as it is: nothing is lost to an exponential that is 0 far away.
        predicates={"eq": logltn.torch.log_truth(lambda u, v: -0.05 * (u - v).abs())},
        semantics="stable",
        threads=1,
    )


@torch.no_grad()
def figures(modules):
    away = modules["f"](houses).squeeze(1) - prices
    return {"root of the mean square, others": away[test].square().mean().sqrt().item()}


def main():
    return side_by_side(nn.ModuleDict({"f": mlp(6, 16, 16, 1)}), theirs, ours, figures, steps=600, rate=0.005)


if __name__ == "__main__":
    main()
