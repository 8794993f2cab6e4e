"""Random theories whose worlds can all be gone through: an independent way to know every probability."""

from __future__ import annotations

import itertools
import math
import random
from typing import Any, Callable, Iterator

Env = dict[str, Any]
World = tuple[int, ...]

# Terms: ("v", variable), ("c", individual).
# Guards: (comparison, a, b) of terms, numbers and ("+", term, number), ("in", table, terms), ("not", g), ("and" | "or", g, h).
# Formulas: ("atom" | "use", name, terms), ("not", f), ("and" | "or", fs), ("->" | "<->", f, g), and quantifiers
# ("forall" | "exists" | "all" | "any", binders, guard, f) with binders ("s", variable, sort) and ("t", variables, table).


class Case:
    """A theory, the degrees of its atoms, and its worlds."""

    def __init__(self, seed: int, most: int = 3000) -> None:
        r = self.random = random.Random(seed)
        self.prefix = "v"
        self.looked_at: set[str] = set()  # tables in guards of `all` and `any`
        self.sorts: dict[str, list[Any]] = {
            "A": list(range(r.choice([1, 2, 2, 3]))),
            "B": [f"b{i}" for i in range(r.choice([1, 2, 2, 3, 4, 7]))],
        }
        if r.random() < 0.5:
            self.sorts["S"] = ["s0", "s1"][: r.choice([0, 1, 1, 2])]
        kinds = ["sigmoid", "sigmoid", "truth", "log_truth", "softmax", "softmax", "per_class"]
        if len(self.sorts["B"]) == 1:  # a softmax has two classes or more
            kinds = [kind for kind in kinds if kind != "softmax"]
        self.predicates: dict[str, tuple[str, list[str]]] = {}
        self.variables: list[tuple[str, tuple[Any, ...], int]] = []  # predicate, arguments, how many states
        while True:
            self.predicates.clear()
            for i in range(r.choice([1, 2, 2, 3])):
                kind = r.choice(kinds)
                arguments = [r.choice(list(self.sorts)) for _ in range(r.choice([0, 1, 1, 2]))]
                self.predicates[f"P{i}"] = (kind, arguments + ["B"] if kind in ("softmax", "per_class") else arguments)
            self.variables = []
            for name, (kind, arguments) in self.predicates.items():
                own = arguments[:-1] if kind == "softmax" else arguments
                for tuple_ in itertools.product(*(self.sorts[s] for s in own)):
                    self.variables.append((name, tuple_, len(self.sorts["B"]) if kind == "softmax" else 2))
            if self.variables and math.prod(v[2] for v in self.variables) <= most:
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
                most_ = max(logits)
                total = sum(math.exp(x - most_) for x in logits)
                self.weights.append([math.exp(x - most_) / total for x in logits])
                continue
            x = r.gauss(0, scale)
            t, no = 1 / (1 + math.exp(-x)), 1 / (1 + math.exp(x))
            if kind in ("truth", "log_truth"):
                if r.random() < 0.2:
                    t = float(r.choice([0, 1]) if kind == "truth" else 1)
                no = 1 - t
                x = t if kind == "truth" else math.log(t)
            self.raw[name].append(x)
            self.weights.append([no, t])
        self.tables: dict[str, tuple[list[str], list[tuple[Any, ...]]]] = {}
        for i in range(r.choice([0, 1, 1, 2])):
            columns = [r.choice([s for s in self.sorts if self.sorts[s]]) for _ in range(r.choice([1, 2, 2]))]
            rows = [tuple(r.choice(self.sorts[s]) for s in columns) for _ in range(r.choice([0, 1, 3, 4]))]
            self.tables[f"T{i}"] = (columns, rows + rows[: r.choice([0, 0, 1])])
        self.definitions: dict[str, tuple[list[tuple[str, str]], Any]] = {}
        for i in range(r.choice([0, 0, 1, 2])):
            self.prefix = f"d{i}_"
            parameters = [(f"d{i}", r.choice(list(self.sorts)))][: r.choice([0, 1, 1])]
            self.definitions[f"D{i}"] = (parameters, self.formula(2, list(parameters)))
        self.prefix = "v"
        self.axioms: list[tuple[str, tuple[str, str] | None, Any]] = []
        self.weight: dict[str, float] = {}
        for i in range(r.choice([1, 2, 2, 3])):
            family = (f"f{i}", r.choice(["A", "B"])) if r.random() < 0.25 else None
            self.axioms.append((f"a{i}", family, self.formula(3, [family] if family else [])))
            self.weight[f"a{i}"] = r.choice([1, 1, 2, 0.5])
        self.laws = [name for name, *_ in self.axioms if r.random() < 0.6]

    def formula(self, depth: int, bound: list[Any]) -> Any:
        r = self.random
        kinds = ["atom", "not", "and", "or", "->", "<->", "forall", "exists", "forall", "exists", "all", "any"]
        kind = r.choice(kinds) if depth else "atom"
        if kind == "atom":
            return self.atom(bound)
        if kind == "not":
            return ("not", self.formula(depth - 1, bound))
        if kind in ("and", "or"):
            return (kind, [self.formula(depth - 1, bound) for _ in range(r.choice([2, 2, 3]))])
        if kind in ("->", "<->"):
            return (kind, self.formula(depth - 1, bound), self.formula(depth - 1, bound))
        big = kind in ("all", "any")
        binders: list[Any] = []
        new: list[tuple[str, str]] = []
        for _ in range(1 if big else r.choice([1, 1, 1, 2])):
            fresh = lambda: f"{self.prefix}{len(bound) + len(new)}"
            if self.tables and not big and r.random() < 0.3:
                table = r.choice(list(self.tables))
                names = []
                for sort in self.tables[table][0]:
                    names.append(fresh())
                    new.append((names[-1], sort))
                binders.append(("t", names, table))
            else:
                sort = r.choice(["A", "B"] if big else list(self.sorts))
                binders.append(("s", fresh(), sort))
                new.append((binders[-1][1], sort))
        guard = self.guard(new, [] if big else bound) if r.random() < 0.4 else None
        if big:
            self.looked_at |= {name for name in self.tables if guard and f"'{name}'" in repr(guard)}
        return (kind, binders, guard, self.formula(depth - 1, [*bound, *new]))

    def guard(self, new: list[Any], bound: list[Any], depth: int = 2) -> Any:
        r = self.random
        kind = r.choice(["same", "number", "number", "in", "not", "and", "or"]) if depth else "same"
        if kind in ("and", "or"):
            return (kind, self.guard(new, bound, depth - 1), self.guard(new, bound, depth - 1))
        if kind == "not":
            return ("not", self.guard(new, bound, depth - 1))
        if kind == "in" and self.tables:
            table = r.choice(list(self.tables))
            return ("in", table, [self.term(sort, [*bound, *new]) for sort in self.tables[table][0]])
        numbers = [("v", v) for v, sort in [*bound, *new] if sort == "A"]
        if kind == "number" and numbers:
            left = r.choice(numbers)
            right = r.choice([r.choice([0, 1, 2]), r.choice(numbers)])
            comparison = r.choice(["=", "!=", "<", "<=", ">", ">="])
            return (comparison, ("+", left, r.choice([0, 1])), right)
        variable, sort = r.choice(new)
        return (r.choice(["=", "!="]), ("v", variable), self.term(sort, [*bound, *new]))

    def atom(self, bound: list[Any]) -> Any:
        r = self.random
        # Of a sort without members there are not constants.
        known = {sort for sort, members in self.sorts.items() if members} | {sort for _, sort in bound}
        usable = [name for name, (parameters, _) in self.definitions.items() if all(sort in known for _, sort in parameters)]
        if usable and r.random() < 0.4:
            name = r.choice(usable)
            return ("use", name, [self.term(sort, bound) for _, sort in self.definitions[name][0]])
        usable = [name for name, (_, arguments) in self.predicates.items() if known.issuperset(arguments)]
        name = r.choice(usable)
        return ("atom", name, [self.term(sort, bound) for sort in self.predicates[name][1]])

    def term(self, sort: str, bound: list[Any]) -> Any:
        same = [("v", v) for v, s in bound if s == sort]
        if same and (not self.sorts[sort] or self.random.random() < 0.8):
            return self.random.choice(same)
        return ("c", self.random.choice(self.sorts[sort]))

    # As text
    def guard_text(self, g: Any) -> str:
        if isinstance(g, int):
            return str(g)
        kind = g[0]
        if kind in ("v", "c"):
            return str(g[1])
        if kind == "+":
            return f"{self.guard_text(g[1])} + {g[2]}" if g[2] else self.guard_text(g[1])
        if kind == "in":
            return f"{g[1]}({', '.join(map(self.guard_text, g[2]))})"
        if kind == "not":
            return f"not ({self.guard_text(g[1])})"
        if kind in ("and", "or"):
            return f"(({self.guard_text(g[1])}) {kind} ({self.guard_text(g[2])}))"
        return f"{self.guard_text(g[1])} {kind} {self.guard_text(g[2])}"

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
        _, binders, guard, body = f
        bound = ", ".join(f"{b[1]}: {b[2]}" if b[0] == "s" else f"({', '.join(b[1])}) in {b[2]}" for b in binders)
        where = f" where {self.guard_text(guard)}" if guard else ""
        return f"{kind} {bound}{where}. {self.text(body)}"

    def theory(self) -> str:
        lines = [f"sort A = 0..{len(self.sorts['A']) - 1}", f"sort B = {{{', '.join(self.sorts['B'])}}}"]
        if "S" in self.sorts:
            lines.append("sort S")
        for name, (columns, _) in self.tables.items():
            lines.append(f"table {name}({', '.join(f'c{i}: {s}' for i, s in enumerate(columns))})")
        lines += [f"predicate {name}({', '.join(arguments)})" for name, (_, arguments) in self.predicates.items()]
        for name, (parameters, f) in self.definitions.items():
            lines.append(f"define {name}({', '.join(f'{v}: {s}' for v, s in parameters)}): {self.text(f)}")
        for name, family, f in self.axioms:
            weight = f" (weight {self.weight[name]})" if self.weight[name] != 1 else ""
            lines.append(f"axiom {name}{weight}{f' for {family[0]}: {family[1]}' if family else ''}: {self.text(f)}")
        return "\n".join(lines) + "\n"

    # Truth in a world
    def passes(self, g: Any, env: Env) -> Any:
        if g is None or isinstance(g, int):
            return g is None or g
        kind = g[0]
        if kind == "v":
            return env[g[1]]
        if kind == "c":
            return g[1]
        if kind == "+":
            return self.passes(g[1], env) + g[2]
        if kind == "in":
            return tuple(self.passes(t, env) for t in g[2]) in self.tables[g[1]][1]
        if kind == "not":
            return not self.passes(g[1], env)
        left, right = self.passes(g[1], env), self.passes(g[2], env)
        if kind in ("and", "or"):
            return (left and right) if kind == "and" else (left or right)
        if kind in ("=", "!="):
            return (left == right) == (kind == "=")
        return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[kind]

    def inside(self, f: Any, env: Env) -> tuple[Any, Env]:
        """What a use of a definition means."""
        parameters, body = self.definitions[f[1]]
        return body, {v: self.passes(t, env) for (v, _), t in zip(parameters, f[2])}

    def holds(self, f: Any, world: World, env: Env) -> bool:
        kind = f[0]
        if kind == "atom":
            terms = tuple(self.passes(t, env) for t in f[2])
            if self.predicates[f[1]][0] == "softmax":
                return world[self.place[f[1], terms[:-1]]] == self.sorts["B"].index(terms[-1])
            return world[self.place[f[1], terms]] == 1
        if kind == "use":
            body, inner = self.inside(f, env)
            return self.holds(body, world, inner)
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
        each = (self.holds(f[3], world, e) for e in self.bindings(f, env))
        return all(each) if kind in ("forall", "all") else any(each)

    def bindings(self, f: Any, env: Env) -> Iterator[Env]:
        _, binders, guard, _ = f
        ranges = [[(i,) for i in self.sorts[b[2]]] if b[0] == "s" else self.tables[b[2]][1] for b in binders]
        names = [[b[1]] if b[0] == "s" else b[1] for b in binders]
        for chosen in itertools.product(*ranges):
            inner = dict(env)
            for own, individuals in zip(names, chosen):
                inner.update(zip(own, individuals))
            if self.passes(guard, inner):
                yield inner

    def members(self, name: str) -> list[tuple[str, Any, Env]]:
        family, f = next((family, f) for n, family, f in self.axioms if n == name)
        if family is None:
            return [(name, f, {})]
        return [(f"{name}[{i}]", f, {family[0]: i}) for i in self.sorts[family[1]]]

    def all_worlds(self) -> Iterator[World]:
        return itertools.product(*(range(states) for _, _, states in self.variables))

    def keeping(self, laws: list[str]) -> list[World]:
        conditions = [(f, env) for law in laws for _, f, env in self.members(law)]
        return [w for w in self.all_worlds() if all(self.holds(f, w, env) for f, env in conditions)]

    def probability(self, world: World) -> float:
        return math.prod(w[s] for w, s in zip(self.weights, world))

    def worlds(self, laws: list[str]) -> list[tuple[World, float]]:
        """Those that keep the laws and are possible, with their probabilities before conditioning."""
        each = ((world, self.probability(world)) for world in self.keeping(laws))
        return [(world, p) for world, p in each if p > 0]

    def entails(self, f: Any) -> bool:
        """Whether a formula follows from all axioms, where atoms of degree 0 and 1 of truth values are as they are."""
        kinds = [self.predicates[name][0] for name, _, _ in self.variables]
        for world in self.keeping([name for name, *_ in self.axioms]):
            fixed = all(w[s] > 0 for kind, w, s in zip(kinds, self.weights, world) if "truth" in kind)
            if fixed and not self.holds(f, world, {}):
                return False
        return True

    def observations(self, f: Any, env: Env) -> list[tuple[float, Env, Any, bool]]:
        """The bindings of the leading quantifiers of a formula: share, environment, what is under them, whether it is negated."""

        def go(f: Any, env: Env, negated: bool, share: float) -> Iterator[tuple[float, Env, Any, bool]]:
            if f[0] == "not":
                yield from go(f[1], env, not negated, share)
            elif f[0] == "use":
                body, inner = self.inside(f, env)
                yield from go(body, {**env, **inner}, negated, share)
            elif f[0] == ("exists" if negated else "forall"):
                each = list(self.bindings(f, env))
                for inner in each:
                    yield from go(f[3], inner, negated, share / len(each))
            else:
                yield share, env, f, negated

        return list(go(f, env, False, 1.0))

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

    def value(self, f: Any, env: Env, worlds: list[tuple[World, float]]) -> float:
        """The mean of the logs of probabilities over the leading quantifiers."""
        total = sum(p for _, p in worlds)
        value = 0.0
        for share, inner, body, negated in self.observations(f, env):
            p = sum(p for world, p in worlds if self.holds(body, world, inner) != negated) / total
            value += share * (min(math.log(p), 0.0) if p > 0 else -1e5)
        return value

    def slopes(self, worlds: list[World], value: Callable[[World], float] = lambda _: 1.0) -> list[list[float]]:
        """By the numbers behind each variable, the derivatives of Σ value · probability over some worlds, divided by their
        probability: of 1 those of its log, of something less its mean those of that mean. Zeros if the worlds are impossible."""
        total = sum(map(self.probability, worlds))
        out = []
        for at, (name, _, states) in enumerate(self.variables):
            own = [0.0] * states
            for world in worlds if total > 0 else []:
                others = math.prod(w[s] for i, (w, s) in enumerate(zip(self.weights, world)) if i != at)
                own[world[at]] += others / total * value(world)
            w, kind = self.weights[at], self.predicates[name][0]
            if kind == "softmax":
                mean = sum(a * b for a, b in zip(own, w))
                out.append([a * (b - mean) for a, b in zip(w, own)])
            else:
                speed = {"truth": 1.0, "log_truth": w[1]}.get(kind, w[0] * w[1])
                out.append([speed * (own[1] - own[0])])
        return out

    def mean_slopes(self, worlds: list[World], value: Callable[[World], float]) -> list[list[float]]:
        """The derivatives of the mean of something over worlds."""
        p = [self.probability(w) for w in worlds]
        mean = sum(a * value(w) for w, a in zip(worlds, p) if a > 0) / sum(p)
        return self.slopes(worlds, lambda w: value(w) - mean)

    def by_predicate(self, by_variable: list[list[float]]) -> dict[str, list[float]]:
        out: dict[str, list[float]] = {name: [] for name in self.predicates}
        for (name, *_), by in zip(self.variables, by_variable):
            out[name] += by
        return out

    def soft(self) -> list[tuple[str, Any, Env]]:
        return [member for name, *_ in self.axioms if name not in self.laws for member in self.members(name)]

    def loss_slopes(self) -> dict[str, list[float]]:
        """The derivatives of the loss by all numbers, as in the files."""
        kept = self.keeping(self.laws)
        given = self.slopes(kept)
        total = [[0.0] * len(g) for g in given]
        weights = [self.weight[name.split("[")[0]] for name, *_ in self.soft()]
        for (name, f, env), weight in zip(self.soft(), weights):
            for share, inner, body, negated in self.observations(f, env):
                event = [w for w in kept if self.holds(body, w, inner) != negated]
                if sum(map(self.probability, event)) <= 0:
                    continue
                for to, by, less in zip(total, self.slopes(event), given):
                    for i in range(len(to)):
                        to[i] -= weight / sum(weights) * share * (by[i] - less[i])
        return self.by_predicate(total)

    def loss(self, worlds: list[tuple[World, float]]) -> float:
        weights = [self.weight[name.split("[")[0]] for name, *_ in self.soft()]
        values = [self.value(f, env, worlds) for _, f, env in self.soft()]
        return -sum(a * b for a, b in zip(weights, values)) / sum(weights) if values else 0.0

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
        if self.tables:
            manifest.append("[tables]")
        for name, (columns, rows) in self.tables.items():
            manifest.append(f'{name} = {{ rows = "{name}.csv" }}')
            lines = [",".join(f"c{i}" for i in range(len(columns)))] + [",".join(map(str, row)) for row in rows]
            files[f"{name}.csv"] = "\n".join(lines) + "\n"
        for name, (kind, _) in self.predicates.items():
            width = len(self.sorts["B"]) if kind in ("softmax", "per_class") else 1
            rows_ = [self.raw[name][i : i + width] for i in range(0, len(self.raw[name]), width)]
            files[f"{name}.csv"] = ",".join(f"c{i}" for i in range(width)) + "\n" + "".join(",".join(map(repr, row)) + "\n" for row in rows_)
            key = {"truth": "truth", "log_truth": "log_truth"}.get(kind, "logits")
            manifest.append(f'[predicates.{name}]\n{key} = "{name}.csv"')
            if key == "logits":
                manifest.append(f'output = "{self.output(name)}"')
        manifest += [f"[axioms.{law}]\nhard = true" for law in self.laws]
        files["case.toml"] = "\n".join(manifest) + "\n"
        return files
