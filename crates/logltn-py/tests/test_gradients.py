"""`torch.autograd.gradcheck` on random theories."""

import random

import pytest

import logltn

torch = pytest.importorskip("torch")
import logltn.torch  # noqa: E402

HEAD = """
sort A
sort B = 0..2
table t(x: A, b: B, n: Int)
predicate p(A)
predicate q(A, B)
predicate r(A, A)
predicate s(B)
predicate w()
"""
ARGUMENTS = {"p": "A", "q": "AB", "r": "AA", "s": "B", "w": ""}
SHAPES = {"p": (3,), "q": (3, 3), "r": (3, 3), "s": (3,), "w": ()}
TABLE = {"x": [0, 1, 1], "b": [2, 0, 1], "n": [1, 4, 2]}


class Writer:
    """Formulas, with no more variables around than a few."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.count = 0

    def variable(self):
        self.count += 1
        return f"v{self.count}"

    def atom(self, scope):
        fits = [name for name, sorts in ARGUMENTS.items() if all(any(s == sort for _, s in scope) for sort in sorts)]
        name = self.random.choice(fits)
        arguments = [self.random.choice([v for v, s in scope if s == sort]) for sort in ARGUMENTS[name]]
        return f"{name}({', '.join(arguments)})"

    def formula(self, scope, depth):
        kind = self.random.choice(["atom", "not", "and", "or", "->", "<->", "forall", "exists"]) if depth else "atom"
        if kind == "atom":
            return self.atom(scope)
        if kind == "not":
            return f"not ({self.formula(scope, depth - 1)})"
        if kind in ("forall", "exists"):
            return self.quantified(kind, scope, depth)
        return f"(({self.formula(scope, depth - 1)}) {kind} ({self.formula(scope, depth - 1)}))"

    def quantified(self, kind, scope, depth):
        sort, v = self.random.choice("AB"), self.variable()
        others = [u for u, s in scope if s == sort]
        guard = f" where {v} != {self.random.choice(others)}" if others and self.random.random() < 0.3 else ""
        return f"({kind} {v}: {sort}{guard}. {self.formula([*scope, (v, sort)], depth - 1)})"

    def theory(self):
        axioms = []
        for i in range(3):
            kind = self.random.choice(["forall", "exists", "table", "family"])
            x, b, n = self.variable(), self.variable(), self.variable()
            weight = self.random.choice(["", " (weight 2)"])
            if kind == "table":
                body = self.formula([(x, "A"), (b, "B")], 2)
                axioms.append(f"axiom a{i}{weight}: forall ({x}, {b}, {n}) in t where {n} > 1. {body}")
            elif kind == "family":
                axioms.append(f"axiom a{i}{weight} for {b}: B: forall {x}: A. {self.formula([(x, 'A'), (b, 'B')], 2)}")
            else:
                axioms.append(f"axiom a{i}{weight}: {self.quantified(kind, [], 3)}")
        return HEAD + "\n".join(axioms)


@pytest.mark.filterwarnings("ignore::logltn.InputWarning")
@pytest.mark.parametrize("semantics", ["logltn", "logltn-sum", "logltn-lse", "logltn-prob", "stable"])
@pytest.mark.parametrize("seed", range(8))
def test_gradients_are_the_slopes(seed, semantics):
    generator = torch.Generator().manual_seed(seed)
    outputs = {"q": "softmax", "p": "truth", "s": "log_truth"}
    kb = logltn.torch.KnowledgeBase(
        Writer(seed).theory(), sorts={"A": 3}, tables={"t": TABLE}, outputs=outputs, semantics=semantics, dtype="float64"
    )
    values = {name: torch.randn(shape, dtype=torch.float64, generator=generator) for name, shape in SHAPES.items()}
    # Away from the ends of their ranges, beyond which there is nothing.
    values["p"] = 0.1 + 0.8 * values["p"].sigmoid()
    values["s"] = -0.1 - values["s"].abs()
    tensors = [value.requires_grad_() for value in values.values()]
    settings = dict(alpha=1.5, p=3.0, p_forall=2.5)

    def loss(*tensors):
        return kb.loss(dict(zip(values, tensors)), **settings)

    def axioms(*tensors):
        return tuple(kb.axioms(dict(zip(values, tensors)), **settings).values())

    assert torch.autograd.gradcheck(loss, tensors, atol=1e-6)
    assert torch.autograd.gradcheck(axioms, tensors, atol=1e-6)
    assert any(g is not None and g.abs().sum() > 0 for g in torch.autograd.grad(loss(*tensors), tensors, allow_unused=True))
