"""Derivatives beyond the first ones by values: by α, p, p_forall and weights, of derivatives, and those of `torch.func`."""

import pytest

import logltn

torch = pytest.importorskip("torch")
import logltn.torch  # noqa: E402

THEORY = """
sort X
sort K = 0..2
table t(x: X, n: Int)
predicate e(X)
predicate d(X, K)
predicate r()
axiom a: forall (x, n) in t. exists i, j: K where i + j = n. d(x, i) and (e(x) or not d(x, j))
axiom b (weight 2): forall x: X. e(x) and r() -> (exists y: X where y != x. e(y))
axiom c: exists x: X. not e(x) and d(x, 1)
"""
SEMANTICS = [
    "logltn", "logltn-sum", "logltn-lse", "logltn-prob", "stable", "goguen", "lukasiewicz",
    {"base": "logltn", "forall": "log_probabilistic_sum", "over_axioms": "log_probabilistic_sum"},
    {"base": "stable", "forall": "product", "over_axioms": "mean"},
]  # fmt: skip
TABLE = {"t": {"x": [0, 2, 1, 1], "n": [1, 3, 4, 9]}}


def base(semantics="logltn", **arguments):
    outputs = {"d": "softmax", "r": "truth"}
    return logltn.torch.KnowledgeBase(THEORY, sorts={"X": 3}, tables=TABLE, outputs=outputs, semantics=semantics, **arguments)


def values(seed=0):
    torch.manual_seed(seed)
    numbers = torch.randn(3), torch.randn(3, 3), torch.rand(())
    return [x.double().requires_grad_() for x in numbers]


def scalar(x):
    return torch.tensor(x, dtype=torch.float64, requires_grad=True)


@pytest.mark.filterwarnings("ignore::logltn.InputWarning")
@pytest.mark.parametrize("semantics", SEMANTICS, ids=str)
def test_all_derivatives_are_those_of_differences(semantics):
    numbers = [*values(), scalar(1.5), scalar(2.5), scalar(3.0), scalar(0.7)]

    def loss(e, d, r, alpha, p, p_forall, weight):
        return kb.loss(e=e, d=d, r=r, alpha=alpha, p=p, p_forall=p_forall, weights={"b": weight})

    def truths(*numbers):
        return torch.stack(list(kb.axioms(values=dict(zip("edr", numbers)), alpha=numbers[3], p=numbers[4], p_forall=numbers[5]).values()))

    # An empty `exists` is -1e5, beside which differences are coarse: what is compared is without it.
    kept = {"t": {"x": [0, 2, 1], "n": [1, 3, 4]}}
    kb = logltn.torch.KnowledgeBase(
        THEORY, sorts={"X": 3}, tables=kept, outputs={"d": "softmax", "r": "truth"}, semantics=semantics, p_axioms=3.0 if semantics == "stable" else None,
    )  # fmt: skip
    assert torch.autograd.gradcheck(loss, numbers, atol=1e-5)
    assert torch.autograd.gradcheck(truths, numbers[:-1], atol=1e-5)
    assert torch.autograd.gradgradcheck(loss, numbers, atol=1e-4)


@pytest.mark.filterwarnings("ignore::logltn.InputWarning")
@pytest.mark.parametrize("semantics", SEMANTICS, ids=str)
@pytest.mark.parametrize("tied", [False, True])
def test_the_formula_is_what_the_engine_computes(semantics, tied):
    """Also where values are the same, and where an `exists` has nothing to choose from."""
    if tied and semantics == "lukasiewicz":
        pytest.skip("which of equal members is the greatest is a matter of rounding")
    kb = base(semantics)
    numbers = [torch.zeros_like(x).add(0.25).requires_grad_() for x in values()] if tied else values(1)
    loss = kb.loss(values=dict(zip("edr", numbers)), alpha=2.0)
    loss.backward()
    found = torch.func.grad_and_value(lambda *x: kb.loss(values=dict(zip("edr", x)), alpha=2.0), argnums=(0, 1, 2))(*(x.detach() for x in numbers))
    assert found[1].item() == pytest.approx(loss.item(), rel=1e-12)
    for own, x in zip(found[0], numbers):
        assert torch.allclose(own, x.grad, rtol=1e-9, atol=1e-12)


@pytest.mark.filterwarnings("ignore::logltn.InputWarning")
def test_transformations():
    kb = base(leave_out_empty=True)
    e, d, r = (x.detach() for x in values())
    loss = lambda e, d=d, r=r: kb.loss(e=e, d=d, r=r, alpha=2.0)  # noqa: E731
    many = torch.randn(5, 3, dtype=torch.float64)
    each = torch.stack([loss(row) for row in many])
    assert torch.allclose(torch.func.vmap(loss)(many), each)
    jacobian = torch.func.jacrev(lambda e: torch.stack(list(kb.axioms(e=e, d=d, r=r).values())))(e)
    assert jacobian.shape == (3, 3)
    hessian = torch.func.hessian(loss)(e)
    again = torch.autograd.functional.hessian(loss, e)
    assert torch.allclose(hessian, again) and torch.allclose(hessian, hessian.T)
    assert torch.func.jvp(loss, (e,), (torch.ones_like(e),))[1] == pytest.approx(torch.func.grad(loss)(e).sum().item())
    slope = torch.func.grad(lambda alpha: kb.loss(e=e, d=d, r=r, alpha=alpha))(torch.tensor(2.0, dtype=torch.float64))
    assert torch.isfinite(slope) and slope != 0


def test_networks_are_transformed_too():
    net = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    text = "sort P  predicate C(P)  axiom a: forall x, y: P where x != y. C(x) -> C(y)"
    kb = logltn.torch.KnowledgeBase(text, sorts={"P": torch.randn(4, 2)}, predicates={"C": net})
    kb().backward()
    parameters = {name: x.detach() for name, x in kb.named_parameters()}
    found = torch.func.grad(lambda p: torch.func.functional_call(kb, p, ()))(parameters)
    for name, x in kb.named_parameters():
        assert torch.allclose(found[name], x.grad, atol=1e-6)
    penalty = sum(g.pow(2).sum() for g in torch.autograd.grad(kb(), list(kb.parameters()), create_graph=True))
    penalty.backward()


def test_where_there_are_none_they_say_why():
    x = torch.zeros(2, requires_grad=True)
    kb = logltn.torch.KnowledgeBase("sort X  predicate P(X)  axiom a: forall x: X. P(x)", sorts={"X": 2}, semantics="probability")
    with pytest.raises(RuntimeError, match="probability"):
        torch.autograd.grad(kb.loss(P=x), x, create_graph=True)


def test_second_derivatives_through_definitions():
    x = torch.randn(3, dtype=torch.float64, requires_grad=True)
    text = "sort X  predicate P(X)  define Q(x: X): not P(x)  axiom a: exists x: X. Q(x)"
    kb = logltn.torch.KnowledgeBase(text, sorts={"X": 3})
    assert torch.autograd.gradgradcheck(lambda values: kb.loss(P=values, alpha=2.0), x)
    text = "sort N = 0..4  predicate P(N)  define Q(i: N): P(i) and (forall j: N where j = i - 1. Q(j))  axiom a: Q(4)"
    kb = logltn.torch.KnowledgeBase(text)
    x = torch.randn(5, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradgradcheck(lambda values: kb.loss(P=values), x)
