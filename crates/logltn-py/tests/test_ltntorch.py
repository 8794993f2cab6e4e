"""The same loss as LTNtorch's own objects, in the semantics that is LTNtorch's."""

import pytest

import logltn

torch = pytest.importorskip("torch")
ltn = pytest.importorskip("ltn")
import logltn.torch  # noqa: E402


@pytest.mark.parametrize("p", [2, 5])
def test_smokers(p):
    torch.manual_seed(p)
    n = 5
    features = torch.randn(n, 3)
    smokes_net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    friends_net = torch.nn.Sequential(torch.nn.Linear(6, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))

    smokes = ltn.Predicate(func=lambda x: torch.sigmoid(smokes_net(x)).squeeze(-1))
    friends = ltn.Predicate(func=lambda x, y: torch.sigmoid(friends_net(torch.cat([x, y], -1))).squeeze(-1))
    Not = ltn.Connective(ltn.fuzzy_ops.NotStandard())
    And = ltn.Connective(ltn.fuzzy_ops.AndProd())
    Or = ltn.Connective(ltn.fuzzy_ops.OrProbSum())
    Implies = ltn.Connective(ltn.fuzzy_ops.ImpliesReichenbach())
    Forall = ltn.Quantifier(ltn.fuzzy_ops.AggregPMeanError(p=p), quantifier="f")
    Exists = ltn.Quantifier(ltn.fuzzy_ops.AggregPMean(p=p), quantifier="e")
    x, y = ltn.Variable("x", features), ltn.Variable("y", features)
    axioms = [
        Forall([x, y], Implies(And(friends(x, y), smokes(x)), smokes(y))),
        Forall(x, Exists(y, friends(x, y))),
        Exists(x, Or(Not(smokes(x)), friends(x, x))),
        Forall(x, Not(friends(x, x))),
    ]
    theirs = 1 - ltn.fuzzy_ops.SatAgg(ltn.fuzzy_ops.AggregPMeanError(p=p))(*axioms)
    theirs.backward()
    nets = [smokes_net, friends_net]
    expected = [parameter.grad.clone() for net in nets for parameter in net.parameters()]
    [net.zero_grad() for net in nets]

    kb = logltn.torch.KnowledgeBase(
        """sort P  predicate smokes(P)  predicate friends(P, P)
           axiom spreads: forall x, y: P. friends(x, y) and smokes(x) -> smokes(y)
           axiom someone: forall x: P. exists y: P. friends(x, y)
           axiom some: exists x: P. not smokes(x) or friends(x, x)
           axiom strict: forall x: P. not friends(x, x)""",
        sorts={"P": n}, semantics="stable",
    )  # fmt: skip
    pairs = torch.cat([features.repeat_interleave(n, 0), features.repeat(n, 1)], -1)
    ours = kb.loss(smokes=smokes_net(features).squeeze(-1), friends=friends_net(pairs).view(n, n), p=float(p), p_forall=float(p))
    ours.backward()
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-6)
    found = [parameter.grad for net in nets for parameter in net.parameters()]
    for a, b in zip(found, expected):
        torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-5)
