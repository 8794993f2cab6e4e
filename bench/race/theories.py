"""Theories for the race: the fixed shapes, and a generator of random ones. A formula is a tuple:

    ("lit", predicate, arguments)   ("not", f)   ("and", f, …)   ("or", f, …)   ("->", f, g)   ("<->", f, g)
    ("forall" | "exists", binders, guard or None, f)   ("any" | "all", (variable,), guard or None, f)

A variable is named after its sort, `x1` ranges over sort X; `X1` is a constant, `f0(x1)` the value of a function. A binder is a variable or (table, variables), which binds all
columns of a row. An axiom may be ("for", variable, f), a family. Sorts named c, d, m and n are integers. The predicate of a literal may be a definition.
"""

import random
from dataclasses import dataclass, field

import guards

INTEGERS = "cdmn"
QUANTIFIERS = "forall", "exists", "any", "all"


@dataclass
class Theory:
    name: str
    sorts: dict[str, int]  # by letter: how many individuals
    predicates: dict[str, tuple[str, bool]]  # the sorts of the arguments, and whether the last one picks a class of a softmax
    axioms: list
    tables: dict[str, tuple[str, int]] = field(default_factory=dict)  # the sorts of the columns, and how many rows
    definitions: dict[str, tuple] = field(default_factory=dict)  # the variables, the depth or None, and the formula
    functions: dict[str, tuple[str, str]] = field(default_factory=dict)  # from one sort to another
    weights: list[float] = field(default_factory=list)  # of the axioms, if not all 1
    near: float = 0.0  # what share of the pairs of individuals are near each other

    def text(self):
        lines = [f"sort {s.upper()} = 0..{n - 1}" if s in INTEGERS else f"sort {s.upper()}" for s, n in self.sorts.items()]
        lines += ["param near"] * bool(self.near)
        lines += [f"constant {c}: {c[0]}" for c in sorted(self.constants())]
        lines += [f"table {t}({', '.join(f'c{i}: {s.upper()}' for i, s in enumerate(of))})" for t, (of, _) in self.tables.items()]
        lines += [f"function {f}({a.upper()}): {b.upper()}" for f, (a, b) in self.functions.items()]
        lines += [f"predicate {p}({', '.join(s.upper() for s in of)})" for p, (of, _) in self.predicates.items()]
        for name, (variables, depth, f) in self.definitions.items():
            bound = ", ".join(f"{v}: {v[0].upper()}" for v in variables)
            lines.append(f"define {name}({bound}){f' to depth {depth}' if depth else ''}: {show(f)}")
        for i, f in enumerate(self.axioms):
            family = f" for {f[1]}: {f[1][0].upper()}" if f[0] == "for" else ""
            weight = f" (weight {self.weights[i]})" if self.weights else ""
            lines.append(f"axiom a{i}{weight}{family}: {show(f[2] if family else f)}")
        return "\n".join(lines)

    def formulas(self):
        return [*self.axioms, *(f for _, _, f in self.definitions.values())]

    def constants(self):
        """Those of sorts that are not integers."""
        return {a for f in self.formulas() for a in arguments_of(f) if a[0].isupper() and a[0].lower() not in INTEGERS}


def show(f, top=True):
    match f:
        case ("lit", predicate, arguments):
            return f"{predicate}({', '.join(a[1:] if a[0].isupper() and a[0].lower() in INTEGERS else a for a in arguments)})"
        case ("not", a):
            return f"not {show(a, False)}"
        case ("forall" | "exists" | "all" | "any", binders, guard, body):
            bound = ", ".join(f"{b}: {b[0].upper()}" if isinstance(b, str) else f"({', '.join(b[1])}) in {b[0]}" for b in binders)
            where = f" where {guards.show(guard)}" if guard else ""
            text = f"{f[0]} {bound}{where}. {show(body)}"
        case (op, *members):
            text = f" {op} ".join(show(m, False) for m in members)
    return text if top else f"({text})"


def lit(predicate, *variables):
    return ("lit", predicate, variables)


def quantifier(kind):
    """`binders` are names of variables in a text, or as they are in a formula."""
    return lambda binders, body, where=None: (kind, tuple(binders.split()) if isinstance(binders, str) else binders, where, body)


forall, exists, every, some = map(quantifier, ("forall", "exists", "all", "any"))


def fixed():
    """The shapes that were raced by hand first, most of which were lost."""
    binary = {"r": ("xx", False), "q": ("xx", False), "s": ("x", False), "t": ("x", False)}
    r, q, s, t = ("r", "q", "s", "t")
    one = exists("x2", ("and", lit(r, "x1", "x2"), lit(s, "x2")))

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
    yield theory("forall exists, 1000", 1000, forall("x1", one))
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
        forall("x1", ("->", lit(t, "x1"), one)),
        forall("x1", ("->", lit(s, "x1"), one)),
    )
    yield theory("<-> over pairs, 600", 600, forall("x1 x2", ("<->", lit(r, "x1", "x2"), lit(q, "x1", "x2"))))
    yield theory(
        "two hops, 120",
        120,
        forall("x1 x2 x3", ("->", ("and", lit(r, "x1", "x2"), lit(r, "x2", "x3")), lit(q, "x1", "x3"))),
    )
    yield theory("all pairs of two lists, 1500", 1500, forall("x1 x2", ("->", lit(s, "x1"), lit(t, "x2"))))
    yield theory("symmetry, 600", 600, forall("x1 x2", ("->", lit(r, "x1", "x2"), lit(r, "x2", "x1"))))


def implies(a, b):
    return ("->", a, b)


def wide():
    """Shapes with guards, labels, definitions, families, rows of several tables, and the smallest and largest sorts."""
    r, s, t, k = "r", "s", "t", "k"
    pairs, of_x = {"r": ("xx", False)}, {"s": ("x", False), "t": ("x", False)}
    classes, other = {"k": ("xc", True)}, {"l": ("yc", True)}
    symmetric = implies(lit(r, "x1", "x2"), lit(r, "x2", "x1"))
    differ, near = ("!=", "x1", "x2"), ("near", "x1", "x2")
    alike = implies(lit(s, "x1"), lit(s, "x2"))
    same = implies(lit(k, "x1", "c1"), lit(k, "x2", "c1"))
    yield Theory("x != y, symmetry, 1000", {"x": 1000}, pairs, [forall("x1 x2", symmetric, differ)])
    yield Theory("x != y, one literal, 1000", {"x": 1000}, pairs, [forall("x1 x2", ("not", lit(r, "x1", "x2")), differ)])
    yield Theory("x != y, exists, 1000", {"x": 1000}, pairs, [forall("x1", exists("x2", lit(r, "x1", "x2"), differ))])
    yield Theory(
        "x != y, exists of two, 1000",
        {"x": 1000},
        {**pairs, "s": ("x", False)},
        [forall("x1", exists("x2", ("and", lit(r, "x1", "x2"), lit(s, "x2")), differ))],
    )
    yield Theory(
        "functional: y != z, 120",
        {"x": 120},
        pairs,
        [forall("x1 x2 x3", ("not", ("and", lit(r, "x3", "x1"), lit(r, "x3", "x2"))), differ)],
    )
    yield Theory("x != y of two lists, 1500", {"x": 1500}, {"s": ("x", False)}, [forall("x1 x2", alike, differ)])
    yield Theory("x != y, 20 classes, 300", {"x": 300, "c": 20}, classes, [forall("x1 x2 c1", same, differ)])
    yield Theory(
        "x != y, a product of matrices, 200",
        {"x": 200},
        {**pairs, "q": ("xx", False)},
        [forall("x1 x3", exists("x2", ("and", lit(r, "x1", "x2"), lit("q", "x2", "x3")), differ))],
    )
    hops = exists("x2", ("and", lit(r, "x1", "x2"), lit("q", "x2", "x3")))
    for name, guard in {"x != z": ("!=", "x1", "x3"), "near 10%": ("near", "x1", "x3")}.items():
        predicates = {**pairs, "q": ("xx", False), "o": ("xx", False)}
        yield Theory(
            f"{name} around a product, 200",
            {"x": 200},
            predicates,
            [forall("x1 x3", implies(lit("o", "x1", "x3"), hops), guard)],
            near=0.1 * (guard[0] == "near"),
        )
    both = exists("x2", hops[3], ("and", differ, ("!=", "x2", "x3")))
    yield Theory("y apart from x and z, 200", {"x": 200}, {**pairs, "q": ("xx", False)}, [forall("x1 x3", both)])
    wide_hops = forall("x1 x2 x3", implies(hops[3], lit("q", "x1", "x3")), ("!=", "x1", "x3"))
    yield Theory("transitivity, x != z, 120", {"x": 120}, {**pairs, "q": ("xx", False)}, [wide_hops])
    likes = exists("x2", ("and", lit(r, "x1", "x2"), lit(s, "x2")), differ)
    yield Theory(
        "r -> exists apart, 300",
        {"x": 300},
        {**pairs, "s": ("x", False), "t": ("x", False)},
        [
            forall("x1", implies(lit(t, "x1"), likes)),
            forall(
                "x1 x2", implies(lit(r, "x1", "x2"), likes[:1] + (("x3",), ("!=", "x2", "x3"), ("and", lit(r, "x2", "x3"), lit(s, "x3"))))
            ),
        ],
    )
    ordered, of_n = ("<", "n1", "n2"), {"p": ("nn", False), "q": ("nn", False)}
    yield Theory("x < y, 1000", {"n": 1000}, of_n, [forall("n1 n2", implies(lit("p", "n1", "n2"), lit("q", "n1", "n2")), ordered)])
    steps = implies(("and", lit("p", "n1", "n2"), lit("p", "n2", "n3")), lit("p", "n1", "n3"))
    yield Theory("x < y < z, 120", {"n": 120}, {"p": of_n["p"]}, [forall("n1 n2 n3", steps, ("and", ordered, ("<", "n2", "n3")))])
    yield Theory(
        "x < y, exists, 1000",
        {"n": 1001},
        {"p": ("nn", False)},
        [forall("n1", exists("n2", lit("p", "n1", "n2"), ("<", "n1", ("+", "n2", 1))))],
    )
    yield Theory(
        "x + y = z, 300",
        {"n": 300},
        {"a": ("n", False), "b": ("n", False)},
        [forall("n1 n2 n3", implies(("and", lit("a", "n1"), lit("b", "n2")), lit("a", "n3")), ("=", ("+", "n1", "n2"), "n3"))],
    )
    for share in (0.02, 0.1, 0.5):
        yield Theory(f"near {share:.0%}, 1500", {"x": 1500}, {"s": ("x", False)}, [forall("x1 x2", alike, near)], near=share)
        yield Theory(f"near {share:.0%}, 10 classes, 400", {"x": 400, "c": 10}, classes, [forall("x1 x2 c1", same, near)], near=share)
        yield Theory(
            f"near {share:.0%}, r(x, y), 1000",
            {"x": 1000},
            {**pairs, "s": ("x", False)},
            [forall("x1 x2", implies(lit(r, "x1", "x2"), lit(s, "x2")), near)],
            near=share,
        )
    known = {"rows": ("xx", 5000)}
    inside = ("in", "rows", ("x1", "x2"))
    yield Theory(
        "not in a table, 600",
        {"x": 600},
        pairs,
        [forall("x1 x2", ("not", lit(r, "x1", "x2")), ("not", inside)), forall((("rows", ("x1", "x2")),), lit(r, "x1", "x2"))],
        known,
    )
    yield Theory(
        "in a table, exists, 600",
        {"x": 600},
        {**pairs, "s": ("x", False)},
        [forall("x1", exists("x2", ("and", lit(r, "x1", "x2"), lit(s, "x2")), ("or", inside, ("=", "x1", "x2"))))],
        known,
    )
    yield Theory(
        "any of 3 of 20 labels, 5000",
        {"x": 5000, "c": 20},
        {**classes, "s": ("x", False)},
        [forall("x1", implies(lit(s, "x1"), some("c1", lit(k, "x1", "c1"), ("<", "c1", 3))))],
    )
    apart = every("c2", ("not", ("and", lit("p", "x1", "c1"), lit("p", "x1", "c2"))), ("!=", "c1", "c2"))
    yield Theory("one label at most, 500", {"x": 500, "c": 10}, {"p": ("xc", False)}, [forall("x1", every("c1", apart))])
    yield Theory(
        "a family of 20, 2000",
        {"x": 2000, "c": 20},
        {**classes, "p": ("xc", False)},
        [("for", "c1", forall("x1", implies(lit(k, "x1", "c1"), lit("p", "x1", "c1"))))],
    )
    deep = exists("x4", ("and", lit(r, "x3", "x4"), lit(s, "x4")))
    deep = exists("x2", ("and", lit(r, "x1", "x2"), forall("x3", implies(lit("q", "x2", "x3"), deep))))
    yield Theory("three deep, 300", {"x": 300}, {**pairs, "q": ("xx", False), "s": ("x", False)}, [forall("x1", deep)])
    yield Theory(
        "ternary, 100",
        {"x": 100},
        {"u": ("xxx", False)},
        [forall("x1 x2 x3", implies(lit("u", "x1", "x2", "x3"), lit("u", "x3", "x2", "x1")))],
    )
    tables = {"rows": ("x", 200), "others": ("y", 200)}
    both = (("rows", ("x1",)), ("others", ("y1",)), "c1")
    yield Theory(
        "rows of two tables and a class",
        {"x": 500, "y": 500, "c": 10},
        classes | other,
        [forall(both, implies(lit(k, "x1", "c1"), lit("l", "y1", "c1")))],
        tables,
    )
    labelled = {"rows": ("xc", 600)}
    both = (("rows", ("x1", "c1")), ("rows", ("x2", "c2")))
    yield Theory(
        "pairs of rows with other labels, 600",
        {"x": 600, "c": 10},
        pairs,
        [forall(both, ("not", lit(r, "x1", "x2")), ("!=", "c1", "c2"))],
        labelled,
    )
    grand = ("x1", "x2"), None, exists("x3", ("and", lit("parent", "x1", "x3"), lit("parent", "x3", "x2")))
    uses = [forall("x1 x2", implies(lit("grand", "x1", "x2"), lit("older", "x1", "x2"))), forall("x1", ("not", lit("grand", "x1", "x1")))]
    yield Theory(
        "a definition in two axioms, 150", {"x": 150}, {"parent": ("xx", False), "older": ("xx", False)}, uses, definitions={"grand": grand}
    )
    step = exists("x3", ("and", lit("edge", "x1", "x3"), lit("reach", "x3", "x2")))
    reach = ("x1", "x2"), 4, ("or", lit("edge", "x1", "x2"), step)
    uses = [forall("x1 x2", implies(lit("reach", "x1", "x2"), lit("far", "x1", "x2")))]
    yield Theory("reach to depth 4, 100", {"x": 100}, {"edge": ("xx", False), "far": ("xx", False)}, uses, definitions={"reach": reach})
    yield Theory(
        "a proposition, 5000",
        {"x": 5000},
        {**of_x, "rain": ("", False)},
        [forall("x1", implies(("and", lit("rain"), lit(s, "x1")), lit(t, "x1")))],
    )
    yield Theory(
        "a constant, 1000",
        {"x": 1000},
        {**pairs, "s": ("x", False)},
        [forall("x1", implies(lit(r, "x1", "X7"), lit(s, "x1"))), forall("x1", lit(r, "X3", "x1"))],
    )
    two = ("and", lit(k, "x1", "c1"), lit("m", "x1", "d1"))
    yield Theory(
        "two softmaxes, 1000",
        {"x": 1000, "c": 10, "d": 5},
        {**classes, "m": ("xd", True), "p": ("cd", False)},
        [forall("x1", exists("c1 d1", ("and", *two[1:], lit("p", "c1", "d1")))), forall("x1 c1 d1", implies(two, lit("p", "c1", "d1")))],
    )
    for n in (1, 2, 5000):
        yield Theory(f"a list, {n}", {"x": n}, of_x, [forall("x1", implies(lit(s, "x1"), lit(t, "x1")))])
    for n in (1, 2):
        yield Theory(f"pairs, {n}", {"x": n}, pairs, [forall("x1", exists("x2", lit(r, "x1", "x2"))), forall("x1 x2", symmetric)])
    yield Theory("all pairs, 5000", {"x": 5000}, of_x, [forall("x1 x2", implies(lit(s, "x1"), lit(t, "x2")))])
    literals = [lit(p, "x1") for p in ("s", "t", "v", "w")]
    clauses = [
        forall("x1", ("or", ("not", literals[i % 4]) if i % 3 else literals[i % 4], literals[(i + 1 + i // 4) % 4], literals[(i + 2) % 4]))
        for i in range(20)
    ]
    yield Theory("twenty axioms, 5000", {"x": 5000}, {**of_x, "v": ("x", False), "w": ("x", False)}, clauses)
    on_pairs = [
        ("or", ("not", lit(a, "x1", "x2")) if i % 2 else lit(a, "x1", "x2"), lit(b, *(("x2", "x1") if i % 3 else ("x1", "x2"))))
        for i, (a, b) in enumerate([("r", "q"), ("q", "r"), ("r", "r"), ("q", "q")] * 5)
    ]
    yield Theory("twenty axioms of pairs, 150", {"x": 150}, {**pairs, "q": ("xx", False)}, [forall("x1 x2", f) for f in on_pairs])


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

    def wide(self):
        """With guards, labels, definitions, families, propositions, constants, rows of several tables, and sorts of 1 to 5,000."""
        rng = self.random
        self.sorts = {s: rng.choice([1, 2, 10, 30, 100, 300, 1000, 5000]) for s in "xy"[: rng.randint(1, 2)]}
        self.sorts |= {
            s: rng.choice(sizes) for s, sizes in {"n": [2, 10, 50, 200], "c": [2, 5, 20], "d": [3, 10]}.items() if rng.random() < 0.4
        }
        entities = [s for s in self.sorts if s not in "cd"]
        self.predicates, self.tables, self.definitions, self.near = {}, {}, {}, rng.choice([0.02, 0.1, 0.3, 0.6])
        pairs = [(a, b) for a in entities for b in entities if b not in INTEGERS]
        # The theories of older seeds stay what they were.
        more = self.seed >= 5000
        self.functions = {f"f{i}": rng.choice(pairs) for i in range(rng.choice([0, 0, 1, 2]))} if more and pairs else {}
        for i in range(rng.randint(2, 5)):
            of = "".join(rng.choice(entities) for _ in range(rng.choice([0, 1, 1, 1, 2, 2, 2, 2, 3])))
            if self.size(of) <= self.MOST / 8:
                self.predicates[f"p{i}"] = (of, False)
        for s in "cd":
            for name in [f"k{s}{i}" for i in range(rng.randint(1, 2)) if s in self.sorts]:
                self.predicates[name] = rng.choice([e for e in entities]) + s, True
        for i in range(rng.choice([0, 0, 1, 2])):
            of = "".join(rng.choice(list(self.sorts)) for _ in range(rng.randint(1, 3)))
            self.tables[f"rows{i}"] = of, rng.choice([1, 30, 300, 3000])
        if rng.random() < 0.3:
            self.count = {}
            of = [self.fresh(rng.choice(entities)) for _ in range(rng.randint(1, 2))]
            size = self.size(v[0] for v in of)
            f = self.guarded(of, 2, size, False) if size <= self.MOST / 8 else None
            if f and free(f) == set(of) and not unread(f):
                self.predicates["defined"] = "".join(v[0] for v in of), False
                self.definitions["defined"] = tuple(of), None, f
        axioms = [a for a in (self.wide_axiom() for _ in range(rng.choice([1, 1, 2, 3, 20]))) if a]
        if not axioms:
            return self.wide()
        used = set().union(*map(predicates_of, axioms))
        self.definitions = {d: f for d, f in self.definitions.items() if d in used}
        formulas = axioms + [f for _, _, f in self.definitions.values()]
        used = set().union(*map(predicates_of, formulas))
        predicates = {p: of for p, of in self.predicates.items() if p in used and p not in self.definitions}
        wheres = [g for f in formulas for g in guards_of(f)]
        binders = {b[0] for f in formulas for g in parts(f) if g[0] in QUANTIFIERS for b in g[1] if not isinstance(b, str)}
        tables = {t: of for t, of in self.tables.items() if t in binders or any(f"{t}(" in guards.show(g) for g in wheres)}
        sorts = {s for of, _ in [*predicates.values(), *tables.values()] for s in of} | {v[0] for f in formulas for v in variables_of(f)}
        sorts |= {f[1][0] for f in axioms if f[0] == "for"}
        text = " ".join([*map(show, (f[2] if f[0] == "for" else f for f in formulas))])
        functions = {f: of for f, of in self.functions.items() if f"{f}(" in text}
        sorts |= {s for of in functions.values() for s in of}
        weights = [rng.choice([0.5, 1, 2, 10]) for _ in axioms] if more and rng.random() < 0.3 else []
        near = self.near if any("dist" in guards.show(g) for g in wheres) else 0.0
        sorts = {s: n for s, n in self.sorts.items() if s in sorts}
        return Theory(f"wide {self.seed}", sorts, predicates, axioms, tables, self.definitions, functions, weights, near)

    def wide_axiom(self):
        self.count = {}
        rng = self.random
        labels = [s for s in self.sorts if s in "cd"]
        family = self.fresh(rng.choice(labels)) if labels and rng.random() < 0.2 else None
        scope = [family] if family else []
        f = self.guarded(scope, 4, self.size(v[0] for v in scope), True)
        if not f or unread(f) or free(f) != set(scope):
            return None
        return ("for", family, f) if family else f

    def guarded(self, scope, depth, rows, top):
        """A formula under a quantifier that may have a guard, rows of tables, or labels."""
        rng = self.random
        kind, new, binders = rng.random(), [], []
        labels = [s for s in self.sorts if s in "cd"]
        if labels and not top and kind < 0.25:
            v = self.fresh(rng.choice(labels))
            guard = rng.choice([None, ("<", v, self.sorts[v[0]] - 1)])
            body = self.wide_formula([*scope, v], depth - 1, rows * self.sorts[v[0]])
            return body and (rng.choice(["any", "all"]), (v,), guard, body)
        for _ in range(rng.choice([1, 1, 2, 2, 3])):
            if self.tables and rng.random() < 0.25:
                table = rng.choice(list(self.tables))
                of, n = self.tables[table]
                variables = tuple(self.fresh(s) for s in of)
                item, added = (table, variables), list(variables)
            else:
                sort = rng.choice(list(self.sorts))
                item, n = self.fresh(sort), self.sorts[sort]
                added = [item]
            if rows * n <= self.MOST:
                rows, binders, new = rows * n, [*binders, item], new + added
        if not new:
            return None
        guard = self.guard(scope, new) if rng.random() < 0.6 else None
        body = self.wide_formula(scope + new, depth - 1, rows)
        # Rows of a table may have columns that nothing reads; what the body does not read the guard does.
        plain = {b for b in binders if isinstance(b, str)}
        if not body or not free(body) & set(new) or not plain <= free(body) | (guards.free(guard) if guard else set()):
            return None
        quantifier = "forall" if top and rng.random() < 0.9 else rng.choice(["forall", "exists", "exists"])
        return (quantifier, tuple(binders), guard, body)

    def guard(self, scope, new):
        rng = self.random
        a, all_of = rng.choice(new), [*scope, *new]
        same = [v for v in all_of if v[0] == a[0] and v != a]
        number, found = a[0] in INTEGERS, []
        if same:
            b = rng.choice(same)
            found += [("!=", a, b)] * 2
            if number:
                found += [("<", a, b)] * 2 + [("=", ("+", a, b), c) for c in all_of if c[0] == a[0] and c not in (a, b)]
            else:
                found += [("near", a, b)] * 2
        found += [("<", a, max(1, self.sorts[a[0]] // 2))] * number
        for t, (of, _) in self.tables.items():
            fits = [[v for v in all_of if v[0] == s] for s in of]
            if all(fits):
                inside = ("in", t, tuple(rng.choice(f) for f in fits))
                found += [inside, ("not", inside)] if set(inside[2]) & set(new) else []
        found += [(rng.choice(["=", "!="]), f"{f}({v})", w) for f, (s, t) in self.functions.items() for v in all_of for w in new if (v[0], w[0]) == (s, t)]
        if not found:
            return None
        one = rng.choice(found)
        if rng.random() < 0.25:
            one = (rng.choice(["and", "or"]), one, rng.choice(found))
        return one

    def wide_formula(self, scope, depth, rows):
        rng = self.random
        kind = rng.random()
        if depth <= 0 or kind < 0.2:
            return self.wide_literal(scope)
        if kind < 0.45:
            return self.guarded(scope, depth, rows, False) or self.wide_literal(scope)
        op = rng.choice(["and", "or", "->", "->", "<->"])
        members = [self.wide_formula(scope, depth - 1 - (i > 0), rows) for i in range(rng.choice([2, 2, 3]) if op in ("and", "or") else 2)]
        return (op, *members) if all(members) else None

    def wide_literal(self, scope):
        rng = self.random
        found = self.literal(scope)
        if found and self.functions and rng.random() < 0.3:
            literal = found[1] if found[0] == "not" else found
            arguments = list(literal[2])
            for i, a in enumerate(arguments):
                fits = [(f, v) for f, (s, t) in self.functions.items() if t == a[0] for v in scope if v[0] == s]
                if fits and rng.random() < 0.6 and not (self.predicates[literal[1]][1] and i == len(arguments) - 1):
                    arguments[i] = "{}({})".format(*rng.choice(fits))
            return lit(literal[1], *arguments)
        if found and rng.random() < 0.1:
            literal = found[1] if found[0] == "not" else found
            if literal[2] and not self.predicates[literal[1]][1]:
                i, arguments = rng.randrange(len(literal[2])), list(literal[2])
                arguments[i] = f"{arguments[i][0].upper()}{rng.randrange(self.sorts[arguments[i][0]])}"
                return lit(literal[1], *arguments)
        return found

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
            formula = body and ("forall", ((table, bound),), None, body)
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


def parts(f):
    """A formula and all formulas in it."""
    yield f
    match f:
        case ("lit", *_):
            return
        case ("for" | "forall" | "exists" | "all" | "any", *_, body):
            yield from parts(body)
        case (_, *members):
            for m in members:
                yield from parts(m)


def predicates_of(f):
    return {g[1] for g in parts(f) if g[0] == "lit"}


def arguments_of(f):
    return {guards.variable(a) for g in parts(f) if g[0] == "lit" for a in g[2]}


def guards_of(f):
    return [g[2] for g in parts(f) if g[0] in QUANTIFIERS and g[2]]


def names(binders):
    return [v for b in binders for v in ([b] if isinstance(b, str) else b[1])]


def variables_of(f):
    return {a for a in arguments_of(f) if a[0].islower()} | {v for g in parts(f) if g[0] in QUANTIFIERS for v in names(g[1])}


def free(f):
    match f:
        case ("lit", _, arguments):
            return {guards.variable(a) for a in arguments if a[0].islower()}
        case ("for", v, body):
            return free(body) - {v}
        case ("forall" | "exists" | "all" | "any", binders, guard, body):
            return (free(body) | (guards.free(guard) if guard else set())) - set(names(binders))
        case (_, *members):
            return set().union(*map(free, members))


def unread(f):
    """Whether a quantifier binds a variable that nothing reads: nobody would write that."""
    return any(not set(names(g[1])) <= free(g[3]) | (guards.free(g[2]) if g[2] else set()) for g in parts(f) if g[0] in QUANTIFIERS)
