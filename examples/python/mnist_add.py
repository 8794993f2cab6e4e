"""Digits from sums alone: two pictures and their sum, without a single labelled digit.

    python examples/python/mnist_add.py

A network and a data loader as anywhere in PyTorch; the loss is the theory's. The pictures come with the repository.
"""

import argparse
import gzip
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import logltn.torch

ADDITION = """
    sort Image
    sort Digit = 0..9
    table sums(x: Image, y: Image, n: Int)
    predicate digit(Image, Digit)
    axiom addition: forall (x, y, n) in sums. exists a, b: Digit where a + b = n. digit(x, a) and digit(y, b)
"""
FOLDER = Path(__file__).resolve().parents[2] / "data" / "mnist"


def mnist(part: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Pictures and digits."""
    with gzip.open(FOLDER / f"{part}-images-idx3-ubyte.gz") as file:
        pictures = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 1, 28, 28)
    with gzip.open(FOLDER / f"{part}-labels-idx1-ubyte.gz") as file:
        digits = np.frombuffer(file.read(), np.uint8, offset=8)
    return torch.from_numpy(pictures.astype(np.float32) / 255), torch.from_numpy(digits.astype(np.int64))


def main() -> float:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sums", type=int, default=6000, help="how many sums to learn from (%(default)s)")
    parser.add_argument("--epochs", type=int, default=2, help="how often to see them (%(default)s)")
    parser.add_argument("--workers", type=int, default=2, help="processes that load data (%(default)s)")
    arguments = parser.parse_args()
    torch.manual_seed(0)

    pictures, digits = mnist("train")
    pairs = torch.randperm(len(digits))[: 2 * arguments.sums].view(-1, 2)
    loader = DataLoader(
        TensorDataset(pictures[pairs], digits[pairs].sum(1)), batch_size=32, shuffle=True, num_workers=arguments.workers
    )
    net = nn.Sequential(
        nn.Conv2d(1, 6, 5), nn.MaxPool2d(2), nn.ReLU(), nn.Conv2d(6, 16, 5), nn.MaxPool2d(2), nn.ReLU(),
        nn.Flatten(), nn.Linear(256, 100), nn.ReLU(), nn.Linear(100, 10),
    )  # fmt: skip
    optimizer = torch.optim.Adam(net.parameters(), 1e-3)
    kb = logltn.torch.KnowledgeBase(ADDITION, outputs={"digit": "softmax"}, streamed=["sums"])
    start, logic = time.perf_counter(), 0.0
    for epoch in range(arguments.epochs):
        for images, n in loader:  # [B, 2, 1, 28, 28], [B]
            logits = net(images.flatten(0, 1))  # [2B, 10]
            i = torch.arange(2 * len(n))
            before = time.perf_counter()
            loss = kb.loss(
                digit=logits, alpha=1.0 + 3.0 * epoch / arguments.epochs,
                sorts={"Image": len(i)}, tables={"sums": {"x": i[0::2], "y": i[1::2], "n": n}},
            )  # fmt: skip
            logic += time.perf_counter() - before
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch + 1}: loss {loss.item():.3f}, truth of addition {kb.truths['addition']:.3f}")
    print(f"{time.perf_counter() - start:.1f} s, of which logic {logic:.2f} s")

    pictures, digits = mnist("t10k")
    with torch.no_grad():
        accuracy = (net(pictures).argmax(1) == digits).float().mean().item()
    print(f"digits of pictures never seen, told right: {100 * accuracy:.1f} %")
    return accuracy


if __name__ == "__main__":
    main()
