"""The PyTorch program that a good engineer would write for a theory, as source text: in log space (`Program`) or on truth degrees (`TruthProgram`).

Literals once for each polarity; subformulas once, shared between axioms up to the names of variables, each over its own variables and
broadcast where it is read; conjuncts without the variable outside of an `exists`; two factors of an `exists` as a product of matrices
in scaled space; gathers for the rows of tables and for guards that keep few, masks made beforehand for other guards; definitions as tables.
"""

import math

import numpy as np

import guards

# Guards that keep a smaller share are lists of what they keep.
SPARSE = 0.2


class Unfit(Exception):
    """What is not raced: an `exists` that a guard leaves nothing, whose value drowns all others."""


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
        case ("forall" | "exists" | "all" | "any" as q, binders, guard, body):
            return ({"forall": "exists", "exists": "forall", "all": "any", "any": "all"}[q], binders, guard, negate(body))


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
        case ("forall" | "exists" | "all" | "any" as q, binders, guard, body):
            return (q, binders, guard, positive(body))


def negation(literal):
    return ("no" if literal[0] == "is" else "is", *literal[1:])


LOG_SPACE = ("logltn", "logltn-sum", "logltn-max", "logltn-lse", "logltn-prob")
TRUTH_SPACE = ("stable", "godel", "lukasiewicz", "goguen")


def program(theory, semantics, alpha, data):
    return (Program if semantics in LOG_SPACE else TruthProgram)(theory, semantics, alpha, data)


class Program:
    FALSE = -1e5, 0.0  # and true

    def __init__(self, theory, semantics, alpha, data):
        self.theory, self.semantics, self.alpha, self.data = theory, semantics, alpha, data
        self.lines, self.known, self.opposite = [], {}, {}
        self.given = {}  # what is made of guards beforehand, by name
        self.defined, self.depths = {}, {}
        self.counted = False  # whether what an `exists` ranges over is counted beforehand
        # By variable: its axis where that is not its own, what indexes it there, and its individuals along the axis.
        self.rows, self.columns, self.individuals = {}, {}, {}
        self.sizes = {}  # of axes that are no variables

    def source(self):
        loss = self.loss([self.axiom(f) for f in self.theory.axioms])
        arguments = ", ".join(["z", *(["rows"] if self.theory.tables else [])])
        return "\n".join([f"def loss({arguments}):", *(f"    {line}" for line in self.lines), f"    return {loss}"])

    def loss(self, axioms):
        weights = self.theory.weights or [1] * len(axioms)
        over = sum(w * (self.size(axes[0]) if axes else 1) for w, (_, axes) in zip(weights, axioms, strict=True))
        over = 1 if self.semantics == "logltn-sum" else over
        summands = [f"{w} * " * (w != 1) + (f"{name}.sum()" if axes else name) for w, (name, axes) in zip(weights, axioms, strict=True)]
        return f"-({' + '.join(summands)})" + (f" / {over}" if over != 1 else "")

    def axiom(self, f):
        """Its value; of a family, the values of its members."""
        if f[0] == "for":
            self.individuals[f[1]] = np.arange(self.size(f[1]))
        return self.value(self.normal(f[2] if f[0] == "for" else f))

    def give(self, array):
        array = np.asarray(array)
        for name, known in self.given.items():
            if known.dtype == array.dtype and np.array_equal(known, array):
                return name
        self.given[f"g{len(self.given)}"] = array
        return f"g{len(self.given) - 1}"

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
        return self.sizes.get(axis) or self.theory.sorts[axis[0]]

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
            case ("any", binders, guard, body) if self.semantics == "logltn-prob":
                inside = negation(body) if self.is_literal(body) else ("complement", body)
                return self.complement(self.value(("all", binders, guard, inside)))
            case ("complement", body):
                return self.complement(self.value(body))
            case ("forall" | "exists" | "all" | "any" as q, binders, guard, body):
                return self.quantifier(q, binders, guard, body)

    def is_literal(self, f):
        return f[0] in ("is", "no") and f[1] in self.theory.predicates

    def literal(self, sign, predicate, arguments):
        if predicate in self.theory.definitions:
            table = self.definition(sign, predicate)
        else:
            table = self.table(sign, predicate, self.theory.predicates[predicate][1])
        variables = [a for a in arguments if a[0].islower()]
        for place in reversed([i for i, a in enumerate(arguments) if a[0].isupper()]):
            table = self.let(f"{table}.select({place}, {arguments[place][1:]})")
        for place, a in enumerate(variables):
            if "(" in a:
                table = self.let(f"{table}.index_select({place}, {self.give(self.data.functions[a.partition('(')[0]])})")
        variables = [guards.variable(a) for a in variables]
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

    def definition(self, sign, name):
        """All of its values, as of a predicate."""
        variables, depth, f = self.theory.definitions[name]
        left = self.depths.get(name, depth)
        if left == 0:
            false, true = self.FALSE
            return self.let(f"torch.full({[self.size(v) for v in variables]}, {true if sign == 'no' else false})")
        key = sign, name, left
        if key not in self.defined:
            saved, self.rows = self.rows, {}
            individuals, self.individuals = self.individuals, {v: np.arange(self.size(v)) for v in variables}
            self.depths[name] = left and left - 1
            value = self.value(self.normal(("not", f) if sign == "no" else f))
            self.rows, self.depths[name], self.individuals = saved, left, individuals
            self.defined[key] = self.let(f"{self.at(value, variables)}.expand({[self.size(v) for v in variables]})")
        return self.defined[key]

    def table(self, sign, predicate, softmax):
        if softmax:
            return self.let(f"log_softmax(z['{predicate}'])" if sign == "is" else f"log_not_softmax(z['{predicate}'])")
        return self.let(f"logsigmoid({'' if sign == 'is' else '-'}z['{predicate}'])")

    def gather(self, table, variables, axes):
        others = [v for v in dict.fromkeys(variables) if v not in self.rows]
        shape = [*dict.fromkeys(self.rows[v] for v in variables if v in self.rows), *others]
        first = len(variables) - len(others)
        whole = list(variables[first:]) == others and not set(variables[:first]) & set(others)
        if len(shape) == 1 + len(others) and whole:
            # Whole rows, each once and in order.
            index = [self.columns[v] for v in variables[:first]]
        else:
            index = []
            for v in variables:
                name = self.columns[v] if v in self.rows else f"torch.arange({self.size(v)}, device=z0.device)"
                index.append(f"{name}[{', '.join(':' if a == self.axis(v) else 'None' for a in shape)}]" if len(shape) > 1 else name)
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
        return self.complement(
            self.add([self.value(negation(m)) if self.is_literal(m) else self.complement(self.value(m)) for m in members])
        )

    def complement(self, value):
        # Of a complement it is what that was made of, which next to certainty is lost.
        if value[0] not in self.opposite:
            name = self.let(f"log_not({value[0]})")
            self.opposite[value[0]], self.opposite[name] = name, value[0]
        return self.opposite[value[0]], value[1]

    def maximum(self, values):
        values = sorted(values, key=lambda v: len(v[1]))
        done = values[0]
        for value in values[1:]:
            both = self.union([done, value])
            done = self.let(f"torch.maximum({self.at(done, both)}, {self.at(value, both)})"), both
        return done

    def divisor(self, n):
        """What is taken from the log of a sum over n."""
        return 0.0 if self.semantics == "logltn-lse" or self.counted else math.log(n)

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

    def quantifier(self, q, binders, guard, body):
        saved = dict(self.rows), dict(self.columns)
        bound = []
        for b in binders:
            if isinstance(b, str):
                self.individuals[b] = np.arange(self.size(b))
                bound.append(b)
                continue
            table, variables = b
            axis = f"_{table}_{variables[0]}"
            self.sizes[axis] = self.theory.tables[table][1]
            for i, v in enumerate(variables):
                self.rows[v], self.columns[v], self.individuals[v] = axis, f"rows['{table}'][{i}]", self.data.tables[table][i]
            bound.append(axis)
        mask = self.mask(guard) if guard else None
        if mask and set(mask[1]) <= set(bound) and mask[0].mean() < SPARSE:
            bound = self.kept(*mask, bound)
            mask = None
        if mask and (q in ("exists", "any") or self.semantics in TRUTH_SPACE):
            if not mask[0].any(tuple(i for i, a in enumerate(mask[1]) if a in bound)).all():
                raise Unfit
        done = self.exists(bound, mask, body, guard) if q in ("exists", "any") else self.reduce(q, bound, self.value(body), mask)
        self.rows, self.columns = saved
        return done

    def mask(self, guard):
        axes = self.axes(guards.free(guard))

        def value(term):
            v = guards.variable(term)
            along = axes.index(self.axis(v))
            own = self.individuals[v] if v == term else self.data.functions[term.partition("(")[0]][self.individuals[v]]
            return own.reshape([-1 if i == along else 1 for i in range(len(axes))])

        kept = guards.mask(guard, value, self.data)
        return np.broadcast_to(kept, [self.size(a) for a in axes]), axes

    def kept(self, mask, axes, bound):
        """What a guard keeps as rows, and what is bound then."""
        kept = np.nonzero(mask)
        if not len(kept[0]):
            raise Unfit
        axis = f"_list{len(self.sizes)}"
        for v in [v for v in self.individuals if self.axis(v) in axes]:
            self.individuals[v] = self.individuals[v][kept[axes.index(self.axis(v))]]
            self.columns[v], self.rows[v] = self.give(self.individuals[v]), axis
        self.sizes[axis] = len(kept[0])
        return [b for b in bound if b not in axes] + [axis]

    def reduce(self, q, bound, value, mask=None):
        name, axes = value
        gone = [i for i, a in enumerate(axes) if a in bound]
        rest = tuple(a for a in axes if a not in bound)
        dims = gone[0] if len(gone) == 1 else tuple(gone)
        if not mask:
            if not gone:
                return value
            return self.let(self.aggregate(q, name, dims, math.prod(self.size(axes[i]) for i in gone))), rest
        weights, axes = self.weights(q, bound, axes, *mask)
        w = weights, tuple(a for a in mask[1] if a not in bound or a in value[1])
        if w[1] == value[1] == tuple(b for b in value[1] if b in bound):
            return self.let(self.weighted(q, f"{name}.flatten()", f"{weights}.flatten()", None)), ()
        gone = tuple(i for i, a in enumerate(axes) if a in bound)
        if not gone:
            if self.semantics in TRUTH_SPACE or q != "forall":
                raise Unfit
            return self.let(f"{self.at(value, axes)} * {self.at(w, axes)}"), axes
        return self.let(self.weighted(q, self.at(value, axes), self.at(w, axes), gone)), tuple(a for a in axes if a not in bound)

    def weights(self, q, bound, axes, mask, own):
        """What each value counts for, over those axes of the mask that are not gone before; and all axes then."""
        gone = tuple(i for i, a in enumerate(own) if a in bound)
        unread = tuple(i for i in gone if own[i] not in axes)
        left = tuple(a for i, a in enumerate(own) if i not in unread)
        count = mask.sum(gone, keepdims=True) * math.prod(self.size(a) for a in axes if a in bound and a not in own)
        weights = mask.sum(unread, keepdims=True) / (1 if q == "all" or self.semantics == "logltn-sum" else np.maximum(count, 1))
        both = tuple(sorted({*axes, *left}))
        return self.give(weights.squeeze(unread).astype(np.float32)), both

    def weighted(self, q, value, weights, dims):
        return f"torch.dot({value}, {weights})" if dims is None else f"({value} * {weights}).sum({dims})"

    def aggregate(self, q, name, dims, n):
        if q in ("forall", "all"):
            return f"{name}.{'sum' if q == 'all' or self.semantics == 'logltn-sum' else 'mean'}({dims})"
        if self.semantics == "logltn-max":
            return f"{name}.amax({dims})"
        return f"(({self.alpha} * {name}).logsumexp({dims}) - {self.divisor(n)}) / {self.alpha}"

    def exists(self, bound, mask, body, guard):
        members = list(body[1:]) if body[0] == "and" else [body]
        values = [self.value(m) for m in members]
        if mask:
            kept, own = mask
            for condition in guard[1:] if guard[0] == "and" else [guard]:
                one, axes = self.mask(condition)
                values.append((self.give(np.where(one, 0, -1e30).astype(np.float32)), axes))
        outside = [v for v in values if not set(v[1]) & set(bound)]
        inside = [v for v in values if set(v[1]) & set(bound)]
        left = [b for b in bound if any(b in axes for _, axes in inside)]
        self.counted = bool(mask)
        while left:
            # The variable next whose factors together have the fewest numbers.
            v = min(left, key=lambda v: math.prod(self.size(a) for a in self.union([m for m in inside if v in m[1]])))
            left.remove(v)
            inside = [m for m in inside if v not in m[1]] + [self.eliminate(v, [m for m in inside if v in m[1]])]
        self.counted = False
        done = self.add(inside + outside)
        if not mask or self.semantics in ("logltn-max", "logltn-lse"):
            return done
        gone = tuple(i for i, a in enumerate(own) if a in bound)
        counts = kept.sum(gone) * math.prod(self.size(b) for b in bound if b not in own)
        counts = self.give((np.log(counts) / self.alpha).astype(np.float32)), tuple(a for a in own if a not in bound)
        axes = self.union([done, counts])
        return self.let(f"{self.at(done, axes)} - {self.at(counts, axes)}"), axes

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
    FALSE = 0.0, 1.0

    def loss(self, axioms):
        if self.theory.weights:
            raise Unfit
        if any(axes for _, axes in axioms):
            stacked = f"torch.cat([{', '.join(name if axes else f'{name}[None]' for name, axes in axioms)}])"
        else:
            stacked = f"torch.stack([{', '.join(name for name, _ in axioms)}])"
        return f"1 - ({self.aggregate('forall', stacked, 0, 0)})"

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
            case ("any" | "all" as q, (v,), guard, body):
                name, axes = self.value(body)
                self.individuals[v] = np.arange(self.size(v))
                kept, over = self.mask(guard) if guard else (np.ones(self.size(v)), (v,))
                if over != (v,) or v not in axes:
                    raise Unfit
                rest = tuple(a for a in axes if a != v)
                members = [(self.let(f"{name}.select({axes.index(v)}, {i})"), rest) for i in np.nonzero(kept)[0]]
                done = members[0]
                for m in members[1:]:
                    done = self.pair("and" if q == "all" else "or", done, m)
                return done
            case ("forall" | "exists" as q, binders, guard, body):
                return self.quantifier(q, binders, guard, body)

    def table(self, sign, predicate, softmax):
        return self.let(f"z['{predicate}'].{'softmax(-1)' if softmax else 'sigmoid()'}")

    def exists(self, bound, mask, body, guard):
        return self.reduce("exists", bound, self.value(body), mask)

    def weighted(self, q, value, weights, dims):
        dims = 0 if dims is None else dims
        match self.semantics, q:
            case (("stable" | "goguen"), "exists"):
                return f"(({1 - self.EPS} * {value} + {self.EPS}) ** {self.P} * {weights}).sum({dims}) ** {1 / self.P}"
            case (("stable" | "goguen"), _):
                return f"1 - ((1 - {1 - self.EPS} * {value}) ** {self.P} * {weights}).sum({dims}) ** {1 / self.P}"
            case "lukasiewicz", "forall":
                return f"({value} * {weights}).sum({dims})"
            case _, _:
                q, fill = ("amax", 0.0) if q == "exists" else ("amin", 1.0)
                return f"torch.where({weights} > 0, {value}, {fill}).{q}({dims})"

    def zero(self, value):
        """The projection away from 0."""
        return self.let(f"{1 - self.EPS} * {value[0]} + {self.EPS}"), value[1]

    def one(self, value):
        return self.let(f"{1 - self.EPS} * {value[0]}"), value[1]

    def pair(self, op, a, b):
        match self.semantics, op:
            case (("stable" | "goguen"), "and"):
                a, b, text = self.zero(a), self.zero(b), "{a} * {b}"
            case (("stable" | "goguen"), "or"):
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
            case (("stable" | "goguen"), "exists"):
                return f"(({1 - self.EPS} * {name} + {self.EPS}) ** {self.P}).mean({dims}) ** {1 / self.P}"
            case (("stable" | "goguen"), _):
                return f"1 - ((1 - {1 - self.EPS} * {name}) ** {self.P}).mean({dims}) ** {1 / self.P}"
            case "godel", _:
                return f"{name}.{'amax' if q == 'exists' else 'amin'}({dims})"
            case "lukasiewicz", "exists":
                return f"{name}.amax({dims})"
            case "lukasiewicz", _:
                return f"{name}.mean({dims})"
