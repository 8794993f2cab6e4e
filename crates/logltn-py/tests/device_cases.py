"""What the plan on a device is compared with: the CPU engine, on conformance cases and random theories."""

import random
import warnings

import numpy as np
import torch

import logltn
import logltn.torch
from conformance_cases import NAMES, near, parameters, read, same_gradients
from logltn.torch._device._backend import Backend

SEMANTICS = [
    "logltn", "logltn-sum", "logltn-max", "logltn-lse", "logltn-prob", "prod", "stable", "godel", "lukasiewicz", "goguen",
    {"base": "logltn", "exists": "log_probabilistic_sum"}, {"base": "logltn", "forall": "min"},
    {"base": "logltn", "over_axioms": "log_mean_exp"}, {"base": "stable", "forall": "product"},
    {"base": "stable", "implies": "kleene_dienes"}, {"base": "stable", "exists": "max", "over_axioms": "mean"},
]  # fmt: skip


def on_device(arguments, device, options, **more):
    """A knowledge base whose values go to `device`, and run there whatever it is."""
    kb = logltn.torch.KnowledgeBase(**arguments, **more, backend="torch")
    kb._backend.options = options
    assert isinstance(kb._backend, Backend)
    kb.there = device
    return kb


def loss_and_gradients(kb, values, dtype, call):
    tensors = {name: torch.tensor(np.asarray(v), dtype=dtype, device=kb.there, requires_grad=True) for name, v in values.items()}
    loss = kb.loss(values=tensors, **call)
    if loss.requires_grad:
        loss.backward()
    zeros = lambda t: np.zeros(tuple(t.shape))  # noqa: E731
    return loss.item(), {n: zeros(t) if t.grad is None else t.grad.double().cpu().numpy() for n, t in tensors.items()}


def check_conformance(name, device, options):
    """A case with all its semantics: values and gradients at 1e-9, in double precision."""
    arguments, values, expected = read(name)
    compared = 0
    for entry in expected:
        if entry.get("error"):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            kb = on_device(arguments, device, options, semantics=entry["name"], dtype="float64")
            call = parameters(entry)
            loss, gradients = loss_and_gradients(kb, values, torch.float64, call)
        assert near(loss, entry["loss"]), (name, entry["name"], loss, entry["loss"])
        truths = kb.truths
        for axiom in entry["axioms"]:
            assert near(truths[axiom["name"]], axiom["truth"]), (name, entry["name"], axiom["name"])
        same_gradients(gradients, entry["gradients"], lambda v: kb.evaluate(v, **call).loss, values)
        compared += 1
    return compared


# --- random theories ----------------------------------------------------------------------------

HEAD = """
sort P
sort Q = {a, b, c}
sort N = 0..4
table rows(x: P, t: Q)
table links(x: P, y: P, n: Int)
predicate type(P, Q)
predicate part(P, P)
predicate happy(P)
predicate ok()
predicate even(Q)
predicate num(P, N)
"""
SHAPES = {"type": "PQ", "part": "PP", "happy": "P", "ok": "", "even": "Q", "num": "PN"}


def pick_sign(random):
    return random.choice(["", "", "not "])


class Theories:
    """Random theories over the same symbols."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.fresh = 0
        self.shapes = dict(SHAPES)

    def variable(self):
        self.fresh += 1
        return f"v{self.fresh}"

    def atom(self, scope):
        pick = self.random.choice
        for _ in range(20):
            name = pick(list(self.shapes))
            arguments = []
            for sort in self.shapes[name]:
                known = [v for v, s in scope if s == sort] + ({"Q": ["a", "b"], "N": ["0", "3"]}.get(sort, []))
                if not known:
                    break
                arguments.append(pick(known))
            else:
                return f"{name}({', '.join(arguments)})"
        return "ok()"

    def formula(self, scope, depth):
        pick, chance = self.random.choice, self.random.random()
        if depth == 0 or chance < 0.2:
            return pick(["", "", "not "]) + self.atom(scope)
        if chance < 0.6:
            members = [self.formula(scope, depth - 1) for _ in range(pick([2, 2, 3]))]
            word = pick(["and", "or", "->", "<->"])
            if word in ("->", "<->"):
                members = members[:2]
            return "(" + f" {word} ".join(members) + ")"
        if chance < 0.65:
            return "not (" + self.formula(scope, depth - 1) + ")"
        return "(" + self.quantifier(scope, depth) + ")"

    def quantifier(self, scope, depth, word=None):
        pick = self.random.choice
        word = word or pick(["forall", "exists"])
        kind = self.random.random()
        if kind < 0.15:
            x, t = self.variable(), self.variable()
            return f"{word} ({x}, {t}) in rows. " + self.formula([*scope, (x, "P"), (t, "Q")], depth - 1)
        if kind < 0.3:
            x, y, n = self.variable(), self.variable(), self.variable()
            inner = [*scope, (x, "P"), (y, "P")]
            if self.random.random() < 0.5:
                u, v = self.variable(), self.variable()
                body = f"exists {u}, {v}: N where {u} + {v} = {n}. num({x}, {u}) and num({y}, {v})"
                return f"{word} ({x}, {y}, {n}) in links. {body}"
            return f"{word} ({x}, {y}, {n}) in links. " + self.formula(inner, depth - 1)
        new = [(self.variable(), pick("PPQN")) for _ in range(pick([1, 1, 2, 3]))]
        guards = []
        both = scope + new
        for v, s in new:
            others = [o for o, t in both if t == s and o != v]
            if others and self.random.random() < 0.4:
                compare = pick(["!=", "<", "<="]) if s == "N" else "!="
                guards.append(f"{v} {compare} {pick(others)}")
            elif s == "P" and others and self.random.random() < 0.2:
                guards.append(f"exists n1: N. links({v}, {pick(others)}, n1)")
        where = f" where {' and '.join(guards)}" if guards else ""
        binders = ", ".join(f"{v}: {s}" for v, s in new)
        return f"{word} {binders}{where}. " + self.formula(both, depth - 1)

    def definitions(self):
        """Some definitions, which what is written after them may use: plain ones, along an order, and to a depth."""
        written = []
        for i in range(self.random.choice([0, 0, 1, 2])):
            kind, name = self.random.random(), f"d{i}"
            if kind < 0.2:
                shape, own = "PN", f"define {name}(x: P, n: N): num(x, n) or (exists m: N where m = n - 1. {name}(x, m) and happy(x))"
            elif kind < 0.45:
                depth = self.random.choice([0, 1, 3])
                shape, step = "PP", f"exists z: P. part(x, z) and {pick_sign(self.random)}{name}(z, y)"
                own = f"define {name}(x: P, y: P) to depth {depth}: part(x, y) or ({step})"
            else:
                shape = self.random.choice(["", "P", "Q", "PP", "PQ"])
                scope = [(self.variable(), sort) for sort in shape]
                parameters = ", ".join(f"{v}: {s}" for v, s in scope)
                own = f"define {name}({parameters}): " + self.formula(scope, self.random.choice([1, 2]))
            written.append(own)
            self.shapes[name] = shape
        return written

    def theory(self):
        axioms = self.definitions()
        for i in range(self.random.choice([1, 2, 3])):
            weight = self.random.choice(["", "", " (weight 2.5)", " (weight 0)" if i else ""])
            word = "forall" if self.random.random() < 0.8 else "exists"
            axioms.append(f"axiom x{i}{weight}: " + self.quantifier([], self.random.choice([1, 2, 3]), word))
        return HEAD + "\n".join(axioms)

    def case(self):
        size = self.random.choice([2, 3, 5])
        numbers = np.random.default_rng(self.random.randrange(1 << 30))
        rows, links = self.random.choice([0, 2, 6]), self.random.choice([0, 3, 5])
        individuals = lambda n: numbers.integers(0, size, n)  # noqa: E731
        arguments = dict(
            theory=self.theory(),
            sorts={"P": size},
            tables={
                "rows": {"x": individuals(rows), "t": [self.random.choice("abc") for _ in range(rows)]},
                "links": {"x": individuals(links), "y": individuals(links), "n": numbers.integers(0, 9, links)},
            },
            outputs={
                "type": "softmax", "num": self.random.choice(["softmax", "sigmoid"]), "part": "sigmoid",
                "even": self.random.choice(["truth", "sigmoid"]), "ok": self.random.choice(["log_truth", "sigmoid"]),
            },
            semantics=self.random.choice(SEMANTICS),
        )  # fmt: skip
        sizes = {"P": size, "Q": 3, "N": 5}
        spread = self.random.choice([0.5, 2.0, 20.0])
        values = {name: spread * numbers.standard_normal([sizes[s] for s in shape]) for name, shape in SHAPES.items()}
        if arguments["outputs"]["even"] == "truth":
            values["even"] = 1 / (1 + np.exp(-values["even"].clip(-5, 5)))
        if arguments["outputs"]["ok"] == "log_truth":
            values["ok"] = -np.abs(values["ok"])
        call = {name: self.random.choice([1.0, 2.0, 5.0]) for name in ("alpha", "p", "p_forall")}
        if self.random.random() < 0.3:
            arguments["parameters"] = {"x0": {"alpha": 3.0}}
        return arguments, values, call


def check_random(seed, device, options, precision="float64"):
    """A random theory against the CPU engine in double precision; whether there was something to compare."""
    arguments, values, call = Theories(seed).case()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            reference = logltn.KnowledgeBase(**arguments, dtype="float64")
        except logltn.InputError:
            return False
        if precision == "float32":
            values = {n: v.astype(np.float32).astype(np.float64) for n, v in values.items()}
        kb = on_device(arguments, device, options, dtype=precision)
    expected = reference.evaluate(values, gradients=True, **call)
    try:
        loss, gradients = loss_and_gradients(kb, values, getattr(torch, precision), call)
        if precision == "float64":
            assert near(loss, expected.loss), (loss, expected.loss)
            for name, truth in expected.truths.items():
                assert near(kb.truths[name], truth), (name, kb.truths[name], truth)
            same_gradients(gradients, expected.gradients, lambda v: reference.evaluate(v, **call).loss, values)
        else:
            assert near(loss, expected.loss, 2e-5) or not np.isfinite(expected.loss), (loss, expected.loss)
    except AssertionError as error:
        raise AssertionError(f"seed {seed}: {arguments['semantics']}, {call}\n{arguments['theory']}\n{error}") from error
    return True


__all__ = ["NAMES", "Theories", "check_conformance", "check_random", "loss_and_gradients", "on_device"]
