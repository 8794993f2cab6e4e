"""Random theories whose worlds can all be gone through: an independent way to know every probability."""

from __future__ import annotations

import itertools
import math
import random
from typing import Any, Iterator

SORTS: dict[str, list[Any]] = {}


class Case:
    """A theory, the degrees of its atoms, and its worlds."""

    def __init__(self, seed: int) -> None:
        r = self.random = random.Random(seed)
        self.sorts: dict[str, list[Any]] = {"A": list(range(r.choice([1, 2, 2, 3]))), "B": ["b0", "b1", "b2", "b3"][: r.choice([2, 2, 3, 4])]}
        if r.random() < 0.5:
            self.sorts["S"] = ["s0", "s1"][: r.choice([0, 1, 1, 2])]
        kinds = ["sigmoid", "sigmoid", "truth", "log_truth", "softmax", "softmax", "per_class"]
        self.predicates: dict[str, tuple[str, list[str]]] = {}
        self.numbers: dict[str, list[list[float]]] = {}
        self.variables: list[tuple[str, tuple[Any, ...], int]] = []  # predicate, arguments, how many states
        while True:
            self.predicates.clear()
            for i in range(r.choice([1, 2, 2, 3])):
                kind = r.choice(kinds)
                names = list(self.sorts)
                if kind in ("softmax", "per_class"):
                    arguments = [r.choice(names) for _ in range(r.choice([0, 1, 1, 2]))] + ["B"]
                else:
                    arguments = [r.choice(names) for _ in range(r.choice([0, 1, 1, 2]))]
                self.predicates[f"P{i}"] = (kind, arguments)
            self.variables = []
            for name, (kind, arguments) in self.predicates.items():
                own = arguments[:-1] if kind == "softmax" else arguments
                for tuple_ in itertools.product(*(self.sorts[s] for s in own)):
                    self.variables.append((name, tuple_, len(self.sorts["B"]) if kind == "softmax" else 2))
            if self.variables and math.prod(v[2] for v in self.variables) <= 3000:
                break
        self.place = {(name, t): i for i, (name, t, _) in enumerate(self.variables)}
        self.weights: list[list[float]] = []
        scale = r.choice([0.5, 2.0, 2.0, 8.0])
        self.raw: dict[str, list[float]] = {name: [] for name in self.predicates}
        for name, _, states in self.variables:
            kind = self.predicates[name][0]
            if kind == "softmax":
                logits = [r.gauss(0, scale) for _ in range(states)]
                self.raw[name] += logits
                most = max(logits)
                total = sum(math.exp(x - most) for x in logits)
                self.weights.append([math.exp(x - most) / total for x in logits])
            else:
                x = r.gauss(0, scale)
                if kind in ("truth", "log_truth"):
                    t = 1 / (1 + math.exp(-x))
                    if r.random() < 0.15:
                        t = float(r.choice([0, 1]) if kind == "truth" else 1)
                    x = t if kind == "truth" else math.log(t)
                else:
                    t = 1 / (1 + math.exp(-x))
                self.raw[name].append(x)
                self.weights.append([1 - t, t])
        self.definitions: list[tuple[str, list[tuple[str, str]], Any]] = []
        if r.random() < 0.4:
            parameters = [("d0", r.choice(list(self.sorts)))][: r.choice([0, 1])]
            self.definitions.append(("D", parameters, self.formula(2, [p for p in parameters])))
        self.axioms: list[tuple[str, tuple[str, str] | None, Any]] = []
        for i in range(r.choice([1, 2, 2, 3])):
            family = (f"f{i}", r.choice(["A", "B"])) if r.random() < 0.25 else None
            self.axioms.append((f"a{i}", family, self.formula(3, [family] if family else [])))
        self.laws = [name for name, *_ in self.axioms if r.random() < 0.6]

    # Formulas: ("atom", name, terms), ("not", f), ("and"|"or", fs), ("->"|"<->", f, g), ("forall"|"exists", variable, sort, guard, f)
    def formula(self, depth: int, bound: list[Any]) -> Any:
        r = self.random
        kind = r.choice(["atom", "not", "and", "or", "->", "<->", "forall", "exists", "forall", "exists"]) if depth else "atom"
        if kind == "atom":
            return self.atom(bound)
        if kind == "not":
            return ("not", self.formula(depth - 1, bound))
        if kind in ("and", "or"):
            return (kind, [self.formula(depth - 1, bound) for _ in range(r.choice([2, 2, 3]))])
        if kind in ("->", "<->"):
            return (kind, self.formula(depth - 1, bound), self.formula(depth - 1, bound))
        variable, sort = f"v{len(bound)}", r.choice(list(self.sorts))
        guard = None
        same = [v for v, s in bound if s == sort]
        if same and r.random() < 0.4:
            guard = (r.choice(["=", "!="]), variable, r.choice(same))
        elif sort == "A" and r.random() < 0.2:
            guard = (r.choice(["=", "!=", "<"]), variable, r.choice([0, 1]))
        return (kind, variable, sort, guard, self.formula(depth - 1, [*bound, (variable, sort)]))

    def atom(self, bound: list[Any]) -> Any:
        r = self.random
        # Of a sort without members there are not constants.
        known = {sort for sort, members in self.sorts.items() if members} | {sort for _, sort in bound}
        if self.definitions and r.random() < 0.3 and all(sort in known for _, sort in self.definitions[0][1]):
            name, parameters, _ = self.definitions[0]
            return ("use", name, [self.term(sort, bound) for _, sort in parameters])
        name = r.choice([name for name, (_, arguments) in self.predicates.items() if known.issuperset(arguments)])
        return ("atom", name, [self.term(sort, bound) for sort in self.predicates[name][1]])

    def term(self, sort: str, bound: list[Any]) -> Any:
        same = [("v", v) for v, s in bound if s == sort]
        if same and (not self.sorts[sort] or self.random.random() < 0.8):
            return self.random.choice(same)
        return ("c", self.random.choice(self.sorts[sort]))

    # As text
    def text(self, f: Any) -> str:
        kind = f[0]
        if kind in ("atom", "use"):
            return f"{f[1]}({', '.join(str(t[1]) for t in f[2])})"
        if kind == "not":
            return f"not ({self.text(f[1])})"
        if kind in ("and", "or"):
            return f" {kind} ".join(f"({self.text(g)})" for g in f[1])
        if kind in ("->", "<->"):
            return f"({self.text(f[1])}) {kind} ({self.text(f[2])})"
        _, variable, sort, guard, body = f
        where = f" where {guard[1]} {guard[0]} {guard[2]}" if guard else ""
        return f"{kind} {variable}: {sort}{where}. {self.text(body)}"

    def theory(self) -> str:
        lines = [f"sort A = 0..{len(self.sorts['A']) - 1}", f"sort B = {{{', '.join(self.sorts['B'])}}}"]
        if "S" in self.sorts:
            lines.append("sort S")
        lines += [f"predicate {name}({', '.join(arguments)})" for name, (_, arguments) in self.predicates.items()]
        for name, parameters, f in self.definitions:
            lines.append(f"define {name}({', '.join(f'{v}: {s}' for v, s in parameters)}): {self.text(f)}")
        for name, family, f in self.axioms:
            lines.append(f"axiom {name}{f' for {family[0]}: {family[1]}' if family else ''}: {self.text(f)}")
        return "\n".join(lines) + "\n"

    # Truth in a world
    def holds(self, f: Any, world: tuple[int, ...], env: dict[str, Any]) -> bool:
        kind = f[0]
        if kind == "atom":
            terms = tuple(env[t[1]] if t[0] == "v" else t[1] for t in f[2])
            if self.predicates[f[1]][0] == "softmax":
                return world[self.place[f[1], terms[:-1]]] == self.sorts["B"].index(terms[-1])
            return world[self.place[f[1], terms]] == 1
        if kind == "use":
            _, parameters, body = self.definitions[0]
            values = [env[t[1]] if t[0] == "v" else t[1] for t in f[2]]
            return self.holds(body, world, dict(zip((v for v, _ in parameters), values)))
        if kind == "not":
            return not self.holds(f[1], world, env)
        if kind == "and":
            return all(self.holds(g, world, env) for g in f[1])
        if kind == "or":
            return any(self.holds(g, world, env) for g in f[1])
        if kind == "->":
            return not self.holds(f[1], world, env) or self.holds(f[2], world, env)
        if kind == "<->":
            return self.holds(f[1], world, env) == self.holds(f[2], world, env)
        each = (self.holds(f[4], world, e) for e in self.bindings(f, env))
        return all(each) if kind == "forall" else any(each)

    def bindings(self, f: Any, env: dict[str, Any]) -> Iterator[dict[str, Any]]:
        _, variable, sort, guard, _ = f
        for individual in self.sorts[sort]:
            inner = {**env, variable: individual}
            if guard:
                left, right = inner[guard[1]], inner.get(guard[2], guard[2]) if isinstance(guard[2], str) else guard[2]
                if not {"=": left == right, "!=": left != right, "<": guard[0] == "<" and left < right}[guard[0]]:
                    continue
            yield inner

    def members(self, name: str) -> list[tuple[str, Any, dict[str, Any]]]:
        family, f = next((family, f) for n, family, f in self.axioms if n == name)
        if family is None:
            return [(name, f, {})]
        return [(f"{name}[{i}]", f, {family[0]: i}) for i in self.sorts[family[1]]]

    def worlds(self, laws: list[str]) -> list[tuple[tuple[int, ...], float]]:
        """Those that keep the laws and are possible, with their probabilities before conditioning."""
        out = []
        conditions = [(f, env) for law in laws for _, f, env in self.members(law)]
        for world in itertools.product(*(range(states) for _, _, states in self.variables)):
            p = math.prod(w[s] for w, s in zip(self.weights, world))
            if p > 0 and all(self.holds(f, world, env) for f, env in conditions):
                out.append((world, p))
        return out

    def entails(self, f: Any) -> bool:
        """Whether a formula follows from all axioms, where atoms of degree 0 and 1 of truth values are as they are."""
        conditions = [(g, env) for name, *_ in self.axioms for _, g, env in self.members(name)]
        for world in itertools.product(*(range(states) for _, _, states in self.variables)):
            kinds = (self.predicates[name][0] for name, _, _ in self.variables)
            fixed = all(w[s] > 0 for kind, w, s in zip(kinds, self.weights, world) if "truth" in kind)
            if fixed and all(self.holds(g, world, env) for g, env in conditions) and not self.holds(f, world, {}):
                return False
        return True

    def observations(self, f: Any, env: dict[str, Any]) -> list[dict[str, Any]]:
        """The bindings of the leading quantifiers of a formula."""
        found = [env]
        for quantifier in self.leading(f)[0]:
            found = [inner for outer in found for inner in self.bindings(quantifier, outer)]
        return found

    def literal(self, text: str) -> tuple[int, int, bool]:
        """The variable of a literal such as `not P0(b1, 2)`, the state it speaks of, and whether it says that it is so."""
        positive = not text.startswith("not ")
        name, inside = text.removeprefix("not ").removesuffix(")").split("(")
        kind, sorts = self.predicates[name]
        cells = inside.split(", ") if inside else []
        terms = tuple(int(cell) if sort == "A" else cell for cell, sort in zip(cells, sorts))
        if kind == "softmax":
            return self.place[name, terms[:-1]], self.sorts["B"].index(terms[-1]), positive
        return self.place[name, terms], 1, positive

    def leading(self, f: Any) -> tuple[list[Any], Any, bool]:
        """The value of a formula by its leading quantifiers: these, what is under them, and whether it is negated."""
        quantifiers, negated = [], False
        while True:
            if f[0] == "not":
                f, negated = f[1], not negated
            elif f[0] == ("exists" if negated else "forall"):
                quantifiers.append(f)
                f = f[4]
            else:
                return quantifiers, f, negated

    def value(self, f: Any, env: dict[str, Any], worlds: list[tuple[tuple[int, ...], float]]) -> float:
        """The mean of the logs of probabilities over the leading quantifiers."""
        total = sum(p for _, p in worlds)
        quantifiers, body, negated = self.leading(f)

        def mean(at: int, env: dict[str, Any]) -> float:
            if at < len(quantifiers):
                each = [mean(at + 1, e) for e in self.bindings(quantifiers[at], env)]
                return sum(each) / len(each) if each else 0.0
            p = sum(p for world, p in worlds if self.holds(body, world, env) != negated) / total
            return min(math.log(p), 0.0) if p > 1e-300 else -1e5

        return mean(0, env)

    # As files and arrays
    def shape(self, name: str) -> list[int]:
        return [len(self.sorts[s]) for s in self.predicates[name][1]]

    def output(self, name: str) -> str:
        kind = self.predicates[name][0]
        return "sigmoid" if kind == "per_class" else kind

    def files(self) -> dict[str, str]:
        manifest = ['theory = "theory.ltn"', 'semantics = "probability"']
        files = {"theory.ltn": self.theory()}
        if "S" in self.sorts:
            manifest.append(f"[sorts.S]\nindividuals = {self.sorts['S']!r}".replace("'", '"'))
        for name, (kind, _) in self.predicates.items():
            width = len(self.sorts["B"]) if kind in ("softmax", "per_class") else 1
            rows = [self.raw[name][i : i + width] for i in range(0, len(self.raw[name]), width)]
            files[f"{name}.csv"] = ",".join(f"c{i}" for i in range(width)) + "\n" + "".join(",".join(map(repr, row)) + "\n" for row in rows)
            key = {"truth": "truth", "log_truth": "log_truth"}.get(kind, "logits")
            manifest.append(f'[predicates.{name}]\n{key} = "{name}.csv"')
            if key == "logits":
                manifest.append(f'output = "{self.output(name)}"')
        manifest += [f"[axioms.{law}]\nhard = true" for law in self.laws]
        files["case.toml"] = "\n".join(manifest) + "\n"
        return files
