"""Every conformance case through `evaluate`, values and gradients, in float64."""

import numpy as np
import pytest

import logltn
from conformance_cases import NAMES, near, parameters, read, same_gradients


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore::logltn.InputWarning")
def test_evaluate(name):
    arguments, values, expected = read(name)
    for entry in expected:
        if entry.get("error"):
            with pytest.raises(logltn.InputError):
                logltn.KnowledgeBase(**arguments, semantics=entry["name"], dtype="float64").evaluate(values, **parameters(entry))
            continue
        kb = logltn.KnowledgeBase(**arguments, semantics=entry["name"], dtype="float64")
        r = kb.evaluate(values, gradients=True, **parameters(entry))
        assert near(r.sat, entry["sat"]) and near(r.loss, entry["loss"]), entry["name"]
        truths, empty = r.truths, r.empty_exists
        assert list(truths) == [axiom["name"] for axiom in entry["axioms"]]
        for axiom in entry["axioms"]:
            assert near(truths[axiom["name"]], axiom["truth"])
            assert empty[axiom["name"]] == axiom["empty_exists"]
        same_gradients(r.gradients, entry["gradients"], lambda v: kb.evaluate(v, **parameters(entry)).loss, values)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore::logltn.InputWarning")
def test_torch(name):
    torch = pytest.importorskip("torch")
    import logltn.torch

    arguments, values, expected = read(name)
    for entry in (e for e in expected if not e.get("error")):
        kb = logltn.torch.KnowledgeBase(**arguments, semantics=entry["name"], dtype="float64")
        tensors = {name: torch.tensor(v, requires_grad=True) for name, v in values.items()}
        loss = kb.loss(**tensors, **parameters(entry))
        assert loss.shape == () and loss.dtype == torch.float64
        assert near(loss.item(), entry["loss"])
        loss.backward()
        gradients = {name: t.grad.numpy() for name, t in tensors.items()}
        number = lambda v: kb.evaluate(v, **parameters(entry)).loss
        same_gradients(gradients, entry["gradients"], number, values)
        # The same by way of the axioms, where the loss is linear in them.
        if entry["name"] in ("logltn", "logltn-sum", "logltn-lse"):
            again = {name: torch.tensor(v, requires_grad=True) for name, v in values.items()}
            truths = kb.axioms(values=again, **parameters(entry))
            weights = {a["name"]: a["weight"] for a in entry["axioms"]}
            total = 1.0 if entry["name"] == "logltn-sum" else sum(weights.values())
            (-sum(weights[name] * truth for name, truth in truths.items()) / total).backward()
            for name, tensor in again.items():
                np.testing.assert_allclose(tensor.grad.numpy(), gradients[name], rtol=1e-9, atol=1e-12)
