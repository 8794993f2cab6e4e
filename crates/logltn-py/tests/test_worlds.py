"""Worlds that keep the laws, in NumPy, in PyTorch and on the command line, against going through all worlds."""

from __future__ import annotations

import csv
import io
import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import logltn
from worlds_oracle import Case

CASES = Path(__file__).parents[3] / "conformance" / "probability"


def knowledge(case: Case, module: Any = logltn, **more: Any) -> Any:
    sorts = {"S": case.sorts["S"]} if "S" in case.sorts else None
    outputs = {name: case.output(name) for name in case.predicates}
    return module.KnowledgeBase(case.theory(), sorts=sorts, outputs=outputs, laws=case.laws, dtype="float64", **more)


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


@pytest.mark.parametrize("seed", range(60))
def test_worlds_are_those_of_enumeration(seed: int) -> None:
    case = Case(seed)
    worlds = case.worlds(case.laws)
    if not worlds:
        with pytest.raises(logltn.InputError, match="no world satisfies all laws"):
            knowledge(case).marginals(values(case))
        return
    kb = knowledge(case)
    total, known = sum(p for _, p in worlds), dict(worlds)
    given = values(case)
    marginals = kb.marginals(given)
    for name, p in expected_marginals(case, worlds).items():
        np.testing.assert_allclose(marginals[name], p, rtol=1e-9, atol=1e-12)
    world, log = kb.world(given)
    best = max(p for _, p in worlds)
    assert math.isclose(known[as_world(case, world)], best, rel_tol=1e-9)
    assert math.isclose(log, math.log(best / total), rel_tol=1e-9, abs_tol=1e-9)
    drawn = kb.sample(given, 20, seed=seed)
    for i in range(20):
        assert as_world(case, {name: worlds[i] for name, worlds in drawn.items()}) in known
    entropy = -sum(p / total * math.log(p / total) for _, p in worlds)
    assert math.isclose(kb.entropy(given), entropy, rel_tol=1e-9, abs_tol=1e-9)
    formula = case.formula(3, [])
    p = sum(p for w, p in worlds if case.holds(formula, w, {})) / total
    found = kb.log_probability(given, case.text(formula))
    assert math.isclose(found, math.log(p) if p > 0 else -1e5, rel_tol=1e-9, abs_tol=1e-9)
    free = case.worlds([])
    for name, p in expected_marginals(case, free).items():
        np.testing.assert_allclose(kb.marginals(given, laws=[])[name], p, rtol=1e-9, atol=1e-12)


def soft(case: Case) -> list[tuple[str, Any, dict[str, Any]]]:
    return [member for name, *_ in case.axioms if name not in case.laws for member in case.members(name)]


@pytest.mark.parametrize("seed", range(200, 260))
def test_truths_are_those_of_enumeration(seed: int) -> None:
    case = Case(seed)
    worlds = case.worlds(case.laws)
    if not worlds:
        with pytest.raises(logltn.InputError, match="no world satisfies all laws"):
            knowledge(case, semantics="probability").evaluate(values(case))
        return
    found = knowledge(case, semantics="probability").evaluate(values(case))
    expected = {name: case.value(f, env, worlds) for name, f, env in soft(case)}
    assert found.truths.keys() >= expected.keys()
    for name, truth in expected.items():
        assert math.isclose(found.truths[name], truth, rel_tol=1e-9, abs_tol=1e-12), name
    mean = sum(expected.values()) / len(expected) if expected else 0.0
    assert math.isclose(found.loss, -mean, rel_tol=1e-9, abs_tol=1e-12)


@pytest.mark.parametrize("seed", range(100, 125))
def test_gradients_are_finite_differences(seed: int) -> None:
    torch = pytest.importorskip("torch")
    import logltn.torch

    case = Case(seed)
    steep = [min(w) < 1e-3 for (name, *_), w in zip(case.variables, case.weights) if "truth" in case.predicates[name][0]]
    if not case.worlds(case.laws) or any(steep):  # nothing to compare with where slopes change within a step
        return
    kb = knowledge(case, logltn.torch)
    tensors = {name: torch.tensor(v, requires_grad=True) for name, v in values(case).items()}
    random = np.random.default_rng(seed)
    along = {name: torch.tensor(random.normal(size=v.shape)) for name, v in tensors.items()}
    formula = next(f for f in iter(lambda: case.formula(2, []), None))

    def questions(t: Any) -> list[Any]:
        p = kb.marginals(t)
        return [sum((p[n] * along[n]).sum() for n in p), kb.entropy(t), kb.log_probability(t, case.text(formula))]

    plain = questions(tensors)
    for at, value in enumerate(plain):
        names = list(tensors)
        slopes = torch.autograd.grad(value, [tensors[n] for n in names], allow_unused=True)
        for name, slope in zip(names, slopes):
            for index in np.ndindex(*tensors[name].shape):
                near = []
                for step in (1e-5, -1e-5):
                    moved = {n: t.detach().clone() for n, t in tensors.items()}
                    moved[name][index] += step
                    near.append(float(questions(moved)[at]))
                if min(near) < -1e4:
                    continue
                found = 0.0 if slope is None else float(slope[index])
                assert math.isclose(found, (near[0] - near[1]) / 2e-5, rel_tol=1e-4, abs_tol=1e-6), (at, name, index)


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


@pytest.mark.parametrize("seed", range(300, 308))
def test_the_program_is_right(seed: int, tmp_path: Path) -> None:
    case = Case(seed)
    for name, content in case.files().items():
        (tmp_path / name).write_text(content)
    worlds = case.worlds(case.laws)
    said = run(tmp_path, "eval", "case.toml", "--json")
    if not worlds:
        assert said.returncode == 2 and "no world satisfies all laws" in said.stdout + said.stderr
        return
    truths = {a["name"]: a["truth"] for a in json.loads(said.stdout)["axioms"] if not a.get("hard")}
    assert truths.keys() == {name for name, *_ in soft(case)}
    for name, f, env in soft(case):
        assert math.isclose(truths[name], case.value(f, env, worlds), rel_tol=1e-9, abs_tol=1e-12), name

    total, known = sum(p for _, p in worlds), dict(worlds)
    marginals, (world, _) = expected_marginals(case, worlds), knowledge(case).world(values(case))
    for name, (kind, _) in case.predicates.items():
        if not marginals[name].size:
            continue
        per_class = kind in ("softmax", "per_class")
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


def blamed_are_right(case: Case, worlds: Any, said: Any) -> None:
    """Of every binding: Pr(literal | event) - Pr(literal), and the literal's own probability."""
    total = sum(p for _, p in worlds)
    axioms = {name: (f, env) for name, f, env in soft(case)}
    for axiom in said["axioms"]:
        f, env = axioms[axiom["name"]]
        _, body, negated = case.leading(f)
        for one in axiom["worst"]:
            bound = one["binding"]
            is_it = lambda e: all(str(e[v]) == str(to) for v, to in bound.items() if v in e)
            events = [e for e in case.observations(f, env) if is_it(e)]
            if len(events) != 1:  # bindings that differ only in what is not shown
                continue
            event = [(w, p) for w, p in worlds if case.holds(body, w, events[0]) != negated]
            both = sum(p for _, p in event)
            for literal in one["literals"]:
                if literal["literal"].removeprefix("not ").startswith("D("):
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
