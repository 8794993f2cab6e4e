"""Theories for the race: the fixed shapes, and a generator of random ones. A formula is a tuple:

    ("lit", predicate, variables)   ("not", f)   ("and", f, …)   ("or", f, …)   ("->", f, g)   ("<->", f, g)
    ("forall" | "exists", variables, table or None, f)

A variable is named after its sort, `x1` ranges over sort X; a table binds all columns of a row.
"""

import random
from dataclasses import dataclass, field


@dataclass
class Theory:
    name: str
    sorts: dict[str, int]  # by letter: how many individuals
    predicates: dict[str, tuple[str, bool]]  # the sorts of the arguments, and whether the last one picks a class of a softmax
    axioms: list
    tables: dict[str, tuple[str, int]] = field(default_factory=dict)  # the sorts of the columns, and how many rows

    def text(self):
        lines = [f"sort {s.upper()}" if not self.is_classes(s) else f"sort {s.upper()} = 0..{n - 1}" for s, n in self.sorts.items()]
        lines += [f"table {t}({', '.join(f'c{i}: {s.upper()}' for i, s in enumerate(of))})" for t, (of, _) in self.tables.items()]
        lines += [f"predicate {p}({', '.join(s.upper() for s in of)})" for p, (of, _) in self.predicates.items()]
        lines += [f"axiom a{i}: {show(f)}" for i, f in enumerate(self.axioms)]
        return "\n".join(lines)

    def is_classes(self, sort):
        return any(softmax and of[-1] == sort for of, softmax in self.predicates.values())


def show(f, top=True):
    match f:
        case ("lit", predicate, variables):
            return f"{predicate}({', '.join(variables)})" if variables else predicate
        case ("not", a):
            return f"not {show(a, False)}"
        case ("forall" | "exists", variables, table, body):
            bound = f"({', '.join(variables)}) in {table}" if table else ", ".join(f"{v}: {v[0].upper()}" for v in variables)
            text = f"{f[0]} {bound}. {show(body)}"
        case (op, *members):
            text = f" {op} ".join(show(m, False) for m in members)
    return text if top else f"({text})"


def lit(predicate, *variables):
    return ("lit", predicate, variables)


def forall(variables, body, table=None):
    return ("forall", tuple(variables.split()), table, body)


def exists(variables, body, table=None):
    return ("exists", tuple(variables.split()), table, body)


def fixed():
    """The shapes that were raced by hand first, most of which were lost."""
    binary = {"r": ("xx", False), "q": ("xx", False), "s": ("x", False), "t": ("x", False)}
    r, q, s, t = ("r", "q", "s", "t")
    some = exists("x2", ("and", lit(r, "x1", "x2"), lit(s, "x2")))

    def theory(name, n, *axioms):
        used = {p for p in binary for a in axioms if f"{p}(" in show(a)}
        return Theory(name, {"x": n}, {p: binary[p] for p in binary if p in used}, list(axioms))

    yield theory(
        "nested quantifiers, 300",
        300,
        forall("x1", exists("x2", ("and", lit(r, "x1", "x2"), forall("x3", ("->", lit(r, "x2", "x3"), lit(s, "x3")))))),
    )
    yield theory(
        "r -> exists, 300",
        300,
        forall("x1 x2", ("->", lit(r, "x1", "x2"), exists("x3", ("and", lit(r, "x2", "x3"), lit(s, "x3"))))),
    )
    yield theory("product of matrices, 150", 150, forall("x1 x3", exists("x2", ("and", lit(r, "x1", "x2"), lit(q, "x2", "x3")))))
    yield theory("forall exists, 1000", 1000, forall("x1", some))
    for n in (3, 6, 12, 24):
        predicates = {f"p{i}": ("x", False) for i in range(n)}
        members = [lit(p, "x1") if i % 3 else ("not", lit(p, "x1")) for i, p in enumerate(predicates)]
        yield Theory(f"clause of {n} literals, 20,000", {"x": 20_000}, predicates, [forall("x1", ("or", *members))])
    yield Theory(
        "softmax of 200 classes, 4,000",
        {"x": 4_000, "c": 200},
        {"k": ("xc", True)},
        [forall("x1", exists("c1", lit("k", "x1", "c1"))), forall("c1", exists("x1", lit("k", "x1", "c1")))],
    )
    yield Theory(
        "forall exists forall, 60",
        {"x": 60},
        {"u": ("xxx", False)},
        [forall("x1", exists("x2", forall("x3", lit("u", "x1", "x2", "x3"))))],
    )
    yield theory(
        "the same exists in two axioms, 500",
        500,
        forall("x1", ("->", lit(t, "x1"), some)),
        forall("x1", ("->", lit(s, "x1"), some)),
    )
    yield theory("<-> over pairs, 600", 600, forall("x1 x2", ("<->", lit(r, "x1", "x2"), lit(q, "x1", "x2"))))
    yield theory(
        "two hops, 120",
        120,
        forall("x1 x2 x3", ("->", ("and", lit(r, "x1", "x2"), lit(r, "x2", "x3")), lit(q, "x1", "x3"))),
    )
    yield theory("all pairs of two lists, 1500", 1500, forall("x1 x2", ("->", lit(s, "x1"), lit(t, "x2"))))
    yield theory("symmetry, 600", 600, forall("x1 x2", ("->", lit(r, "x1", "x2"), lit(r, "x2", "x1"))))


class Generator:
    """Random theories of few axioms, each of which broadcasting can compute in some million numbers."""

    MOST = 8_000_000

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.seed = seed

    def join(self):
        """A rule as knowledge graphs have them: an `exists` over a conjunction of literals that tie all variables together."""
        rng = self.random
        kinds = "xy" if rng.random() < 0.3 else "x"
        self.count, self.sorts = {}, {s: rng.choice([10, 30, 60, 100, 150]) for s in kinds}
        variables = [self.fresh(rng.choice(kinds)) for _ in range(rng.randint(3, 5))]
        pairs = [(rng.choice(variables[:i]), v) for i, v in enumerate(variables) if i]
        if rng.random() < 0.3:
            pairs.append(tuple(rng.sample(variables, 2)))
        self.predicates, members = {}, []
        for pair in pairs + [(v,) for v in variables if rng.random() < 0.2]:
            pair = tuple(rng.sample(pair, len(pair)))
            same = [p for p, (of, _) in self.predicates.items() if of == "".join(v[0] for v in pair)]
            predicate = rng.choice(same) if same and rng.random() < 0.4 else f"p{len(self.predicates)}"
            self.predicates[predicate] = "".join(v[0] for v in pair), False
            literal = lit(predicate, *pair)
            members.append(("not", literal) if rng.random() < 0.15 else literal)
        outer = rng.sample(variables, rng.choice([1, 2, 2]))
        inner = tuple(v for v in variables if v not in outer)
        body = ("exists", inner, None, ("and", *members))
        axiom = ("forall", tuple(outer), None, body)
        used = {v[0] for v in variables}
        return Theory(f"join {self.seed}", {s: n for s, n in self.sorts.items() if s in used}, self.predicates, [axiom])

    def theory(self):
        rng = self.random
        sizes = [3, 10, 30, 60, 100, 150, 300, 600, 1000, 3000]
        self.sorts = {s: rng.choice(sizes) for s in "xyz"[: rng.randint(1, 3)]}
        if rng.random() < 0.3:
            self.sorts["c"] = rng.choice([2, 5, 10, 50])
        entities = [s for s in self.sorts if s != "c"]
        self.predicates = {}
        for i in range(rng.randint(2, 6)):
            of = "".join(rng.choice(entities) for _ in range(rng.choice([1, 1, 2, 2, 2, 3])))
            if self.size(of) <= self.MOST / 4:
                self.predicates[f"p{i}"] = (of, False)
        if "c" in self.sorts:
            of = rng.choice(entities) + "c"
            self.predicates["k"] = (of, True)
        if not self.predicates:
            return self.theory()
        self.tables = {}
        for i in range(rng.choice([0, 0, 1])):
            of = "".join(rng.choice(entities) for _ in range(rng.randint(1, 2)))
            self.tables[f"rows{i}"] = (of, rng.choice([10, 100, 1000, 10_000]))
        axioms = [a for a in (self.axiom() for _ in range(rng.randint(1, 4))) if a]
        if not axioms:
            return self.theory()
        used = set().union(*map(predicates_of, axioms))
        predicates = {p: of for p, of in self.predicates.items() if p in used}
        sorts = {s for of, _ in predicates.values() for s in of} | {v[0] for a in axioms for v in variables_of(a)}
        tables = {t: of for t, of in self.tables.items() if any(f"in {t}." in show(a) for a in axioms)}
        return Theory(f"random {self.seed}", {s: n for s, n in self.sorts.items() if s in sorts}, predicates, axioms, tables)

    def size(self, sorts):
        size = 1
        for s in sorts:
            size *= self.sorts[s]
        return size

    def axiom(self):
        self.count = {}
        rng = self.random
        if self.tables and rng.random() < 0.4:
            table = rng.choice(list(self.tables))
            bound = tuple(self.fresh(s) for s in self.tables[table][0])
            body = self.formula(list(bound), 3, self.tables[table][1])
            formula = body and ("forall", bound, table, body)
        else:
            formula = self.quantified([], 4, 1, rng.random() < 0.9)
        return formula if formula and not unread(formula) else None

    def fresh(self, sort):
        self.count[sort] = self.count.get(sort, 0) + 1
        return f"{sort}{self.count[sort]}"

    def quantified(self, scope, depth, rows, forall):
        rng = self.random
        new, size = [], rows
        for _ in range(rng.choice([1, 1, 2])):
            sort = rng.choice(list(self.sorts))
            if size * self.sorts[sort] <= self.MOST:
                new.append(self.fresh(sort))
                size *= self.sorts[sort]
        if not new:
            return None
        body = self.formula(scope + new, depth - 1, size)
        return body and ("forall" if forall else "exists", tuple(new), None, body)

    def formula(self, scope, depth, rows):
        rng = self.random
        kind = rng.random()
        if depth <= 0 or kind < 0.15:
            return self.literal(scope)
        if kind < 0.45:
            found = self.quantified(scope, depth, rows, rng.random() < 0.3)
            return found or self.literal(scope)
        op = rng.choice(["and", "or", "->", "->", "<->"])
        count = rng.choice([2, 2, 3, 5]) if op in ("and", "or") else 2
        members = [self.formula(scope, depth - 1 if i == 0 else depth - 2, rows) for i in range(count)]
        return (op, *members) if all(members) else None

    def literal(self, scope):
        rng = self.random
        fits = [p for p, (of, _) in self.predicates.items() if all(any(v[0] == s for v in scope) for s in of)]
        if not fits:
            return None
        # Those that read the newest variable are likelier to be meant.
        newest = [p for p in fits if scope[-1][0] in self.predicates[p][0]]
        predicate = rng.choice(newest if newest and rng.random() < 0.8 else fits)
        arguments = []
        for s in self.predicates[predicate][0]:
            of_sort = [v for v in scope if v[0] == s]
            arguments.append(of_sort[-1] if of_sort[-1] not in arguments and rng.random() < 0.6 else rng.choice(of_sort))
        found = ("lit", predicate, tuple(arguments))
        return ("not", found) if rng.random() < 0.25 else found


def predicates_of(f):
    match f:
        case ("lit", predicate, _):
            return {predicate}
        case ("forall" | "exists", _, _, body):
            return predicates_of(body)
        case (_, *members):
            return set().union(*map(predicates_of, members))


def variables_of(f):
    match f:
        case ("lit", _, variables):
            return set(variables)
        case ("forall" | "exists", variables, _, body):
            return set(variables) | variables_of(body)
        case (_, *members):
            return set().union(*map(variables_of, members))


def free(f):
    match f:
        case ("lit", _, variables):
            return set(variables)
        case ("forall" | "exists", variables, _, body):
            return free(body) - set(variables)
        case (_, *members):
            return set().union(*map(free, members))


def unread(f):
    """Whether a quantifier binds a variable that nothing reads: nobody would write that."""
    match f:
        case ("lit", *_):
            return False
        case ("forall" | "exists", variables, _, body):
            return not set(variables) <= free(body) or unread(body)
        case (_, *members):
            return any(map(unread, members))
