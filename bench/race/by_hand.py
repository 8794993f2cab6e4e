"""The PyTorch program that a good engineer would write for a theory, as source text: in log space (`Program`) or on truth degrees (`TruthProgram`).

Literals once for each polarity; subformulas once, shared between axioms up to the names of variables, each over its own variables and
broadcast where it is read; conjuncts without the variable outside of an `exists`; two factors of an `exists` as a product of matrices
in scaled space; gathers for the rows of tables.
"""

import math


def negate(f):
    match f:
        case ("not", a):
            return positive(a)
        case ("lit", predicate, variables):
            return ("no", predicate, variables)
        case ("and" | "or" as op, *members):
            return ("or" if op == "and" else "and", *map(negate, members))
        case ("->", a, b):
            return ("and", positive(a), negate(b))
        case ("<->", a, b):
            return ("or", ("and", positive(a), negate(b)), ("and", positive(b), negate(a)))
        case ("forall" | "exists" as q, variables, table, body):
            return ("exists" if q == "forall" else "forall", variables, table, negate(body))


def positive(f):
    match f:
        case ("lit", predicate, variables):
            return ("is", predicate, variables)
        case ("not", a):
            return negate(a)
        case ("and" | "or" as op, *members):
            return (op, *map(positive, members))
        case ("->", a, b):
            return ("or", negate(a), positive(b))
        case ("<->", a, b):
            return ("and", ("or", negate(a), positive(b)), ("or", negate(b), positive(a)))
        case ("forall" | "exists" as q, variables, table, body):
            return (q, variables, table, positive(body))


def negation(literal):
    return ("no" if literal[0] == "is" else "is", *literal[1:])


def free_normal(f):
    match f:
        case ("is" | "no" | "lit", _, variables):
            return set(variables)
        case ("forall" | "exists", variables, _, body):
            return free_normal(body) - set(variables)
        case (_, *members):
            return set().union(*map(free_normal, members))


LOG_SPACE = ("logltn", "logltn-sum", "logltn-max", "logltn-lse", "logltn-prob")
TRUTH_SPACE = ("stable", "godel", "lukasiewicz", "goguen")


def program(theory, semantics, alpha):
    return (Program if semantics in LOG_SPACE else TruthProgram)(theory, semantics, alpha)


class Program:
    def __init__(self, theory, semantics, alpha):
        self.theory, self.semantics, self.alpha = theory, semantics, alpha
        self.lines, self.known = [], {}
        self.rows = {}  # by variable of a table's row: its table, which is the axis

    def source(self):
        loss = self.loss([self.axiom(f) for f in self.theory.axioms])
        arguments = ", ".join(["z", *(["rows"] if self.theory.tables else [])])
        return "\n".join([f"def loss({arguments}):", *(f"    {line}" for line in self.lines), f"    return {loss}"])

    def loss(self, axioms):
        over = len(axioms) if self.semantics != "logltn-sum" else 1
        return f"-({' + '.join(axioms)})" + (f" / {over}" if over > 1 else "")

    def axiom(self, f):
        self.rows = {}
        return self.value(self.normal(f))[0]

    def normal(self, f):
        """Negations are at the literals."""
        return positive(f)

    def let(self, expression):
        if expression in self.known:
            return self.known[expression]
        name = f"t{len(self.known)}"
        self.known[expression] = name
        self.lines.append(f"{name} = {expression}")
        return name

    def axis(self, variable):
        """A row of a table is one axis for all of its variables."""
        return self.rows.get(variable, variable)

    def axes(self, variables):
        return tuple(sorted({self.axis(v) for v in variables}))

    def size(self, axis):
        return self.theory.tables[axis][1] if axis in self.theory.tables else self.theory.sorts[axis[0]]

    def at(self, value, axes):
        """A value with these axes in their order, of which it may lack some."""
        name, own = value
        if own == axes or not own:
            return name
        order = [own.index(a) for a in axes if a in own]
        if order != sorted(order):
            name = f"{name}.T" if order == [1, 0] else f"{name}.permute({', '.join(map(str, order))})"
        if len(own) == len(axes):
            return name
        return f"{name}[{', '.join(':' if a in own else 'None' for a in axes)}]"

    def value(self, f):
        """The name of a formula's value, and its axes in order."""
        match f:
            case ("is" | "no" as sign, predicate, variables):
                return self.literal(sign, predicate, variables)
            case ("and", *members):
                return self.add([self.value(m) for m in members])
            case ("or", *members) if self.semantics == "logltn-prob":
                return self.probabilistic_sum(members)
            case ("or", *members):
                return self.log_mean_exp([self.value(m) for m in members])
            case ("forall" | "exists" as q, variables, table, body):
                return self.quantifier(q, variables, table, body)

    def literal(self, sign, predicate, variables):
        table = self.table(sign, predicate, self.theory.predicates[predicate][1])
        axes = self.axes(variables)
        if any(v in self.rows for v in variables):
            return self.gather(table, variables, axes)
        own = list(variables)
        if len(set(own)) < len(own):  # r(x, x): the diagonal, its axis last
            first = next(v for v in own if own.count(v) > 1)
            places = [i for i, v in enumerate(own) if v == first]
            while len(places) > 1:
                table = self.let(f"{table}.diagonal(dim1={places[0]}, dim2={places[1]})")
                own = [v for i, v in enumerate(own) if i not in places[:2]] + [first]
                places = [i for i, v in enumerate(own) if v == first]
        return (self.let(self.at((table, tuple(own)), axes)) if tuple(own) != axes else table), axes

    def table(self, sign, predicate, softmax):
        if softmax:
            return self.let(f"log_softmax(z['{predicate}'])" if sign == "is" else f"log_not_softmax(z['{predicate}'])")
        return self.let(f"logsigmoid({'' if sign == 'is' else '-'}z['{predicate}'])")

    def gather(self, table, variables, axes):
        others = [v for v in dict.fromkeys(variables) if v not in self.rows]
        shape = [self.axis(next(v for v in variables if v in self.rows)), *others]
        index = []
        for v in variables:
            if v in self.rows:
                column = self.columns[v]
                name = f"rows['{self.rows[v]}'][{column}]"
            else:
                name = f"torch.arange({self.size(v)}, device=z0.device)"
            index.append(f"{name}[{', '.join(':' if a == self.axis(v) else 'None' for a in shape)}]" if len(shape) > 1 else name)
        # Whole rows where the others come last, each once and in order.
        if list(variables[: len(variables) - len(others)]) == [v for v in variables if v in self.rows] and len(others) == len(
            [v for v in variables if v not in self.rows]
        ):
            index = [f"rows['{self.rows[v]}'][{self.columns[v]}]" for v in variables if v in self.rows]
        name = self.let(f"{table}[{', '.join(index)}]")
        return (self.let(self.at((name, tuple(shape)), axes)) if tuple(shape) != axes else name), axes

    def union(self, values):
        return tuple(sorted({a for _, axes in values for a in axes}))

    def add(self, values):
        values = sorted(values, key=lambda v: len(v[1]))
        done = values[0]
        for value in values[1:]:
            axes = self.union([done, value])
            done = self.let(f"{self.at(done, axes)} + {self.at(value, axes)}"), axes
        return done

    def probabilistic_sum(self, members):
        """log(1 − Π(1 − eˣ)); of a literal, 1 − eˣ is its negation."""
        return self.complement(self.add([self.value(negation(m)) if m[0] in ("is", "no") else self.complement(self.value(m)) for m in members]))

    def complement(self, value):
        return self.let(f"log_not({value[0]})"), value[1]

    def maximum(self, values):
        values = sorted(values, key=lambda v: len(v[1]))
        done = values[0]
        for value in values[1:]:
            both = self.union([done, value])
            done = self.let(f"torch.maximum({self.at(done, both)}, {self.at(value, both)})"), both
        return done

    def divisor(self, n):
        """What is taken from the log of a sum over n."""
        return 0.0 if self.semantics == "logltn-lse" else math.log(n)

    def log_mean_exp(self, values):
        if self.semantics == "logltn-max":
            return self.maximum(values)
        a, n = self.alpha, len(values)
        axes = self.union(values)
        if n > 2 and all(own == axes for _, own in values):
            stacked = self.let(f"torch.stack([{', '.join(name for name, _ in values)}])")
            return self.let(f"(({a} * {stacked}).logsumexp(0) - {self.divisor(n)}) / {a}"), axes
        values = sorted(values, key=lambda v: len(v[1]))
        done = self.let(f"{a} * {values[0][0]}"), values[0][1]
        for value in values[1:]:
            both = self.union([done, value])
            scaled = self.let(f"{a} * {value[0]}"), value[1]
            done = self.let(f"torch.logaddexp({self.at(done, both)}, {self.at(scaled, both)})"), both
        return self.let(f"({done[0]} - {self.divisor(n)}) / {a}"), axes

    def quantifier(self, q, variables, table, body):
        if table:
            saved = self.rows
            self.rows = self.rows | {v: table for v in variables}
            self.columns = {v: i for i, v in enumerate(variables)}
            done = self.reduce(q, (table,), self.value(body))
            self.rows = saved
            return done
        if q == "exists":
            return self.exists(variables, body)
        # A mean of a sum is the sum of the means.
        return self.reduce(q, variables, self.value(body))

    def reduce(self, q, variables, value):
        name, axes = value
        gone = [i for i, a in enumerate(axes) if a in variables]
        if not gone:
            return value
        rest = tuple(a for a in axes if a not in variables)
        dims = gone[0] if len(gone) == 1 else tuple(gone)
        return self.let(self.aggregate(q, name, dims, math.prod(self.size(axes[i]) for i in gone))), rest

    def aggregate(self, q, name, dims, n):
        if q == "forall":
            return f"{name}.{'sum' if self.semantics == 'logltn-sum' else 'mean'}({dims})"
        if self.semantics == "logltn-max":
            return f"{name}.amax({dims})"
        return f"(({self.alpha} * {name}).logsumexp({dims}) - {self.divisor(n)}) / {self.alpha}"

    def exists(self, variables, body):
        members = list(body[1:]) if body[0] == "and" else [body]
        outside = [self.value(m) for m in members if not free_normal(m) & set(variables)]
        inside = [self.value(m) for m in members if free_normal(m) & set(variables)]
        left = list(variables)
        while left:
            # The variable next whose factors together have the fewest numbers.
            v = min(left, key=lambda v: math.prod(self.size(a) for a in self.union([m for m in inside if v in m[1]])))
            left.remove(v)
            touching = [m for m in inside if v in m[1]]
            others = [m for m in inside if v not in m[1]]
            inside = others + [self.eliminate(v, touching)] if touching else others
        return self.add(inside + outside)

    def eliminate(self, v, factors):
        """The log of the mean over v of the product of these."""
        axes = self.union(factors)
        groups = {}
        for name, own in factors:
            groups.setdefault(own, []).append((name, own))
        factors = [self.add(g) for g in groups.values()]
        # Factors within others are added to these first.
        factors.sort(key=lambda f: len(f[1]))
        kept = []
        for i, f in enumerate(factors):
            inside = next((j for j in range(i + 1, len(factors)) if set(f[1]) <= set(factors[j][1])), None)
            if inside is None:
                kept.append(f)
            else:
                factors[inside] = self.add([f, factors[inside]])
        if len(kept) == 2 and len(axes) == 3 and all(len(own) == 2 for _, own in kept) and self.semantics != "logltn-max":
            return self.product(v, *kept)
        return self.reduce("exists", (v,), self.add(kept))

    def product(self, v, left, right):
        a = self.alpha
        (x,), (y,) = ([o for o in own if o != v] for _, own in (left, right))
        first, second = self.at(left, (x, v)), self.at(right, (v, y))
        first, second = self.let(first), self.let(second)
        m, n = self.let(f"{first}.detach().amax(1, keepdim=True)"), self.let(f"{second}.detach().amax(0, keepdim=True)")
        product = f"(({a} * ({first} - {m})).exp() @ ({a} * ({second} - {n})).exp())"
        name = self.let(f"({product}.log() - {self.divisor(self.size(v))}) / {a} + {m} + {n}")
        axes = tuple(sorted((x, y)))
        return self.let(self.at((name, (x, y)), axes)) if (x, y) != axes else name, axes


class TruthProgram(Program):
    """On truth degrees, nothing is moved: the operators distribute over nothing. Projections as LTN's libraries have them."""

    EPS, P = 1e-4, 2

    def loss(self, axioms):
        stacked = f"torch.stack([{', '.join(axioms)}])"
        return f"1 - ({self.aggregate('over', stacked, 0, len(axioms))})"

    def normal(self, f):
        return f

    def value(self, f):
        match f:
            case ("lit", predicate, variables):
                return self.literal("lit", predicate, variables)
            case ("not", a):
                name, axes = self.value(a)
                strict = self.semantics in ("godel", "goguen")
                return self.let(f"({name} == 0).to({name}.dtype)" if strict else f"1 - {name}"), axes
            case ("and" | "or" as op, *members):
                done = self.value(members[0])
                for m in members[1:]:
                    done = self.pair(op, done, self.value(m))
                return done
            case ("->", a, b):
                return self.pair("->", self.value(a), self.value(b))
            case ("<->", a, b):
                a, b = self.value(a), self.value(b)
                return self.pair("and", self.pair("->", a, b), self.pair("->", b, a))
            case ("forall" | "exists" as q, variables, table, body):
                return self.quantifier(q, variables, table, body)

    def table(self, sign, predicate, softmax):
        return self.let(f"z['{predicate}'].{'softmax(-1)' if softmax else 'sigmoid()'}")

    def exists(self, variables, body):
        return self.reduce("exists", variables, self.value(body))

    def zero(self, value):
        """The projection away from 0."""
        return self.let(f"{1 - self.EPS} * {value[0]} + {self.EPS}"), value[1]

    def one(self, value):
        return self.let(f"{1 - self.EPS} * {value[0]}"), value[1]

    def pair(self, op, a, b):
        match self.semantics, op:
            case ("stable" | "goguen"), "and":
                a, b, text = self.zero(a), self.zero(b), "{a} * {b}"
            case ("stable" | "goguen"), "or":
                a, b, text = self.one(a), self.one(b), "{a} + {b} - {a} * {b}"
            case "stable", "->":
                a, b, text = self.zero(a), self.one(b), "1 - {a} + {a} * {b}"
            case "goguen", "->":
                a, text = self.zero(a), "torch.where({a} <= {b}, 1.0, {b} / {a})"
            case "godel", "->":
                text = "torch.where({a} <= {b}, 1.0, {b})"
            case "godel", _:
                text = "torch.minimum({a}, {b})" if op == "and" else "torch.maximum({a}, {b})"
            case "lukasiewicz", "and":
                text = "({a} + {b} - 1).clamp(min=0)"
            case "lukasiewicz", "or":
                text = "({a} + {b}).clamp(max=1)"
            case "lukasiewicz", "->":
                text = "(1 - {a} + {b}).clamp(max=1)"
        both = self.union([a, b])
        return self.let(text.format(a=self.at(a, both), b=self.at(b, both))), both

    def aggregate(self, q, name, dims, n):
        match self.semantics, q:
            case ("stable" | "goguen"), "exists":
                return f"(({1 - self.EPS} * {name} + {self.EPS}) ** {self.P}).mean({dims}) ** {1 / self.P}"
            case ("stable" | "goguen"), _:
                return f"1 - ((1 - {1 - self.EPS} * {name}) ** {self.P}).mean({dims}) ** {1 / self.P}"
            case "godel", _:
                return f"{name}.{'amax' if q == 'exists' else 'amin'}({dims})"
            case "lukasiewicz", "exists":
                return f"{name}.amax({dims})"
            case "lukasiewicz", _:
                return f"{name}.mean({dims})"
