"""Hierarchical multi-label classification with laws: one network without them, with soft rules, and with laws.

    python hierarchy.py DATA cellcycle_FUN eisen_FUN derisi_FUN imclef07a [--epochs N]

DATA holds the ARFF files of the benchmark (`cellcycle_FUN.train.arff.gz`, …). For each set: the area under the micro-averaged
precision-recall curve, how many test rows have all labels right, and in how many a child is there without its parent.
"""

from __future__ import annotations

import argparse
import gzip
import time
from pathlib import Path

import numpy as np
import torch

import logltn.torch

RULES = """
    sort X  sort L
    table isa(child: L, parent: L)
    predicate label(X, L)
    axiom hierarchy: forall x: X. forall (c, p) in isa. label(x, c) -> label(x, p)
"""


def read(path: Path) -> tuple[np.ndarray, list[str], str]:
    """Numbers, labels, and the hierarchy as the file writes it."""
    numeric, classes, rows = [], "", []
    with gzip.open(path, "rt", errors="replace") as lines:
        for line in map(str.strip, lines):
            if line.lower().startswith("@attribute"):
                _, name, kind = line.split(None, 2)
                numeric.append(kind.lower() == "numeric")
                if kind.lower().startswith("hierarchical"):
                    classes = kind.split(None, 1)[1]
            elif line and line[0] not in "@%":
                rows.append(line.split(","))
    x = [[np.nan if cell == "?" else float(cell) for cell, is_number in zip(row, numeric) if is_number] for row in rows]
    return np.array(x, np.float32), [row[-1] for row in rows], classes


def hierarchy(classes: str) -> tuple[dict[str, int], list[tuple[int, int]]]:
    """The labels, and pairs of child and parent: a tree of paths `1/2/3`."""
    labels: dict[str, int] = {}
    for path in classes.strip().split(","):
        parts = path.split("/")
        for depth in range(1, len(parts) + 1):
            labels.setdefault("/".join(parts[:depth]), len(labels))
    return labels, [(at, labels[path.rsplit("/", 1)[0]]) for path, at in labels.items() if "/" in path]


def data(folder: Path, name: str) -> tuple[torch.Tensor, ...]:
    names = [f"{name}.{part}.arff.gz" for part in ("train", "valid", "test")]
    if name == "imclef07a":
        names = ["ImCLEF07A_Train.arff.gz", "ImCLEF07A_Test.arff.gz"]
    parts = [read(folder / file) for file in names]
    labels, isa = hierarchy(parts[0][2])
    parent = dict(isa)
    targets = []
    for _, rows, _ in parts:
        y = torch.zeros(len(rows), len(labels))
        for row, text in enumerate(rows):
            for label in text.split("@"):
                at: int | None = labels[label]
                while at is not None:
                    y[row, at] = 1
                    at = parent.get(at)
        targets.append(y)
    x = np.concatenate([part[0] for part in parts[:-1]])
    mean, deviation = np.nanmean(x, 0), np.nanstd(x, 0) + 1e-8
    scaled = [torch.tensor(np.nan_to_num((part[0] - mean) / deviation)) for part in parts]
    return torch.cat(scaled[:-1]), torch.cat(targets[:-1]), scaled[-1], targets[-1], torch.tensor(isa)


def average_precision(y: torch.Tensor, p: torch.Tensor) -> float:
    """The area under the precision-recall curve of all labels together; equal scores are one step."""
    score, order = p.reshape(-1).sort(descending=True)
    true = y.reshape(-1)[order].double().cumsum(0)
    last = torch.cat([score[1:] != score[:-1], torch.tensor([True])])
    count = torch.arange(1, len(score) + 1)[last]
    true = true[last]
    recall = torch.cat([torch.zeros(1).double(), true / true[-1]])
    return float(((recall[1:] - recall[:-1]) * true / count).sum())


def train(name: str, how: str, folder: Path, epochs: int, hidden: int, seed: int) -> None:
    torch.manual_seed(seed)
    x, y, x_test, y_test, isa = data(folder, name)
    tables = {"isa": {"child": isa[:, 0].numpy(), "parent": isa[:, 1].numpy()}}
    kb = logltn.torch.KnowledgeBase(RULES, sorts={"L": y.shape[1]}, tables=tables, laws=["hierarchy"])
    net = torch.nn.Sequential(
        torch.nn.Linear(x.shape[1], hidden), torch.nn.ReLU(), torch.nn.Dropout(0.6),
        torch.nn.Linear(hidden, hidden), torch.nn.ReLU(), torch.nn.Dropout(0.6), torch.nn.Linear(hidden, y.shape[1]),
    )  # fmt: skip
    optimizer = torch.optim.Adam(net.parameters(), 3e-4, weight_decay=1e-5)
    begun = time.time()
    size = 64
    for _ in range(epochs):
        for rows in torch.randperm(len(x)).split(size):
            if len(rows) < size:
                continue  # one size of batch, one circuit
            logits = net(x[rows])
            if how == "laws":
                p = kb.marginals({"label": logits}, sorts={"X": len(rows)})["label"]
                loss = torch.nn.functional.binary_cross_entropy(p.clamp(1e-7, 1 - 1e-7), y[rows])
            else:
                loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, y[rows])
                if how == "soft rules":
                    loss = loss + 0.1 * kb.loss(label=logits, sorts={"X": len(rows)})
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    net.eval()
    with torch.no_grad():
        logits = net(x_test)
        if how == "laws":
            blocks = [{"values": {"label": part}, "sorts": {"X": len(part)}} for part in logits.split(256)]
            p = torch.cat([kb.marginals(**block)["label"] for block in blocks])
            said = torch.cat([kb.world(**block)[0]["label"] for block in blocks])
        else:
            p = torch.sigmoid(logits)
            said = (p > 0.5).long()
    exact = (said == y_test).all(1).double().mean()
    broken = (said[:, isa[:, 0]] > said[:, isa[:, 1]]).any(1).double().mean()
    print(
        f"{name:14} {how:11} AU(PRC) {average_precision(y_test, p):.3f}  exact match {100 * exact:5.2f} %  "
        f"rows with a violation {100 * broken:5.2f} %  {time.time() - begun:.0f} s", flush=True,
    )  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--hidden", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    for name in arguments.sets:
        for how in ("no laws", "soft rules", "laws"):
            train(name, how, arguments.data, arguments.epochs, arguments.hidden, arguments.seed)
