"""A small theory language as Python objects, which prints itself and evaluates itself on plain numbers: slow, and sharing nothing with the
package."""

import itertools
import math
from dataclasses import dataclass
from typing import Any, Callable

FLOOR, EPS = -1e5, 1e-4


@dataclass
class Atom:
    name: str
    terms: tuple  # names of variables
    negated = False

    def __str__(self):
        return f"{self.name}({', '.join(self.terms)})"


@dataclass
class Node:
    kind: str  # not, and, or, implies, iff
    members: tuple

    def __str__(self):
        if self.kind == "not":
            return f"not ({self.members[0]})"
        word = {"and": " and ", "or": " or ", "implies": " -> ", "iff": " <-> "}[self.kind]
        return word.join(f"({m})" for m in self.members)


@dataclass
class Quantified:
    kind: str  # forall, exists
    binders: tuple  # ("x", "X") or (("x", "n"), "t")
    guard: tuple  # text and a function of the binding, or None
    body: Any

    def __str__(self):
        shown = ", ".join(f"({', '.join(v)}) in {of}" if isinstance(v, tuple) else f"{v}: {of}" for v, of in self.binders)
        where = f" where {self.guard[0]}" if self.guard else ""
        return f"{self.kind} {shown}{where}. {self.body}"


@dataclass
class World:
    """What a call has: individuals by sort, rows by table, params, and for each predicate a function from arguments to a degree in (0, 1)
    and its complement."""

    sorts: dict
    tables: dict
    params: dict
    degree: Callable
    alpha: float
    p: float
    p_forall: float
    semantics: str
    leave_out_empty: bool = False

    def bindings(self, node, env):
        domains = [self.tables[of] if isinstance(v, tuple) else [(i,) for i in self.sorts[of]] for v, of in node.binders]
        for rows in itertools.product(*domains):
            own = dict(env)
            for (v, _), row in zip(node.binders, rows):
                own.update(zip(v if isinstance(v, tuple) else (v,), row))
            if node.guard is None or node.guard[1](own, self.params):
                yield own

    def leaves_out(self, body, env, negative=False):
        """Whether an `exists` with a guard right under this has nothing to choose from."""
        if not self.leave_out_empty:
            return False
        if isinstance(body, Node):
            flips = {"not": [True], "implies": [True, False]}.get(body.kind, [False] * len(body.members))
            return any(self.leaves_out(m, env, negative != f) for m, f in zip(body.members, flips))
        if not isinstance(body, Quantified):
            return False
        log = self.semantics == "logltn"
        is_exists = (body.kind == "exists") != (log and negative)
        inner = [b for b in self.bindings(body, env) if not self.leaves_out(body.body, b, negative)]
        return is_exists and body.guard is not None and not inner

    # --- log space ---

    def log(self, f, env, negative=False):
        if isinstance(f, Atom):
            yes, no = self.degree(f.name, tuple(env[t] for t in f.terms))
            return no if negative else yes
        if isinstance(f, Node):
            if f.kind == "not":
                return self.log(f.members[0], env, not negative)
            if f.kind == "implies":
                a, b = f.members
                return self._junction("or", [self.log(a, env, True), self.log(b, env)]) if not negative else self._junction(
                    "and", [self.log(a, env), self.log(b, env, True)])
            if f.kind == "iff":
                a, b = f.members
                if not negative:
                    both = [self._junction("or", [self.log(a, env, True), self.log(b, env)]), self._junction("or", [self.log(b, env, True), self.log(a, env)])]
                    return self._junction("and", both)
                both = [self._junction("and", [self.log(a, env), self.log(b, env, True)]), self._junction("and", [self.log(b, env), self.log(a, env, True)])]
                return self._junction("or", both)
            kind = f.kind if not negative else {"and": "or", "or": "and"}[f.kind]
            return self._junction(kind, [self.log(m, env, negative) for m in f.members])
        inner = [b for b in self.bindings(f, env) if not self.leaves_out(f.body, b, negative)]
        values = [self.log(f.body, b, negative) for b in inner]
        forall = (f.kind == "forall") != negative
        if not values:
            return 0.0 if forall else FLOOR
        return sum(values) / len(values) if forall else self._log_mean_exp(values)

    def _junction(self, kind, values):
        return sum(values) if kind == "and" else self._log_mean_exp(values)

    def _log_mean_exp(self, values):
        top = max(values)
        return top + math.log(sum(math.exp(self.alpha * (v - top)) for v in values) / len(values)) / self.alpha

    # --- truth space: "stable" ---

    def truth(self, f, env):
        zero, one = (lambda x: (1 - EPS) * x + EPS), (lambda x: (1 - EPS) * x)
        implies = lambda x, y: 1 - zero(x) + zero(x) * one(y)  # noqa: E731
        both = lambda x, y: zero(x) * zero(y)  # noqa: E731
        if isinstance(f, Atom):
            return self.degree(f.name, tuple(env[t] for t in f.terms))[0]
        if isinstance(f, Node):
            values = [self.truth(m, env) for m in f.members]
            if f.kind == "not":
                return 1 - values[0]
            if f.kind == "implies":
                return implies(*values)
            if f.kind == "iff":
                return both(implies(*values), implies(*values[::-1]))
            total = values[0]
            for value in values[1:]:
                total = both(total, value) if f.kind == "and" else one(total) + one(value) - one(total) * one(value)
            return total
        inner = [b for b in self.bindings(f, env) if not self.leaves_out(f.body, b)]
        values = [self.truth(f.body, b) for b in inner]
        if f.kind == "forall":
            return self.mean_error([1.0] * len(values), values, self.p_forall) if values else 1.0
        return (sum(zero(v) ** self.p for v in values) / len(values)) ** (1 / self.p) if values else 0.0

    @staticmethod
    def mean_error(weights, values, p):
        return 1 - (sum(w * (1 - (1 - EPS) * v) ** p for w, v in zip(weights, values)) / sum(weights)) ** (1 / p)

    def value(self, f, env=None):
        return self.log(f, env or {}) if self.semantics == "logltn" else self.truth(f, env or {})

    def loss(self, truths, weights, p_axioms=None):
        if self.semantics == "logltn":
            return -sum(w * t for w, t in zip(weights, truths)) / sum(weights)
        return 1 - self.mean_error(weights, truths, self.p_forall if p_axioms is None else p_axioms)

    def is_about_nothing(self, f, env=None):
        """Whether no atom is reached."""
        if isinstance(f, Atom):
            return False
        if isinstance(f, Node):
            return all(self.is_about_nothing(m, env) for m in f.members)
        inner = [b for b in self.bindings(f, env or {}) if not self.leaves_out(f.body, b)]
        return all(self.is_about_nothing(f.body, b) for b in inner)
