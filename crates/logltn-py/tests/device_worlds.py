"""Questions about worlds on a device against the CPU engine: random theories and laws, values and gradients, the same draws."""

import random
import warnings

import numpy as np
import torch

import logltn
import logltn.torch
from device_cases import on_device
from worlds_oracle import Case


def both(arguments, device):
    """A knowledge base of the CPU engine, and one that runs where the values are."""
    return logltn.torch.KnowledgeBase(**arguments), on_device(arguments, device, {})


def same(here, there, values, device, formula, laws, seed, call):
    """All questions, with gradients. Returns how many there were."""
    rng = np.random.default_rng(seed)
    asked = {}
    for kb, to in ((here, torch.device("cpu")), (there, device)):
        given = {name: v.detach().clone().to(to).requires_grad_() for name, v in values.items()}
        about = dict(laws=laws, **call)
        p = kb.marginals(given, **about)
        if "along" not in asked:
            asked["along"] = {name: torch.tensor(rng.normal(size=tuple(v.shape))) for name, v in p.items()}
        totals = {
            "marginals": sum((p[name] * asked["along"][name].to(to)).sum() for name in p),
            "entropy": kb.entropy(given, **about),
            "log_probability": kb.log_probability(given, formula, **about),
        }
        found = {name: v.detach().cpu() for name, v in p.items()}
        for name, total in totals.items():
            found[name] = total.detach().cpu()
            slopes = torch.autograd.grad(total, list(given.values()), allow_unused=True) if total.requires_grad else [None] * len(given)
            for v, slope in zip(given, slopes):
                found[name, v] = torch.zeros_like(values[v]) if slope is None else slope.cpu()
        world, found["log"] = kb.world(given, **about)
        drawn = kb.sample(given, 7, seed=seed, **about)
        assert found["log"].device.type == to.type and all(w.device.type == to.type for w in (*p.values(), *world.values(), *drawn.values()))
        asked[kb is there] = found, {name: w.cpu() for name, w in world.items()}, {name: w.cpu() for name, w in drawn.items()}
    (cpu, world, drawn), (other, other_world, other_drawn) = asked[False], asked[True]
    for key, expected in cpu.items():
        np.testing.assert_allclose(other[key].detach().cpu(), expected.detach().cpu(), rtol=1e-8, atol=1e-9, err_msg=str((seed, key, laws)))
    for name in values:
        assert torch.equal(world[name], other_world[name]), (seed, name, laws)
        assert torch.equal(drawn[name], other_drawn[name]), (seed, name, laws)
    return 1


def check_worlds(seed, device):
    """A random theory, some of its axioms as laws."""
    case, rng = Case(seed), np.random.default_rng(seed)
    outputs = {name: "softmax" if kind == "softmax" else "sigmoid" for name, (kind, _) in case.predicates.items()}
    tables = {name: {f"c{i}": [row[i] for row in rows] for i in range(len(sorts))} for name, (sorts, rows) in case.tables.items()}
    sorts = {"S": case.sorts["S"]} if "S" in case.sorts else None
    arguments = dict(theory=case.theory(), sorts=sorts, outputs=outputs, tables=tables, laws=case.laws, dtype="float64")
    # Whole numbers have many worlds that are equally probable.
    size = rng.choice([1.0, 3.0, 100.0])
    values = {name: torch.tensor(rng.normal(size=case.shape(name)) * size) for name in case.predicates}
    if seed % 3 == 0:
        values = {name: v.div(size).round() for name, v in values.items()}
    chosen = [m[0] for name, *_ in case.axioms for m in case.members(name) if random.Random(seed).random() < 0.5]
    compared = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            here, there = both(arguments, device)
        except logltn.InputError as error:
            assert error.diagnostics[0].code == "contradiction", error
            return 0
        for laws in (None, chosen, []):
            try:
                here.world(values, laws=laws)
            except logltn.InputError as error:
                assert error.diagnostics[0].code == "contradiction", error
                continue
            compared += same(here, there, values, device, case.text(case.formula(3, [])), laws, seed, {})
    for (_, _, formula, _, _, laws), engine in there._backend._worlds.items():
        assert (engine is not None) == (formula is not None or bool(case.laws if laws is None else laws))
    return compared


HIERARCHY = """
    sort X  sort Label = 0..19  sort Kind = {red, green, blue}  predicate label(X, Label)  predicate kind(X, Kind)  predicate unasked(X)
    table isa(child: Label, parent: Label)
    axiom hierarchy: forall x: X. forall (c, p) in isa. label(x, c) -> label(x, p)
    axiom kinds: forall x: X. label(x, 7) -> kind(x, red) or kind(x, blue)
"""


def check_batches(device):
    """Things that come with calls, some and none, also as rows; what laws do not speak of."""
    tables = {"isa": {"child": list(range(1, 20)), "parent": [(i - 1) // 3 for i in range(1, 20)]}}
    arguments = dict(theory=HIERARCHY, tables=tables, laws=["hierarchy", "kinds"], outputs={"kind": "softmax"}, dtype="float64")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        here, there = both(arguments, device)
    compared = 0
    for size in (3, 0, 1, 40, 3):
        rng = np.random.default_rng(size)
        shapes = {"label": (size, 20), "kind": (size, 3), "unasked": (size,)}
        values = {name: torch.tensor(rng.normal(size=shape)) for name, shape in shapes.items()}
        formula = "forall x: X. exists l: Label. label(x, l) and (kind(x, green) or unasked(x))"
        compared += same(here, there, values, device, formula, None, size, {"sorts": {"X": size}})
    single = {name: v.float() for name, v in values.items()}
    for answer in (there.marginals(single, sorts={"X": size}), here.marginals(single, sorts={"X": size})):
        assert all(p.dtype is torch.float32 for p in answer.values())
    assert all(engine is not None for engine in there._backend._worlds.values())
    return compared
