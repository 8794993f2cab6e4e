"""One of four processes; the first one, two, three and all of them compute losses together. Started by test_together.py."""

import copy
import os
import sys
import warnings

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import logltn
import logltn.torch

THEORY = """
    sort Image  sort Digit = 0..9  sort Class = {cat, dog}
    table sums(x: Image, y: Image, n: Int)
    predicate digit(Image, Digit)  predicate likes(Class)
    axiom addition: forall (x, y, n) in sums. exists a, b: Digit where a + b = n. digit(x, a) and digit(y, b)
    axiom some: exists (x, y, n) in sums. digit(x, 3) or digit(y, 4)
    axiom big: exists (x, y, n) in sums where n > 9. digit(x, 9)
    axiom liked: forall c: Class. likes(c)
    axiom tied: forall (x, y, n) in sums. forall c: Class. digit(x, 1) or likes(c)
"""
EACH = "sort P  predicate good(P)  predicate kind(P, P)  axiom all: forall x: P. good(x)  axiom one: exists x: P. good(x)"
SEMANTICS = [
    "logltn", "logltn-sum", "logltn-max", "logltn-lse", "logltn-prob", "prod", "stable", "godel", "lukasiewicz",
    {"base": "logltn", "forall": "min"}, {"base": "logltn", "forall": "log_mean_exp", "over_axioms": "log_mean_exp"},
    {"base": "stable", "forall": "product"}, {"base": "stable", "forall": "mean", "exists": "max"},
    {"base": "logltn", "exists": "mean", "forall": "sum"},
]  # fmt: skip
ROWS = 11
# Where the rows of one process end and those of the next begin: of two, three and four, one of them without rows.
CUTS = {1: [0, 11], 2: [0, 4, 11], 3: [0, 7, 7, 11], 4: [0, 0, 3, 4, 11]}


def share(rank, size):
    return slice(CUTS[size][rank], CUTS[size][rank + 1])


def addition(rows, n):
    i = torch.arange(2 * len(n[rows]))
    return dict(sorts={"Image": len(i)}, tables={"sums": {"x": i[0::2], "y": i[1::2], "n": n[rows]}})


def averaged(gradient, group):
    """What DistributedDataParallel makes of it."""
    gradient = gradient.clone()
    dist.all_reduce(gradient, group=group)
    return gradient / dist.get_world_size(group)


def check_semantics(group, rank, size, device="cpu", backends=("auto", "torch")):
    """Every aggregator at the root, in double precision, by the CPU engine and by torch operations."""
    generator = torch.Generator().manual_seed(5)
    logits = torch.randn(2 * ROWS, 10, generator=generator, dtype=torch.float64)
    likes = torch.randn(2, generator=generator, dtype=torch.float64)
    n = torch.randint(0, 19, (ROWS,), generator=generator)
    for semantics in SEMANTICS:
        parameters = {"some": {"alpha": 3.0, "p": 5.0}, "tied": {"p_forall": 4.0}}
        given = dict(
            outputs={"digit": "softmax"}, streamed=["sums"], dtype="float64", semantics=semantics, parameters=parameters,
            weights={"liked": 0.5},
        )  # fmt: skip

        def run(kb, rows, device):
            x = logits[2 * rows.start : 2 * rows.stop].clone().to(device).requires_grad_()
            y = likes.clone().to(device).requires_grad_()
            loss = kb.loss(digit=x, likes=y, alpha=2.0, p=3.0, **addition(rows, n))
            loss.backward()
            return loss.item(), x.grad, y.grad, kb.truths

        theory = THEORY
        if semantics == "prod":  # whose `exists` is under a log
            theory = "\n".join(line for line in THEORY.split("\n") if "exists (" not in line)
            given["parameters"] = {"tied": {"p_forall": 4.0}}
        one, of_x, of_y, truths = run(logltn.torch.KnowledgeBase(theory, **given), slice(0, ROWS), "cpu")
        for backend in backends:
            kb = logltn.torch.KnowledgeBase(theory, **given, backend=backend, process_group=group)
            if backend == "torch" and size % 2:
                kb._backend.options = {"bindings": 3, "kept": 0}
            rows = share(rank, size)
            loss, by_x, by_y, found = run(kb, rows, device)
            what = (semantics, backend, size, rank)
            assert abs(loss - one) <= 1e-9 * max(1.0, abs(one)), (*what, loss, one, found, truths)
            for name, truth in truths.items():
                assert abs(found[name] - truth) <= 1e-9 * max(1.0, abs(truth)), (*what, name, found[name], truth)
            torch.testing.assert_close(by_x.cpu() / size, of_x[2 * rows.start : 2 * rows.stop], rtol=1e-8, atol=1e-10, msg=lambda m: f"{what} {m}")
            torch.testing.assert_close(averaged(by_y, group).cpu(), of_y, rtol=1e-8, atol=1e-10, msg=lambda m: f"{what} {m}")
            same_everywhere([loss, *found.values()], group, device)
            if backend == "torch" and semantics == "logltn" and "TRITON_INTERPRET" in os.environ and rows.start < rows.stop:
                assert all(engine._valued for engine in kb._backend._plans.values()), "no kernel was run"


def same_everywhere(numbers, group, device="cpu"):
    own = torch.tensor(numbers, dtype=torch.float64, device=device)
    all = [torch.empty_like(own) for _ in range(dist.get_world_size(group))]
    dist.all_gather(all, own, group=group)
    assert all and all[0].isfinite().all() and len({tuple(x.tolist()) for x in all}) == 1, all


def net():
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(12, 20), nn.ELU(), nn.Linear(20, 10))


def check_training(group, rank, size, device="cpu"):
    """Trained weights in single precision: of as many steps with the same rows, cut in another way in each."""
    generator = torch.Generator().manual_seed(7)
    pictures = torch.randn(2 * 40, 12, generator=generator)
    n = torch.randint(0, 19, (40,), generator=generator)
    likes = torch.zeros(2)

    def train(model, kb, mine, device):
        optimizer = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9)
        losses = []
        for step in range(30):
            rows = torch.randperm(40, generator=torch.Generator().manual_seed(step))[:16]
            own = rows[mine(step)]
            x = pictures.view(40, 2, 12)[own].flatten(0, 1).to(device)
            loss = kb.loss(digit=model(x), likes=likes.to(device), alpha=1.0 + step / 10, **addition(slice(None), n[own]))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses, torch.cat([p.detach().flatten() for p in model.parameters()]).cpu()

    def mine(step):
        cuts = np.sort(np.random.default_rng(step).integers(0, 17, size - 1))
        cuts = [0, *cuts, 16]
        return slice(cuts[rank], cuts[rank + 1])

    given = dict(outputs={"digit": "softmax"}, streamed=["sums"])
    one, weights = train(net(), logltn.torch.KnowledgeBase(THEORY, **given), lambda step: slice(None), "cpu")
    model = DistributedDataParallel(net().to(device), process_group=group)
    kb = logltn.torch.KnowledgeBase(THEORY, **given, process_group=group)
    losses, found = train(model, kb, mine, device)
    np.testing.assert_allclose(losses[0], one[0], rtol=1e-6)
    np.testing.assert_allclose(losses, one, rtol=1e-4)
    torch.testing.assert_close(found, weights, rtol=1e-4, atol=1e-5)
    same_everywhere(losses, group, device)


def check_modules(group, rank, size, device="cpu"):
    """Networks that the knowledge base runs: DistributedDataParallel around it; a sort that comes with the call."""
    features = torch.randn(ROWS, 12, generator=torch.Generator().manual_seed(9))

    def make(**more):
        torch.manual_seed(4)
        good = nn.Sequential(nn.Linear(12, 6), nn.ELU(), nn.Linear(6, 1))
        return logltn.torch.KnowledgeBase(EACH, predicates={"good": good}, **more)

    def step(kb, model, rows, device):
        loss = model(alpha=2.0, sorts={"P": features[rows].to(device)})
        loss.backward()
        return loss.item(), torch.cat([p.grad.flatten() for p in kb.parameters()]).cpu()

    kb = make()
    one, of = step(kb, kb, slice(0, ROWS), "cpu")
    kb = make(process_group=group).to(device)
    model = DistributedDataParallel(kb, process_group=group)
    for _ in range(2):  # the second one waits for what the first one left open
        kb.zero_grad()
        loss, by = step(kb, model, share(rank, size), device)
        np.testing.assert_allclose(loss, one, rtol=1e-6)
        torch.testing.assert_close(by, of, rtol=1e-5, atol=1e-7)
    # Features that all have are not sent.
    fixed = DistributedDataParallel(make(sorts={"P": features}, process_group=group).to(device), process_group=group)
    np.testing.assert_allclose(fixed(alpha=2.0).item(), one, rtol=1e-6)
    assert "individuals.P" in fixed.parameters_to_ignore


def check_batches(group, rank, size):
    """Batched tables, weighed axioms, evaluation without gradients, copies."""
    generator = np.random.default_rng(1)
    logits, n = generator.normal(size=(2 * ROWS, 10)), generator.integers(0, 19, ROWS)
    i = np.arange(2 * ROWS)
    given = dict(
        theory=THEORY, outputs={"digit": "softmax"}, dtype="float64", batched=["sums"], sorts={"Image": 2 * ROWS},
        tables={"sums": {"x": i[0::2], "y": i[1::2], "n": n}},
    )  # fmt: skip
    values = {"digit": logits, "likes": np.zeros(2)}
    one = logltn.KnowledgeBase(**given).evaluate(values, gradients=True)
    kb = logltn.torch.KnowledgeBase(**given, process_group=group)
    rows = np.arange(ROWS)[share(rank, size)]
    for own in (kb, copy.deepcopy(kb)):
        found = own.evaluate(values, batch={"sums": rows}, gradients=True)
        assert abs(found.loss - one.loss) <= 1e-9 * abs(one.loss) and found.empty_exists == one.empty_exists
        by = averaged(torch.tensor(found.gradients["digit"]), group)
        np.testing.assert_allclose(by.numpy(), one.gradients["digit"], rtol=1e-8, atol=1e-10)
    x = torch.tensor(logits, requires_grad=True)
    truths = kb.axioms(digit=x, likes=torch.zeros(2, dtype=torch.float64), batch={"sums": rows})
    loss = -sum(w * t for w, t in zip((1.0, 0.5, 2.0, 1.0, 1.0), truths.values()))
    loss.backward(retain_graph=True)
    first = x.grad.clone()
    loss.backward()  # without asking the others again
    torch.testing.assert_close(x.grad, 2 * first)
    weights = dict(zip(truths, (1.0, 0.5, 2.0, 1.0, 1.0)))
    weighed = logltn.KnowledgeBase(**given, weights=weights, semantics={"base": "logltn", "over_axioms": "sum"})
    expected = weighed.evaluate(values, gradients=True).gradients["digit"]
    np.testing.assert_allclose(averaged(first, group).numpy(), expected, rtol=1e-8, atol=1e-10)
    with torch.no_grad():
        assert kb.loss(values={n: torch.tensor(v) for n, v in values.items()}, batch={"sums": rows}).item() == found.loss
    # What all have, but not the same of (dropout), is meant in the mean.
    likes = torch.tensor([0.3 * rank, -1.0 * rank], dtype=torch.float64, requires_grad=True)
    kb.loss(digit=torch.tensor(logits), likes=likes, batch={"sums": rows}).backward()
    logs = [np.mean([-np.log1p(np.exp(-v)) for v in (0.3 * r, -1.0 * r)]) for r in range(size)]
    assert abs(kb.truths["liked"] - np.mean(logs)) < 1e-12
    same_everywhere(list(kb.truths.values()), group)


def check_bytes(group, rank, size):
    """What a step sends: some hundred bytes."""
    sent = []

    def counting(function):
        def call(*arguments, **named):
            tensors = [t for t in (*arguments, *named.values()) if isinstance(t, torch.Tensor)]
            sent.append(sum(t.numel() * t.element_size() for t in tensors))
            return function(*arguments, **named)

        return call

    names = ["all_gather", "all_gather_into_tensor", "all_reduce", "broadcast", "send", "isend", "all_gather_object", "all_to_all"]
    kept = {name: getattr(dist, name) for name in names}
    kb = logltn.torch.KnowledgeBase(THEORY, outputs={"digit": "softmax"}, streamed=["sums"], process_group=group)
    n = torch.arange(ROWS)
    rows = share(rank, size)
    x = torch.zeros(2 * (rows.stop - rows.start), 10, requires_grad=True)
    try:
        for name in names:
            setattr(dist, name, counting(kept[name]))
        kb.loss(digit=x, likes=torch.zeros(2), **addition(rows, n)).backward()
    finally:
        for name in names:
            setattr(dist, name, kept[name])
    parts = len(kb._knowledge._native.shares)
    assert sent == [8 * (4 + 5 * parts)] and sum(sent) < 1024, (sent, parts)


def refused(code, run):
    try:
        run()
    except logltn.InputError as error:
        assert error.diagnostics[0].code == code, (code, str(error))
        return str(error)
    raise AssertionError(f"no {code}")


def check_mistakes(group, rank, size):
    given = dict(outputs={"digit": "softmax"}, streamed=["sums"], process_group=group)
    kb = logltn.torch.KnowledgeBase(THEORY, **given)
    n = torch.arange(ROWS)
    rows = slice(2, 5)

    def call(value=0.0, alpha=1.0, **more):
        x = torch.full((6, 10), value, requires_grad=True)
        return kb.loss(digit=x, likes=torch.zeros(2), alpha=alpha, **{**addition(rows, n), **more})

    last = rank == size - 1
    expected = call().item()
    if size > 1:
        # Whatever goes wrong on one of them ends the call on all, and the next one is as any other.
        for code, wrong in {
            "not-finite": lambda: call(float("nan")),
            "wrong-shape": lambda: call(sorts={"Image": 7}),
            "unknown-predicate": lambda: kb.loss(digits=torch.zeros(2, 10)),
            "missing-data": lambda: call(tables=None),
        }.items():
            text = refused(code if last else "ranks-disagree", wrong if last else call)
            assert last or f"rank {size - 1} failed" in text
            assert call().item() == expected
        assert "alpha" in refused("ranks-disagree", lambda: call(alpha=2.0 + rank))
        text = refused("ranks-disagree", lambda: logltn.torch.KnowledgeBase(THEORY + f"axiom r{rank}: likes(cat)", **given))
        assert "theory" in text
        weights = {"weights": {"liked": 1.0 + rank}}
        assert "weights" in refused("ranks-disagree", lambda: logltn.torch.KnowledgeBase(THEORY, **given, **weights))
        sizes = {"sorts": {"Image": 5 + rank}}
        assert "sizes of sorts" in refused("ranks-disagree", lambda: logltn.torch.KnowledgeBase(THEORY, **given, **sizes))
        broken = THEORY + ("axiom r: likes(nobody)" if last else "axiom r: likes(cat)")
        refused("unknown-variable" if last else "ranks-disagree", lambda: logltn.torch.KnowledgeBase(broken, **given))
    nested = THEORY + "axiom nested: forall c: Class. exists (x, y, n) in sums. likes(c) and digit(x, 1)"
    text = refused("not-shardable", lambda: logltn.torch.KnowledgeBase(nested, **given))
    assert "nested" in text and "exists (x, y, n) in sums" in text
    refused("wrong-type", lambda: logltn.torch.KnowledgeBase(THEORY, **{**given, "process_group": "gloo"}))
    assert call().item() == expected


CHECKS = [check_semantics, check_training, check_modules, check_batches, check_bytes, check_mistakes]


def main(rank, size, store, only):
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=size)
    for members in range(1, size + 1):
        group = dist.new_group(list(range(members)))
        if rank < members:
            for check in CHECKS:
                if not only or check.__name__ in only:
                    check(group, rank, members)
        dist.barrier()
    dist.destroy_process_group()
    print(f"rank {rank}: fine", flush=True)
    os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4:])
