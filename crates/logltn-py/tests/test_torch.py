"""PyTorch: the loss and the axioms with autograd."""

import contextlib
import copy
import io
import pickle

import numpy as np
import pytest

import logltn

torch = pytest.importorskip("torch")
import logltn.torch  # noqa: E402
from test_numpy import ADDITION, LOGITS, SUMS  # noqa: E402


def addition(**changed):
    arguments = dict(sorts={"Image": 4}, tables={"sums": SUMS}, outputs={"digit": "softmax"}, dtype="float64")
    return logltn.torch.KnowledgeBase(ADDITION, **{**arguments, **changed})


def logits(**arguments):
    return torch.tensor(LOGITS, requires_grad=True, **arguments)


RULES = """
    sort P  sort T = {a, b, c}  table rows(x: P, t: T)
    predicate type(P, T)  predicate part(P, P)  predicate ok()  predicate even(T)
    axiom r: forall (x, t) in rows. type(x, t)
    axiom s (weight 2): forall x, y: P. part(x, y) -> not part(y, x)
    axiom t: forall x: P. exists y: P, t: T. part(x, y) and type(y, t) and (ok() or even(t))
    axiom u: exists x: P. (type(x, a) <-> part(x, x)) and not ok()
"""


@pytest.mark.parametrize("semantics", ["logltn", "logltn-sum", "logltn-lse", "prod", "stable", "logltn-prob"])
@pytest.mark.parametrize("seed", range(3))
def test_gradcheck(semantics, seed):
    generator = torch.Generator().manual_seed(seed)
    kb = logltn.torch.KnowledgeBase(
        RULES, sorts={"P": 3}, tables={"rows": {"x": [0, 2], "t": ["a", "c"]}},
        outputs={"type": "softmax", "even": "truth", "ok": "log_truth"}, semantics=semantics, dtype="float64",
    )  # fmt: skip
    shapes = {"type": (3, 3), "part": (3, 3), "ok": (), "even": (3,)}
    values = {n: torch.randn(s, generator=generator, dtype=torch.float64) for n, s in shapes.items()}
    values["even"] = values["even"].sigmoid() * 0.8 + 0.1
    values["ok"] = -values["ok"].abs() - 0.1
    tensors = [v.requires_grad_() for v in values.values()]
    call = dict(alpha=2.0, p=3.0, p_forall=3.0)
    assert torch.autograd.gradcheck(lambda *v: kb.loss(**dict(zip(values, v)), **call), tensors)
    assert torch.autograd.gradcheck(lambda *v: tuple(kb.axioms(**dict(zip(values, v)), **call).values()), tensors)


def test_loss():
    kb = addition()
    x = logits()
    loss = kb.loss(digit=x, alpha=2.0)
    expected = kb.evaluate({"digit": LOGITS}, alpha=2.0, gradients=True)
    assert loss.item() == expected.loss and kb.truths == {"addition": expected.truths["addition"]}
    (3 * loss).backward()
    np.testing.assert_allclose(x.grad.numpy(), 3 * expected.gradients["digit"], rtol=1e-14)
    single = kb.loss(values={"digit": x.float()}, alpha=2.0)
    assert single.dtype == torch.float32 and single.requires_grad
    with torch.no_grad():
        assert not kb.loss(digit=x).requires_grad
    assert not kb.loss(digit=x.detach()).requires_grad
    assert kb.loss(digit=LOGITS, alpha=2.0).item() == expected.loss


def test_forms_of_values():
    kb = addition()
    expected = kb.loss(digit=logits(), alpha=2.0)
    wide = torch.zeros(8, 20, dtype=torch.float64)
    wide[::2, ::2] = torch.tensor(LOGITS)
    for base, form in [
        (torch.tensor(LOGITS.T.copy(), requires_grad=True), lambda b: b.t()),
        (wide.requires_grad_(), lambda b: b[::2, ::2]),
        (torch.tensor(LOGITS[:1], requires_grad=True), lambda b: b.expand(4, 10)),
    ]:
        loss = kb.loss(digit=form(base), alpha=2.0)
        loss.backward()
        copied = form(base.detach()).contiguous().requires_grad_()
        again = kb.loss(digit=copied, alpha=2.0)
        again.backward()
        assert loss.item() == again.item()
        reference = base.detach().clone().requires_grad_()
        form(reference).backward(copied.grad)
        torch.testing.assert_close(base.grad, reference.grad)
    assert kb.loss(digit=torch.tensor(LOGITS.T.copy()).t(), alpha=2.0).item() == expected.item()


def test_at_rows():
    kb = addition()
    rows = torch.from_numpy(kb.rows("digit")[:, 0].astype(np.int64))
    x = logits()
    kb.loss(digit=logltn.AtRows(x[rows]), alpha=2.0).backward()
    y = logits()
    kb.loss(digit=y, alpha=2.0).backward()
    torch.testing.assert_close(x.grad, y.grad, rtol=0, atol=0)


def test_streamed():
    kb = logltn.torch.KnowledgeBase(ADDITION, outputs={"digit": "softmax"}, streamed=["sums"])
    net = torch.nn.Linear(5, 10)
    for n in (torch.tensor([3, 17]), torch.tensor([0]), torch.tensor([9, 9, 1])):
        images = torch.randn(2 * len(n), 5)
        i = torch.arange(2 * len(n))
        call = dict(alpha=2.0, sorts={"Image": len(i)}, tables={"sums": {"x": i[0::2], "y": i[1::2], "n": n}})
        loss = kb.loss(digit=net(images), **call)
        net.zero_grad()
        loss.backward()
        found = net.weight.grad.clone()
        net.zero_grad()
        truths = kb.axioms(digit=net(images), **call)
        kb.loss(digit=net(images[:2]), sorts={"Image": 2}, tables={"sums": [[0, 1, 4]]})  # another call in between
        (-truths["addition"]).backward()
        torch.testing.assert_close(net.weight.grad, found)


def test_training():
    torch.manual_seed(0)
    kb = addition(dtype="float32")
    x = torch.zeros(4, 10).normal_().requires_grad_()
    optimizer = torch.optim.Adam([x], lr=0.3)
    for step in range(200):
        optimizer.zero_grad()
        loss = kb.loss(digit=x, alpha=1.0 + step / 50)
        loss.backward()
        optimizer.step()
    digits = x.argmax(1)
    assert digits[0] + digits[1] == 7 and digits[2] + digits[3] == 12


def test_mistakes():
    kb = addition()
    for code, call in {
        "unknown-predicate": lambda: kb.loss(digits=logits()),
        "unsupported-elements": lambda: kb.loss(digit=torch.zeros(4, 10, dtype=torch.int64)),
        "not-finite": lambda: kb.loss(digit=logits() * torch.nan),
        "wrong-shape": lambda: kb.loss(digit=logits()[:3]),
        "duplicate-name": lambda: kb.loss({"digit": logits()}, digit=logits()),
        "not-grounded": lambda: kb.loss(),
    }.items():
        with pytest.raises(logltn.InputError) as caught:
            call()
        assert caught.value.diagnostics[0].code == code
        assert torch.isfinite(kb.loss(digit=logits()))


def test_tensors_without_rows_and_columns():
    kb = addition()
    x = torch.tensor(LOGITS)
    for wrong in (x.to_sparse(), x.to("meta"), torch.nested.nested_tensor([x])):
        with pytest.raises(logltn.InputError, match="`digit`"):
            kb.loss(digit=wrong)
    with pytest.raises(logltn.InputError, match="masked"):
        kb.loss(digit=np.ma.masked_array(LOGITS, LOGITS > 0))
    # Arrays that PyTorch cannot have as tensors are read anyway.
    expected = kb.loss(digit=x).item()
    frozen = LOGITS.copy()
    frozen.flags.writeable = False
    for array in (LOGITS[::-1].copy()[::-1], LOGITS.astype(">f8"), frozen):
        assert kb.loss(digit=array).item() == expected


def test_twice_backward():
    x = logits()
    loss = addition().loss(digit=x)
    loss.backward(retain_graph=True)
    once = x.grad.clone()
    loss.backward()
    torch.testing.assert_close(x.grad, 2 * once)


def test_gradients_are_handed_over():
    kb = addition(dtype="float32")
    x = torch.tensor(LOGITS, dtype=torch.float32, requires_grad=True)
    kb.loss(digit=x).backward()
    once = x.grad.clone()
    # Whatever becomes of one gradient, the next is another.
    x.grad.zero_()
    loss = kb.loss(digit=x)
    (3 * loss).backward(retain_graph=True)
    torch.testing.assert_close(x.grad, 3 * once)
    before, kb_truths = x.grad.clone(), kb.truths
    x.grad = None
    loss.backward(torch.tensor(0.5), retain_graph=True)
    torch.testing.assert_close(x.grad, 0.5 * once)
    assert not torch.equal(before, x.grad) and kb.truths == kb_truths
    x.grad = None
    (given,) = torch.autograd.grad(loss, x, retain_graph=True)
    (again,) = torch.autograd.grad(loss, x, retain_graph=True)
    assert given.data_ptr() != again.data_ptr()
    torch.testing.assert_close(given, again)
    (batched,) = torch.autograd.grad(loss, x, torch.tensor([1.0, 3.0]), is_grads_batched=True, retain_graph=True)
    torch.testing.assert_close(batched, torch.stack([given, 3 * given]))
    # Values that were changed meanwhile are noticed, as everywhere in PyTorch.
    y = torch.tensor(LOGITS, dtype=torch.float32, requires_grad=True) + 0
    loss = kb.loss(digit=y)
    loss.backward(retain_graph=True)
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_values_in_any_memory(dtype):
    """Read in place or not, the numbers are the same."""
    kb = addition(dtype=dtype)
    x = torch.tensor(LOGITS, dtype=getattr(torch, dtype))
    expected, gradient = None, None
    wide = torch.zeros(4, 30, dtype=x.dtype)
    wide[:, ::3] = x
    frozen = x.numpy().copy()
    frozen.flags.writeable = False
    with pytest.warns(UserWarning) if dtype == "float32" else contextlib.nullcontext():
        read_only = torch.from_numpy(frozen) if dtype == "float32" else x.clone()
    for values in (x.clone(), x.t().contiguous().t(), wide[:, ::3], x.flip(0).flip(0), read_only):
        kept = values.clone()
        values.requires_grad_()
        loss = kb.loss(digit=values, alpha=2.0)
        loss.backward()
        assert torch.equal(values.detach(), kept)
        expected, gradient = loss.item() if expected is None else expected, values.grad if gradient is None else gradient
        assert loss.item() == expected and torch.equal(values.grad, gradient)


def test_whatever_the_default_device_is():
    kb = addition()
    expected = kb.loss(digit=logits()).item()
    x = logits()
    with torch.device("meta"):
        loss = kb.loss(digit=x)
        loss.backward()
        axioms = kb.axioms(digit=x)
    assert loss.item() == expected and loss.device.type == "cpu" and x.grad.device.type == "cpu"
    assert axioms["addition"].device.type == "cpu"


def test_autocast():
    kb = addition(dtype="float32")
    net = torch.nn.Linear(10, 10)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = net(torch.tensor(LOGITS, dtype=torch.float32))
        assert out.dtype == torch.bfloat16
        loss = kb.loss(digit=out)
    assert loss.dtype == torch.float32
    loss.backward()
    assert net.weight.grad is not None and torch.isfinite(net.weight.grad).all()


def test_compile():
    kb = addition()
    compiled = torch.compile(lambda x: kb.loss(digit=2 * x, alpha=2.0) + 1, backend="eager")
    x, y = logits(), logits()
    compiled(x).backward()
    (kb.loss(digit=2 * y, alpha=2.0) + 1).backward()
    torch.testing.assert_close(x.grad, y.grad)


def test_copies():
    kb = addition()
    expected = kb.loss(digit=logits()).item()
    file = io.BytesIO()
    torch.save(kb, file)
    file.seek(0)
    for copied in (copy.deepcopy(kb), pickle.loads(pickle.dumps(kb)), torch.load(file, weights_only=False)):
        assert copied.loss(digit=logits()).item() == expected


class Sums(torch.utils.data.Dataset):
    """Evaluates in the worker, which was forked."""

    def __init__(self, kb):
        self.kb = kb

    def __len__(self):
        return 8

    def __getitem__(self, i):
        return self.kb.loss(digit=torch.tensor(LOGITS)).item()


def test_data_loader_with_workers():
    kb = addition()
    expected = kb.loss(digit=torch.tensor(LOGITS)).item()
    loader = torch.utils.data.DataLoader(Sums(kb), batch_size=2, num_workers=4, multiprocessing_context="fork", timeout=120)
    for batch in loader:
        assert batch.tolist() == [expected] * 2


def test_a_predicate_with_the_name_of_a_parameter():
    kb = logltn.torch.KnowledgeBase("sort P  predicate p(P)  axiom a: forall x: P. p(x)", sorts={"P": 3})
    for wrong in (torch.zeros(3), logltn.AtRows(torch.zeros(3))):
        with pytest.raises(logltn.InputError, match="predicate of that name") as caught:
            kb.loss(p=wrong)
        assert 'values={"p": …}' in caught.value.diagnostics[0].help
    assert kb.loss({"p": torch.zeros(3)}, p=torch.tensor(2.0)).item() == pytest.approx(-np.log(0.5))
