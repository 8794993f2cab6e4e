"""Worlds that keep the laws, in NumPy, in PyTorch and on the command line, against going through all worlds."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import logltn
from worlds_oracle import Case

CASES = Path(__file__).parents[3] / "conformance" / "probability"


# How many random theories each test looks at, beyond its first ones; the tests of the repository look at those alone.
MORE = int(os.environ.get("LOGLTN_RANDOM_CASES", 0))


def columns(case: Case, name: str) -> dict[str, list[Any]]:
    sorts, rows = case.tables[name]
    return {f"c{i}": [row[i] for row in rows] for i in range(len(sorts))}


def knowledge(case: Case, module: Any = logltn, **more: Any) -> Any:
    sorts = {"S": case.sorts["S"]} if "S" in case.sorts else None
    outputs = {name: case.output(name) for name in case.predicates}
    tables = {name: columns(case, name) for name in case.tables if name not in more.get("streamed", ())}
    return module.KnowledgeBase(
        case.theory(), sorts=sorts, tables=tables, outputs=outputs, laws=case.laws, dtype="float64", **more
    )  # fmt: skip


def values(case: Case) -> dict[str, np.ndarray]:
    return {name: np.array(case.raw[name]).reshape(case.shape(name)) for name in case.predicates}


def expected_marginals(case: Case, worlds: Any) -> dict[str, np.ndarray]:
    total = sum(p for _, p in worlds)
    found: dict[str, list[float]] = {name: [] for name in case.predicates}
    for i, (name, _, states) in enumerate(case.variables):
        p = [sum(p for world, p in worlds if world[i] == state) / total for state in range(states)]
        found[name] += p if case.predicates[name][0] == "softmax" else p[1:]
    return {name: np.array(p).reshape(case.shape(name)) for name, p in found.items()}


def as_world(case: Case, arrays: dict[str, np.ndarray]) -> tuple[int, ...]:
    places = {name: iter(np.asarray(array).reshape(-1).tolist()) for name, array in arrays.items()}
    return tuple(next(places[name]) for name, *_ in case.variables)


@pytest.mark.parametrize("seed", range(60 + MORE))
def test_worlds_are_those_of_enumeration(seed: int) -> None:
    case = Case(seed)
    kb, given = knowledge(case), values(case)
    if seed % 3 == 0:  # arrays whose memory is in another order
        given = {name: np.asarray(v, order="F") for name, v in given.items()}
    chosen = [m for name, *_ in case.axioms for m in case.members(name) if case.random.random() < 0.5]
    names = [name for name, *_ in chosen]
    case.random.shuffle(names)
    for laws, conditions in [
        (None, [(f, env) for law in case.laws for _, f, env in case.members(law)]),
        ([], []),
        (names, [(f, env) for _, f, env in chosen]),
        (None, [(f, env) for law in case.laws for _, f, env in case.members(law)]),
    ]:
        kept = [w for w in case.all_worlds() if all(case.holds(f, w, env) for f, env in conditions)]
        known = {w: p for w in kept if (p := case.probability(w)) > 0}
        if not known:
            with pytest.raises(logltn.InputError, match="no world .* all laws"):
                kb.marginals(given, laws=laws)
            continue
        total = sum(known.values())
        for name, p in expected_marginals(case, known.items()).items():
            np.testing.assert_allclose(kb.marginals(given, laws=laws)[name], p, rtol=1e-9, atol=1e-12)
        world, log = kb.world(given, laws=laws)
        best = max(known.values())
        assert math.isclose(known[as_world(case, world)], best, rel_tol=1e-9)
        assert math.isclose(log, math.log(best / total), rel_tol=1e-9, abs_tol=1e-9)
        drawn = kb.sample(given, 20, seed=seed, laws=laws)
        for i in range(20):
            assert as_world(case, {name: worlds[i] for name, worlds in drawn.items()}) in known
        entropy = -sum(p / total * math.log(p / total) for p in known.values())
        assert math.isclose(kb.entropy(given, laws=laws), entropy, rel_tol=1e-9, abs_tol=1e-9)
        formula = case.formula(3, [])
        p = sum(p for w, p in known.items() if case.holds(formula, w, {})) / total
        found = kb.log_probability(given, case.text(formula), laws=laws)
        assert math.isclose(found, math.log(p) if p > 0 else -1e5, rel_tol=1e-9, abs_tol=1e-9), case.text(formula)


@pytest.mark.parametrize("seed", range(200, 260 + MORE))
def test_truths_and_gradients_are_those_of_enumeration(seed: int) -> None:
    case = Case(seed)
    worlds, given = case.worlds(case.laws), values(case)
    # What `all` and `any` look at does not come with calls.
    streamed = [name for name in case.tables if case.random.random() < 0.5 and name not in case.looked_at]
    if not worlds:
        with pytest.raises(logltn.InputError, match="no world .* all laws"):
            knowledge(case, semantics="probability").evaluate(given)
        return
    kb = knowledge(case, semantics="probability", streamed=streamed)
    if streamed and seed % 2:  # other rows first, then none, then the right ones
        rows = {name: columns(case, name) for name in streamed}
        for some in ({n: {c: v[:1] for c, v in t.items()} for n, t in rows.items()}, {n: {c: [] for c in t} for n, t in rows.items()}):
            try:
                kb.evaluate(given, tables=some)
            except logltn.InputError as error:
                assert error.diagnostics[0].code == "contradiction"
    found = kb.evaluate(given, tables={name: columns(case, name) for name in streamed}, gradients=True)
    expected = {name: case.value(f, env, worlds) for name, f, env in case.soft()}
    assert found.truths.keys() >= expected.keys()
    for name, truth in expected.items():
        assert math.isclose(found.truths[name], truth, rel_tol=1e-9, abs_tol=1e-12), name
    assert math.isclose(found.loss, case.loss(worlds), rel_tol=1e-9, abs_tol=1e-12)
    if expected:
        for name, slope in case.loss_slopes().items():
            np.testing.assert_allclose(np.asarray(found.gradients[name]).reshape(-1), slope, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("seed", range(100, 130 + MORE))
def test_questions_have_the_gradients_of_enumeration(seed: int) -> None:
    torch = pytest.importorskip("torch")
    import logltn.torch

    case = Case(seed)
    kept = case.keeping(case.laws)
    if not case.worlds(case.laws):
        return
    kb = knowledge(case, logltn.torch)
    tensors = {name: torch.tensor(v, requires_grad=True) for name, v in values(case).items()}
    random = np.random.default_rng(seed)
    along = {name: torch.tensor(random.normal(size=v.shape)) for name, v in tensors.items()}
    flat = {name: iter(t.reshape(-1).tolist()) for name, t in along.items()}
    by_state = [
        [next(flat[name]) for _ in range(states)] if case.predicates[name][0] == "softmax" else [0.0, next(flat[name])]
        for name, _, states in case.variables
    ]
    formula = case.formula(2, [])
    event = [w for w in kept if case.holds(formula, w, {})]
    p = kb.marginals(tensors)
    given = case.slopes(kept)
    possible = sum(map(case.probability, event)) > 0
    log = lambda w: -math.log(case.probability(w)) if case.probability(w) > 0 else 0.0
    entropy = kb.entropy(tensors)
    questions = [
        (sum((p[n] * along[n]).sum() for n in p), case.mean_slopes(kept, lambda w: sum(own[s] for own, s in zip(by_state, w)))),
        (kb.log_probability(tensors, case.text(formula)),
         [[a - b if possible else 0.0 for a, b in zip(x, y)] for x, y in zip(case.slopes(event), given)]),
        (entropy, case.mean_slopes(kept, log)),
    ]  # fmt: skip
    for value, expected in questions:
        slopes = torch.autograd.grad(value, list(tensors.values()), allow_unused=True)
        if value is entropy:  # as steep as can be where something is certain: no slope there
            assert all(slope is None or bool(torch.isfinite(slope).all()) for slope in slopes)
            if any(min(w) == 0 for w in case.weights):
                continue
        for (name, tensor), slope in zip(tensors.items(), slopes):
            own = torch.zeros_like(tensor) if slope is None else slope
            # What is improbable divides the rounding of the sums that it is compared with.
            slack = 1e-9 + 1e-14 / sum(map(case.probability, kept))
            np.testing.assert_allclose(own.reshape(-1), case.by_predicate(expected)[name], rtol=1e-7, atol=slack)


@pytest.mark.parametrize("seed", range(6 + MORE))
def test_laws_are_kept_in_every_trial(seed: int) -> None:
    """Worlds and samples of 200 things at a time, in single precision, some of them as sure as can be."""
    random = np.random.default_rng(seed)
    things, text = 200, "sort X  sort L = 0..4  sort K = {a, b, c}  predicate p(X, L)  predicate k(X, K)"

    def law(depth: int) -> tuple[str, Any]:
        kind = random.integers(7 if depth else 2)
        if kind == 0:
            at = int(random.integers(5))
            return f"p(x, {at})", lambda p, k: p[..., at] == 1
        if kind == 1:
            at = int(random.integers(3))
            return f"k(x, {'abc'[at]})", lambda p, k: k == at
        if kind == 2:
            inner, f = law(depth - 1)
            return f"not ({inner})", lambda p, k: ~f(p, k)
        (a, f), (b, g) = law(depth - 1), law(depth - 1)
        word = {3: "and", 4: "or", 5: "->", 6: "<->"}[int(kind)]
        hold = {"and": lambda x, y: x & y, "or": lambda x, y: x | y, "->": lambda x, y: ~x | y, "<->": lambda x, y: x == y}[word]
        return f"({a}) {word} ({b})", lambda p, k: hold(f(p, k), g(p, k))

    laws = [law(3) for _ in range(int(random.integers(1, 4)))]
    text += "".join(f"  axiom l{i}: forall x: X. {formula}" for i, (formula, _) in enumerate(laws))
    kb = logltn.KnowledgeBase(text, outputs={"p": "sigmoid", "k": "softmax"}, laws=[f"l{i}" for i in range(len(laws))])
    scale = random.choice([1.0, 10.0, 1e4], size=(things, 1))
    given = {name: (random.normal(size=(things, n)) * scale).astype(np.float32) for name, n in (("p", 5), ("k", 3))}
    try:
        world, _ = kb.world(given, sorts={"X": things})
    except logltn.InputError as error:
        assert error.diagnostics[0].code == "contradiction"
        return
    drawn = kb.sample(given, 5, seed=seed, sorts={"X": things})
    for _, holds in laws:
        assert holds(world["p"], world["k"]).all() and holds(drawn["p"], drawn["k"]).all()


def test_torch_says_the_same_and_batches_come_with_calls() -> None:
    torch = pytest.importorskip("torch")
    import logltn.torch

    text = """
        sort X  sort Label = {cat, dog, animal, thing}  predicate label(X, Label)
        table isa(child: Label, parent: Label)
        axiom hierarchy: forall x: X. forall (c, p) in isa. label(x, c) -> label(x, p)
    """
    tables = {"isa": {"child": ["cat", "dog", "animal"], "parent": ["animal", "animal", "thing"]}}
    kb = logltn.torch.KnowledgeBase(text, tables=tables, laws=["hierarchy"])
    for size in (0, 1, 3, 1):
        logits = torch.randn(size, 4, generator=torch.Generator().manual_seed(size), requires_grad=True)
        p = kb.marginals({"label": logits}, sorts={"X": size})["label"]
        assert p.shape == (size, 4) and bool((p[:, 0] <= p[:, 2] + 1e-6).all() and (p[:, 2] <= p[:, 3] + 1e-6).all())
        p.sum().backward()
        assert logits.grad.shape == (size, 4)
        world, log = kb.world({"label": logits}, sorts={"X": size})
        w = world["label"]
        assert w.shape == (size, 4) and bool((w[:, 0] <= w[:, 2]).all() and (w[:, 2] <= w[:, 3]).all()) and log.dim() == 0
        drawn = kb.sample({"label": logits}, 7, sorts={"X": size})["label"]
        assert drawn.shape == (7, size, 4) and bool((drawn[..., 2] <= drawn[..., 3]).all())


def test_extreme_logits_stay_finite() -> None:
    torch = pytest.importorskip("torch")
    import logltn.torch

    case = Case(5)
    random = np.random.default_rng(0)
    for seed in range(30):
        case = Case(seed)
        if any(kind in ("truth", "log_truth") for kind, _ in case.predicates.values()):
            continue
        try:
            kb = logltn.torch.KnowledgeBase(
                case.theory(), sorts={"S": case.sorts["S"]} if "S" in case.sorts else None, laws=case.laws,
                tables={name: columns(case, name) for name in case.tables},
                outputs={name: case.output(name) for name in case.predicates}, semantics="probability",
            )  # fmt: skip
        except logltn.InputError as error:
            assert error.diagnostics[0].code == "contradiction"
            continue
        given = {
            name: torch.tensor(random.choice([-1e4, 1e4, 0.0], size=case.shape(name)), dtype=torch.float32, requires_grad=True)
            for name in case.predicates
        }
        total = sum((p * p).sum() for p in kb.marginals(given).values()) + kb.entropy(given) + kb.loss(given)
        total.backward()
        assert math.isfinite(total.item()), seed
        for tensor in given.values():
            assert tensor.grad is None or bool(torch.isfinite(tensor.grad).all()), seed


def test_mistakes() -> None:
    text = "predicate a()  predicate b()  axiom x: a() -> b()"
    with pytest.raises(logltn.InputError, match="no axiom `y`"):
        logltn.KnowledgeBase(text, laws=["y"])
    kb = logltn.KnowledgeBase(text, laws=["x"])
    given = {"a": np.array(0.0), "b": np.array(0.0)}
    with pytest.raises(logltn.InputError, match="no axiom `z`"):
        kb.marginals(given, laws=["z"])
    with pytest.raises(logltn.InputError, match="`b`"):
        kb.marginals({"a": np.array(0.0)})
    with pytest.raises(logltn.InputError, match="`n`"):
        kb.sample(given, -1)
    with pytest.raises(logltn.InputError, match="find"):
        kb.log_probability(given, "find x: A. a()")


@pytest.mark.parametrize("folder", sorted(p.name for p in CASES.iterdir()) if CASES.is_dir() else [])
def test_conformance(folder: str) -> None:
    import tomllib

    expected = json.loads((CASES / folder / "expected.json").read_text())[0]
    manifest = tomllib.loads((CASES / folder / "case.toml").read_text())
    theory = (CASES / folder / "theory.ltn").read_text()
    outputs, given = {}, {}
    parsed = logltn.Theory(theory)
    sizes = {name: len(labels) if kind != "range" else int(labels[1]) - int(labels[0]) + 1 for name, kind, labels in parsed._native.sorts}
    arguments = dict(parsed._native.predicates)
    for name, spec in manifest["predicates"].items():
        key = next(k for k in ("logits", "truth", "log_truth") if k in spec)
        outputs[name] = spec.get("output", "sigmoid") if key == "logits" else key
        rows = list(csv.reader(io.StringIO((CASES / folder / spec[key]).read_text())))[1:]
        given[name] = np.array(rows, float).reshape([sizes[s] for s in arguments[name]])
    laws = expected.get("hard", [])
    kb = logltn.KnowledgeBase(theory, outputs=outputs, laws=laws, semantics="probability", dtype="float64")
    found = kb.evaluate(given, gradients=True)
    assert math.isclose(found.loss, expected["loss"], rel_tol=1e-9, abs_tol=1e-12)
    for axiom in expected["axioms"]:
        assert math.isclose(found.truths[axiom["name"]], axiom["truth"], rel_tol=1e-9, abs_tol=1e-12)
    for name, gradient in expected["gradients"].items():
        np.testing.assert_allclose(found.gradients[name].reshape(-1), np.array(gradient).reshape(-1), rtol=1e-9, atol=1e-12)
    if not laws:
        return
    marginals, (world, _) = kb.marginals(given), kb.world(given)
    for key, states in expected["marginals"].items():
        name, place = json.loads(key)
        p = marginals[name][tuple(place)]
        own = p if outputs[name] == "softmax" else np.array([1 - p, p])
        np.testing.assert_allclose(own, states, rtol=1e-9, atol=1e-12)
    for key, state in (expected["world"] or {}).items():
        name, place = json.loads(key)
        assert world[name][tuple(place)] == state


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "logltn", *words], cwd=folder, capture_output=True, text=True)


def rows(out: subprocess.CompletedProcess[str]) -> list[dict[str, str]]:
    assert out.returncode == 0, out.stderr
    return list(csv.DictReader(io.StringIO(out.stdout)))


@pytest.mark.parametrize("seed", range(300, 308 + MORE // 20))
def test_the_program_is_right(seed: int, tmp_path: Path) -> None:
    case = Case(seed)
    for name, content in case.files().items():
        (tmp_path / name).write_text(content)
    worlds = case.worlds(case.laws)
    said = run(tmp_path, "eval", "case.toml", "--json")
    if not worlds:
        assert said.returncode == 2 and "contradict" in said.stdout + said.stderr
        return
    truths = {a["name"]: a["truth"] for a in json.loads(said.stdout)["axioms"] if not a.get("hard")}
    assert truths.keys() == {name for name, *_ in case.soft()}
    for name, f, env in case.soft():
        assert math.isclose(truths[name], case.value(f, env, worlds), rel_tol=1e-9, abs_tol=1e-12), name

    total, known = sum(p for _, p in worlds), dict(worlds)
    marginals, (world, _) = expected_marginals(case, worlds), knowledge(case).world(values(case))
    for name, (kind, _) in case.predicates.items():
        if not marginals[name].size:
            continue
        per_class = kind in ("softmax", "per_class") and len(case.sorts["B"]) > 1
        said = json.loads(run(tmp_path, "predict", "case.toml", name, "--json", *(["--classes"] if per_class else [])).stdout)
        found = [list(row["classes"].values()) if per_class else row["truth"] for row in said["rows"]]
        np.testing.assert_allclose(np.array(found).reshape(-1), marginals[name].reshape(-1), rtol=1e-9, atol=1e-12)
        said = json.loads(run(tmp_path, "predict", "case.toml", name, "--world", "--json").stdout)
        states = [case.sorts["B"].index(r["prediction"]) if kind == "softmax" else r["prediction"] for r in said["rows"]]
        assert states == world[name].reshape(-1).tolist() and said["log_probability"] <= 1e-12

    names = [name for name in case.predicates if marginals[name].size]
    drawn = rows(run(tmp_path, "sample", "case.toml", *names, "--worlds", "20", "--seed", str(seed)))
    for at in range(20):
        own = [row for row in drawn if row["world"] == drawn[at * len(drawn) // 20]["world"]]
        state = lambda row: case.sorts["B"].index(row["value"]) if case.predicates[row["predicate"]][0] == "softmax" else int(row["value"])
        assert as_world(case, {n: np.array([state(row) for row in own if row["predicate"] == n]) for n in names}) in known

    for _ in range(3):
        formula = case.formula(3, [])
        p = sum(p for w, p in worlds if case.holds(formula, w, {})) / total
        truth = json.loads(run(tmp_path, "query", "case.toml", case.text(formula), "--joint", "--json").stdout)["truth"]
        assert math.isclose(truth, math.log(p) if p > 0 else -1e5, rel_tol=1e-9, abs_tol=1e-9), case.text(formula)
        said = json.loads(run(tmp_path, "entails", "case.toml", case.text(formula), "--exact", "--json").stdout)
        assert said["entailed"] == case.entails(formula), case.text(formula)
    blamed_are_right(case, worlds, json.loads(run(tmp_path, "explain", "case.toml", "--top", "0", "--json").stdout))

    chosen = [m for name, *_ in case.axioms for m in case.members(name) if case.random.random() < 0.5]
    whole = {name for name, *_ in case.axioms if all(m in chosen for m in case.members(name))}  # families by their own name
    given = ",".join(dict.fromkeys(m[0].split("[")[0] if m[0].split("[")[0] in whole else m[0] for m in chosen)) or "none"
    kept = [(w, p) for w in case.all_worlds() if (p := case.probability(w)) > 0 and all(case.holds(f, w, env) for _, f, env in chosen)]
    for name, p in (expected_marginals(case, kept) if kept else marginals).items():
        if p.size:
            classes = ["--classes"] if len(case.sorts["B"]) > 1 and case.predicates[name][0] in ("softmax", "per_class") else []
            said = run(tmp_path, "predict", "case.toml", name, "--json", "--given", given, *classes)
            if not kept:
                assert said.returncode == 2 and "contradict" in said.stdout + said.stderr
                continue
            found = [list(row["classes"].values()) if "classes" in row else row["truth"] for row in json.loads(said.stdout)["rows"]]
            np.testing.assert_allclose(np.array(found).reshape(-1), p.reshape(-1), rtol=1e-9, atol=1e-12, err_msg=given)


def blamed_are_right(case: Case, worlds: Any, said: Any) -> None:
    """Of every binding: Pr(literal | event) - Pr(literal), and the literal's own probability."""
    total = sum(p for _, p in worlds)
    axioms = {name: (f, env) for name, f, env in case.soft()}
    for axiom in said["axioms"]:
        f, env = axioms[axiom["name"]]
        for one in axiom["worst"]:
            bound = one["binding"]
            is_it = lambda e: all(str(e[v]) == str(to) for v, to in bound.items() if v in e)
            events = [o for o in case.observations(f, env) if is_it(o[1])]
            if len(events) != 1:  # bindings that differ only in what is not shown
                continue
            _, inner, body, negated = events[0]
            event = [(w, p) for w, p in worlds if case.holds(body, w, inner) != negated]
            both = sum(p for _, p in event)
            for literal in one["literals"]:
                if literal["literal"].removeprefix("not ").startswith("D"):
                    continue
                var, state, positive = case.literal(literal["literal"])
                before = sum(p for w, p in worlds if (w[var] == state) == positive) / total
                after = sum(p for w, p in event if (w[var] == state) == positive) / both if both > 0 else before
                assert math.isclose(literal["blame"], after - before, rel_tol=1e-9, abs_tol=1e-9), (axiom["name"], literal)
                assert math.isclose(literal["truth"], math.log(before) if before > 0 else -1e5, rel_tol=1e-9, abs_tol=1e-9)


def test_laws_that_certain_degrees_break_are_named() -> None:
    """Also where no observation touches them."""
    text = """
        sort P = {ann, bob, cleo}  predicate old(P)  predicate wise(P)  predicate rain()
        axiom elders: forall x: P. old(x) -> wise(x)
        axiom wet: rain()
    """
    outputs = {"old": "truth", "wise": "truth"}
    kb = logltn.KnowledgeBase(text, outputs=outputs, laws=["elders"], semantics="probability")
    given = {"old": np.array([0.5, 1, 1]), "wise": np.array([0.0, 0.25, 1]), "rain": np.array(0.0)}
    assert math.isclose(kb.evaluate(given).loss, math.log(2), rel_tol=1e-6)
    given["wise"] = np.array([0.5, 0.0, 1])
    with pytest.raises(logltn.InputError, match="`elders` at x = bob\n") as caught:
        kb.evaluate(given)
    assert caught.value.diagnostics[0].code == "contradiction"


@pytest.mark.parametrize("module", ["logltn", "logltn.torch"])
def test_impossible_observations_are_counted_and_told(module: str) -> None:
    base = pytest.importorskip(module)
    text = "sort X predicate p(X) axiom a: forall x: X. p(x) axiom law: forall x: X. not p(x)"
    kb = base.KnowledgeBase(text, laws=["law"], semantics="probability", dtype="float64")
    values = {"p": np.zeros(3)}
    with pytest.warns(logltn.InputWarning, match="axiom `a`: 3 observations have probability 0") as said:
        if base is logltn:
            found = kb.evaluate(values, sorts={"X": 3})
            assert found.impossible == {"a": 3, "law": 0}
            assert "impossible" in found._repr_html_()
        else:
            torch = pytest.importorskip("torch")
            assert math.isclose(float(kb.loss(values={"p": torch.tensor(values["p"])}, sorts={"X": 3})), 1e5)
    assert len(said) == 1
