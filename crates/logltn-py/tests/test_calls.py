"""Random sequences of calls, as programs make them: sorts, tables and params that are known or come with each call, batches, all dtypes,
sizes of 0 and 1, arrays, rows, tensors and networks, mistakes in between, repeated and in any order. Each result is compared with that of a
fresh knowledge base and with `reference.py`. LOGLTN_PYTHON_CALLS says how many calls; LOGLTN_PYTHON_SEED where to begin."""

import math
import os
import random
import warnings

import numpy as np
import pytest
from reference import Atom, Node, Quantified, World

import logltn

torch = pytest.importorskip("torch")
import logltn.torch  # noqa: E402

CALLS = int(os.environ.get("LOGLTN_PYTHON_CALLS", "600"))
SEED = int(os.environ.get("LOGLTN_PYTHON_SEED", "0"))

P, Q, D, R = (lambda x: Atom("e", (x,))), (lambda x, y: Atom("q", (x, y))), (lambda x, i: Atom("d", (x, i))), Atom("r", ())
NOT = lambda f: Node("not", (f,))  # noqa: E731
AXIOMS = {
    "all": Quantified("forall", (("x", "X"),), None, P("x")),
    "some": Quantified("exists", (("x", "X"),), None, P("x")),
    "is": Quantified("forall", ((("x", "n"), "t"),), None, Quantified(
        "exists", (("i", "K"),), ("i = n", lambda b, _: b["i"] == b["n"]), D("x", "i"))),
    "rule": Quantified("forall", ((("x", "y"), "u"),), None, Node("implies", (Q("x", "y"), P("y")))),
    "pairs": Quantified("forall", (("x", "X"), ("y", "X")), ("x != y", lambda b, _: b["x"] != b["y"]), Node(
        "or", (Node("and", (P("x"), Q("x", "y"))), NOT(P("y"))))),
    "mixed": Quantified("forall", ((("x", "n"), "t"), ("i", "K")), ("i + n < c", lambda b, c: b["i"] + b["n"] < c["c"]), Node(
        "or", (D("x", "i"), R))),
    "rows": Quantified("forall", ((("x", "n"), "t"), (("y", "m"), "t")), ("n <= m", lambda b, _: b["n"] <= b["m"]), Node(
        "iff", (P("x"), P("y")))),
    "nested": Quantified("forall", ((("x", "n"), "t"),), None, Quantified("forall", ((("y", "m"), "t"),), ("n <= m", lambda b, _: b["n"] <= b["m"]), Node(
        "iff", (P("x"), P("y"))))),
    "chosen": Quantified("forall", (("x", "X"),), None, Quantified("exists", (("i", "K"), (("y", "n"), "t")), ("i < n and y != x", lambda b, _: b["i"] < b["n"] and b["y"] != b["x"]), Node(
        "and", (Q("x", "y"), D("y", "i"))))),
    "fact": R,
    "member": Quantified("forall", (("x", "X"),), None, Node("or", (NOT(P("x")), Quantified(
        "exists", (("y", "X"),), ("u(x, y)", None), P("y"))))),
}  # fmt: skip
HEAD = """
sort X
sort K = 0..2
table t(x: X, n: Int)
table u(x: X, y: X)
predicate e(X)
predicate q(X, X)
predicate d(X, K)
predicate r()
param c
"""


def log_sigmoid(z):
    return -math.log1p(math.exp(-z)) if z > 0 else z - math.log1p(math.exp(z))


class Kind:
    """What is the same for all calls of a knowledge base."""

    def __init__(self, rng):
        self.rng = rng
        self.axioms = rng.sample(sorted(AXIOMS), rng.randint(1, 4))
        self.semantics = rng.choice(["logltn", "stable"])
        self.d = rng.choice(["softmax", "sigmoid", "truth"])
        # What comes with calls.
        self.streams_x, self.streams_c = rng.random() < 0.5, rng.random() < 0.4
        self.tables = {name: rng.choice(["known", "streamed", "batched"]) for name in "tu"}
        if self.tables["t"] == "batched" and {"mixed", "rows", "chosen"} & set(self.axioms):
            self.tables["t"] = "known"  # bound together with others
        self.size = rng.choice([0, 1, 2, 3, 5])
        self.rows = {name: self.some_rows(name, self.size) for name in "tu"}
        if self.streams_x and rng.random() < 0.7:  # rows of a sort whose size is not known may be anybody
            self.tables = {name: "streamed" for name in "tu"}
        self.c = rng.randint(-1, 4)
        self.weights = {name: rng.choice([0.5, 1.0, 3.0]) for name in self.axioms}
        self.leave_out, self.p_axioms = rng.random() < 0.3, rng.choice([None, 3.0])
        self.dtype = rng.choice([None, None, None, "float64"])
        self.network = rng.random() < 0.4
        self.text = HEAD + "\n".join(f"axiom {name} (weight {self.weights[name]}): {AXIOMS[name]}" for name in self.axioms)
        self.used = {name for name in "eqdr" if any(f"{name}(" in str(AXIOMS[a]) for a in self.axioms)}

    def some_rows(self, name, size):
        count = self.rng.choice([0, 1, 2, 4]) if size else 0
        someone = lambda: self.rng.randrange(size)  # noqa: E731
        return [(someone(), self.rng.randint(0, 3) if name == "t" else someone()) for _ in range(count)]

    def columns(self, name, rows):
        rng, own = self.rng, list(zip(*rows)) if rows else [(), ()]
        names = ("x", "n") if name == "t" else ("x", "y")
        form = rng.choice(["list", "numpy", "torch", "array"])
        if form == "array" and rows:
            return np.array(rows)
        make = {"list": list, "numpy": lambda v: np.array(v, np.int64), "torch": lambda v: torch.tensor(v, dtype=torch.int64)}
        return {column: make.get(form, list)(v) for column, v in zip(names, own)}

    def make(self, cls):
        outputs = {"d": self.d}
        arguments = dict(semantics=self.semantics, leave_out_empty=self.leave_out, p_axioms=self.p_axioms, dtype=self.dtype)
        if not self.streams_x:
            arguments["sorts"] = {"X": self.size}
        if not self.streams_c:
            arguments["params"] = {"c": self.c}
        arguments["tables"] = {name: self.columns(name, self.rows[name]) for name, how in self.tables.items() if how != "streamed"}
        arguments["streamed"] = [name for name, how in self.tables.items() if how == "streamed"]
        arguments["batched"] = [name for name, how in self.tables.items() if how == "batched"]
        if cls is logltn.torch.KnowledgeBase and self.network and "d" in self.used:
            kind = {"softmax": logltn.torch.softmax, "sigmoid": lambda f: logltn.torch.sigmoid(f, classes=True), "truth": lambda f: logltn.torch.truth(f, classes=True)}
            arguments["predicates"] = {"d": kind[self.d](lambda x: self.numbers[x])}
        else:
            arguments["outputs"] = outputs
        return cls(self.text, **arguments)


class Call:
    """One call: what comes with it, and what is right."""

    def __init__(self, kind):
        rng = kind.rng
        self.kind = kind
        known = max((max(r) for rows in kind.rows.values() for r in rows), default=-1) + 1  # rows may name so many
        needs = known if "known" in kind.tables.values() or "batched" in kind.tables.values() else 0
        self.size = max(rng.choice([0, 1, 2, 3, 6]), needs) if kind.streams_x else kind.size
        self.rows = {
            name: kind.some_rows(name, self.size) if how == "streamed" else kind.rows[name] for name, how in kind.tables.items()
        }
        self.batch = {
            name: [rng.randrange(len(kind.rows[name])) for _ in range(rng.randint(0, 3))]
            for name, how in kind.tables.items() if how == "batched" and kind.rows[name] and rng.random() < 0.7
        }  # fmt: skip
        self.c = rng.randint(-1, 4) if kind.streams_c else kind.c
        self.alpha, self.p, self.p_forall = rng.choice([1.0, 2.0, 0.5]), rng.choice([2.0, 1.5]), rng.choice([2.0, 3.0])
        self.weights = {name: rng.choice([0.25, 2.0]) for name in kind.axioms if rng.random() < 0.3}
        make = np.random.default_rng(rng.randrange(2**32))
        n = self.size
        self.values = {"e": make.normal(size=n), "q": make.normal(size=(n, n)), "d": make.normal(size=(n, 3)), "r": make.normal(size=())}
        if kind.d == "truth":
            self.values["d"] = make.uniform(0.05, 0.95, (n, 3))
        self.dtypes = {name: rng.choice(["float32", "float64"]) for name in self.values}
        self.values = {name: np.asarray(v, self.dtypes[name]) for name, v in self.values.items()}

    def double(self):
        # A callable without parameters that is asked about no rows gives no values.
        names = self.kind.used - ({"d"} if self.kind.network and not self.asked else set())
        return self.kind.dtype == "float64" or any(self.dtypes[name] == "float64" for name in names) or not names

    def coming(self):
        kind, given = self.kind, {}
        if kind.streams_x:
            given["sorts"] = {"X": self.size}
        streamed = [name for name, how in kind.tables.items() if how == "streamed"]
        if streamed:
            given["tables"] = {name: kind.columns(name, self.rows[name]) for name in streamed}
        if kind.streams_c:
            given["params"] = {"c": self.c}
        return given

    def arguments(self):
        given = {**self.coming(), "alpha": self.alpha, "p": self.p, "p_forall": self.p_forall}
        if self.weights:
            given["weights"] = dict(self.weights)
        if self.batch:
            given["batch"] = {name: np.array(rows, np.int64) for name, rows in self.batch.items()}
        return given

    def expected(self, values=None, batched=True):
        """Truths, loss, and whether it is about anything."""
        kind, values = self.kind, {name: v.astype(float) for name, v in (values or self.values).items()}
        rows = {name: [self.rows[name][i] for i in self.batch[name]] if batched and name in self.batch else self.rows[name] for name in self.rows}
        tables = {name: [tuple(map(int, row)) for row in own] for name, own in rows.items()}
        everywhere = {tuple(map(int, row)) for row in self.rows["u"]}  # guards see all rows
        log = kind.semantics == "logltn"

        self.asked = False  # about d

        def degree(name, at):
            self.asked |= name == "d"
            z = float(values[name][at] if at else values[name])
            if name == "d" and kind.d == "truth":
                return (math.log(z + 1e-7), math.log(1 - z + 1e-7)) if log else (z, 1 - z)
            if name == "d" and kind.d == "softmax":
                row = values[name][at[0]]
                others = [float(v) for i, v in enumerate(row) if i != at[1]]
                top = max(row)
                total = math.log(sum(math.exp(v - top) for v in row)) + top
                rest = max(others) + math.log(sum(math.exp(v - max(others)) for v in others))
                yes, no = z - total, rest - total
            else:
                yes, no = log_sigmoid(z), log_sigmoid(-z)
            return (yes, no) if log else (math.exp(yes), math.exp(no))

        world = World(
            {"X": range(self.size), "K": range(3)}, tables, {"c": self.c}, degree, self.alpha, self.p, self.p_forall, kind.semantics, kind.leave_out
        )
        axioms = []
        for name in kind.axioms:
            f = AXIOMS[name]
            if name == "member":  # its guard looks into a table
                inner = f.body.members[1]
                inside = Quantified(inner.kind, inner.binders, ("", lambda b, _: (b["x"], b["y"]) in everywhere), inner.body)
                f = Quantified(f.kind, f.binders, f.guard, Node("or", (f.body.members[0], inside)))
            axioms.append(f)
        truths = [world.value(f) for f in axioms]
        weights = [self.weights.get(name, kind.weights[name]) for name in kind.axioms]
        if kind.leave_out:
            kept = [w if not world.is_about_nothing(f) else 0.0 for w, f in zip(weights, axioms)]
            weights = kept if any(kept) else weights
        return dict(zip(kind.axioms, truths)), world.loss(truths, weights, kind.p_axioms)


def near(found, right, double, scale=1.0):
    found, right = float(found.detach() if hasattr(found, "detach") else found), float(right)
    bound = (1e-7 if double else 2e-4) * max(1.0, abs(right), scale)
    assert abs(found - right) <= bound, f"{found!r} is not {right!r}"


def given(kind, call, kb, tensors):
    """The values in some form."""
    rng, found = kind.rng, {}
    for name in sorted(kind.used):
        if tensors and kind.network and name == "d":
            continue
        value = call.values[name]
        if rng.random() < 0.2 and value.ndim > 1:  # other strides
            value = np.asfortranarray(value)
        if tensors:
            value = torch.tensor(value, requires_grad=rng.random() < 0.7)
        if rng.random() < 0.2 and name in ("e", "q"):
            rows = kb.rows(name, **call.coming(), **({"batch": call.batch} if call.batch else {}))
            at = tuple(torch.from_numpy(rows[:, i].astype(np.int64)) if tensors else rows[:, i] for i in range(rows.shape[1]))
            value = logltn.AtRows(value[at])
        found[name] = value
    return found


def numpy_call(kind, call, kb, fresh):
    values = given(kind, call, kb, False)
    arguments = call.arguments()
    r = kb.evaluate(values, **arguments, gradients=True)
    truths, loss = call.expected()
    for name, truth in truths.items():
        near(r.truths[name], truth, call.double())
    near(r.loss, loss, call.double(), max(map(abs, truths.values())))
    assert r.loss.dtype == (np.result_type(*(call.dtypes[n] for n in kind.used)) if kind.used else np.float64)
    other = fresh.evaluate(values, **arguments, gradients=True)
    near(other.loss, r.loss, call.double(), max(map(abs, truths.values())))
    for name, gradient in r.gradients.items():
        assert np.allclose(gradient, other.gradients[name], rtol=1e-3, atol=1e-5)
        shown = values[name].values if isinstance(values[name], logltn.AtRows) else values[name]
        assert gradient.shape == shown.shape and gradient.dtype == shown.dtype
    slope(kind, call, r.gradients, values)


def slope(kind, call, gradients, values):
    """One number of the gradient against a difference of the reference."""
    full = [n for n, v in values.items() if not isinstance(v, logltn.AtRows) and call.values[n].size and gradients.get(n) is not None]
    if not full or not call.double():
        return
    name = kind.rng.choice(full)
    at = np.unravel_index(kind.rng.randrange(call.values[name].size), call.values[name].shape)
    step, found = 1e-5, []
    for sign in (1, -1):
        moved = {n: v.astype(float) for n, v in call.values.items()}
        moved[name][at] += sign * step
        found.append(call.expected(moved)[1])
    right = (found[0] - found[1]) / (2 * step)
    if abs(call.expected()[1]) < 100:  # beyond, the difference is rounding
        assert abs(float(gradients[name][at]) - right) <= 1e-4 * max(1, abs(right)), (name, at, gradients[name][at], right)


def torch_call(kind, call, kb, fresh):
    kind.numbers = torch.tensor(call.values["d"], requires_grad=True)
    values, arguments = given(kind, call, kb, True), call.arguments()
    truths, right = call.expected()
    scale = max(map(abs, truths.values()))
    which = kind.rng.randrange(4)
    if which == 0:
        for name, truth in kb.axioms(values=values, **arguments).items():
            near(truth, truths[name], call.double())
        return
    run = (kb.loss if which == 1 else kb)
    loss = run(**values, **arguments) if which != 3 else run(values=values, **arguments)
    near(loss, right, call.double(), scale)
    near(fresh.loss(**values, **arguments), right, call.double(), scale)
    assert kb.truths.logs == (kind.semantics == "logltn") and set(kb.truths) == set(kind.axioms)
    leaves = {n: v.values if isinstance(v, logltn.AtRows) else v for n, v in values.items()}
    leaves = {n: v for n, v in leaves.items() if v.is_leaf and v.requires_grad}
    if loss.requires_grad:
        loss.backward()
        assert all(v.grad is not None and v.grad.shape == v.shape for v in leaves.values())
        slope(kind, call, {n: v.grad for n, v in leaves.items()}, {n: values[n] for n in leaves})


def question(kind, call, kb, tensors):
    kind.numbers = torch.tensor(call.values["d"])
    values = {n: torch.tensor(v) if tensors else v for n, v in call.values.items() if not (tensors and kind.network and n == "d" and n in kind.used)}
    coming = call.coming()
    name = kind.rng.choice(kind.axioms)
    found = kb.explain(values, name, alpha=call.alpha, p=call.p, p_forall=call.p_forall, **coming)["axioms"][0]
    # What it says is of all rows, and in double precision.
    near(found["truth"], call.expected(batched=False)[0][name], False)
    assert str(kb.explain(values, name, top=1, **coming))
    if call.size:
        who = kind.rng.randrange(call.size)
        if "tables" in coming and kind.rng.random() < 0.5:
            del coming["tables"]  # which the question does not speak of
        answers = kb.query("find x: X. e(x)", values, top=0, **coming)["answers"]
        truth = next(a["truth"] for a in answers if a["binding"]["x"] == who)
        yes = log_sigmoid(float(call.values["e"][who]))
        near(truth, yes if kind.semantics == "logltn" else math.exp(yes), False)


def mistake(kind, call, kb):
    values = dict(call.values)
    rng = kind.rng
    which = rng.randrange(4)
    arguments = call.arguments()
    if which == 0:
        values["e"] = np.zeros(call.size + 1)
        if "e" not in kind.used:
            return
    elif which == 1:
        arguments["alpha"] = -1.0
    elif which == 2:
        arguments["weights"] = {"nobody": 1.0}
    else:
        arguments["params"] = {"nobody": 1}
    with pytest.raises(logltn.InputError):
        kb.evaluate({n: values[n] for n in kind.used}, **arguments)


def sequence(seed, calls):
    rng = random.Random(seed)
    kind = Kind(rng)
    try:
        bases = {cls: kind.make(cls) for cls in (logltn.KnowledgeBase, logltn.torch.KnowledgeBase)}
    except logltn.InputError as error:
        # Guards of a sort that comes with calls, asked of rows that are known.
        assert kind.streams_x and error.diagnostics, error
        return calls
    past = []
    for _ in range(calls):
        call = rng.choice(past) if past and rng.random() < 0.3 else Call(kind)
        past = [*past[-4:], call]
        what = rng.randrange(10)
        numpy, tensors = bases[logltn.KnowledgeBase], bases[logltn.torch.KnowledgeBase]
        if what < 4:
            numpy_call(kind, call, numpy, kind.make(logltn.KnowledgeBase))
        elif what < 8:
            torch_call(kind, call, tensors, kind.make(logltn.torch.KnowledgeBase))
        elif what < 9:
            question(kind, call, *rng.choice([(numpy, False), (tensors, True)]))
        else:
            mistake(kind, call, numpy)
    return calls


def test_calls():
    done, seed = 0, SEED
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", logltn.InputWarning)
        while done < CALLS:
            try:
                done += sequence(seed, 8)
            except BaseException:
                print(f"LOGLTN_PYTHON_SEED={seed}")
                raise
            seed += 1
