"""Addition of digits, as in LTNtorch and in logltn: two pictures and what they add up to, new ones in each step. LTN's
operators (`stable`) hardly begin to learn in one pass over 6,400 sums; the end shows what log space does in the same time.

    python examples/python/from_ltntorch/mnist_add.py
"""

import gzip
import os
from pathlib import Path

import ltn
import numpy as np
import torch
from side_by_side import And, Exists, Forall, OfClass, SatAgg, side_by_side
from torch import nn

import logltn.torch

torch.manual_seed(0)
FOLDER = Path(__file__).resolve().parents[3] / "data" / "mnist"
BATCH, STEPS = 32, int(os.environ.get("LOGLTN_STEPS", 200))


def mnist(part, count):
    with gzip.open(FOLDER / f"{part}-images-idx3-ubyte.gz") as file:
        pictures = np.frombuffer(file.read(16 + count * 784), np.uint8, offset=16).reshape(-1, 1, 28, 28)
    with gzip.open(FOLDER / f"{part}-labels-idx1-ubyte.gz") as file:
        digits = np.frombuffer(file.read(8 + count), np.uint8, offset=8)
    return torch.from_numpy(pictures.astype(np.float32) / 255), torch.from_numpy(digits.astype(np.int64))


pictures, digits = mnist("train", 12_800)


def batches():
    """Rows of two pictures each, shuffled anew for each pass; the same for both programs."""
    order = torch.Generator().manual_seed(1)
    while True:
        yield from torch.randperm(len(digits), generator=order).view(-1, BATCH, 2)


def theirs(modules):
    Digit = ltn.Predicate(OfClass(modules["digit"], lambda logits: logits.softmax(1)))
    rows = batches()
    d1, d2 = ltn.Variable("d1", torch.arange(10)), ltn.Variable("d2", torch.arange(10))

    def loss():
        pair = next(rows)
        x, y = ltn.Variable("x", pictures[pair[:, 0]]), ltn.Variable("y", pictures[pair[:, 1]])
        n = ltn.Variable("n", digits[pair].sum(1))
        return 1 - SatAgg(
            Forall(
                ltn.diag(x, y, n),
                Exists(
                    [d1, d2], And(Digit(x, d1), Digit(y, d2)),
                    cond_vars=[d1, d2, n], cond_fn=lambda d1, d2, n: d1.value + d2.value == n.value,
                ),
            )
        )  # fmt: skip

    return loss


def ours(modules, semantics="stable"):
    kb = logltn.torch.KnowledgeBase(
        """
        sort Image
        sort Digit = 0..9
        table sums(x: Image, y: Image, n: Int)
        predicate digit(Image, Digit)
        axiom addition: forall (x, y, n) in sums. exists a, b: Digit where a + b = n. digit(x, a) and digit(y, b)
        """,
        outputs={"digit": "softmax"},
        streamed=["sums"],
        semantics=semantics,
        threads=1,
    )
    rows = batches()
    i = torch.arange(2 * BATCH)

    def loss():
        pair = next(rows)
        logits = modules["digit"](pictures[pair.flatten()])
        table = {"x": i[0::2], "y": i[1::2], "n": digits[pair].sum(1)}
        return kb.loss(digit=logits, sorts={"Image": len(i)}, tables={"sums": table})

    return loss


@torch.no_grad()
def figures(modules):
    pictures, digits = mnist("t10k", 2_000)
    right = modules["digit"](pictures).argmax(1) == digits
    return {"digits never seen, told right": right.float().mean().item()}


def main():
    net = nn.Sequential(
        nn.Conv2d(1, 6, 5), nn.MaxPool2d(2), nn.ELU(), nn.Conv2d(6, 16, 5), nn.MaxPool2d(2), nn.ELU(),
        nn.Flatten(), nn.Linear(256, 100), nn.ELU(), nn.Linear(100, 10),
    )  # fmt: skip
    modules = nn.ModuleDict({"digit": net})
    side_by_side(modules, theirs, ours, figures, STEPS)
    return log_space(modules)


def log_space(modules):
    """The same theory, weights and steps in logltn's own semantics, which LTNtorch lacks."""
    loss, optimizer = ours(modules, "logltn"), torch.optim.Adam(modules.parameters(), 0.001)
    for _ in range(STEPS):
        value = loss()
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
    found = figures(modules)
    print(f"in log space, after as many steps from the same weights: {found}")
    return found


if __name__ == "__main__":
    main()
