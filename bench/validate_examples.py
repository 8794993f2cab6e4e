"""How good the networks of `logltn example` are where nobody looked: `python bench/validate_examples.py PROGRAM DATA
crabs|real-estate|splits|draws`, where DATA has the folder `classics`.

`crabs` and `real-estate` compare networks by five folds of the training part, `splits` takes each fifth of the houses as
the test, `draws` takes thirty draws of the points of `binary`. The last two have plain networks (PyTorch) beside ours."""

import csv
import itertools
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM, DATA, WHAT = Path(sys.argv[1]).resolve(), sys.argv[2], sys.argv[3]
WORK = Path(tempfile.mkdtemp())


def example(name):
    """The folder of an example, with its files."""
    folder = WORK / name
    subprocess.run([PROGRAM, "example", name, "--out", folder, "--data", DATA], check=True, capture_output=True)
    return folder


def table(path):
    with open(path) as file:
        return list(csv.reader(file))[1:]


def write(path, header, rows):
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")


def metric(folder, changes, seed):
    """The first metric of a training with another manifest."""
    text = (folder / f"{folder.name}.toml").read_text()
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    (folder / "other.toml").write_text(text)
    out = Path(tempfile.mkdtemp(dir=WORK))
    command = [PROGRAM, "train", folder / "other.toml", "--out", out / "run", "--seed", str(seed)]
    subprocess.run(command, check=True, capture_output=True)
    last = (out / "run" / "metrics.jsonl").read_text().splitlines()[-1]
    return next(iter(json.loads(last)["metrics"].values()))


def folds(rows):
    rows = list(rows)
    random.Random(1).shuffle(rows)
    for fold in range(5):
        test = rows[fold::5]
        yield [row for row in rows if row not in set(test)], test


def mean(numbers):
    return sum(numbers) / len(numbers)


def crabs():
    folder = example("crabs")
    labels = {}
    for crab, label in table(folder / "labelled.csv"):
        labels.setdefault(int(crab), set()).add(label)
    names = ["blue", "orange", "male", "female"]
    hidden = ["[]", "[8]", "[16]", "[16, 16]", "[16, 16, 8]"]
    for layers, activation, steps in itertools.product(hidden, ["elu", "tanh"], [500, 1000]):
        found = []
        for train, test in folds(sorted(labels)):
            write(folder / "labelled.csv", "x,l", ((i, l) for i in train for l in names if l in labels[i]))
            write(folder / "seen.csv", "x", ([i] for i in train))
            write(folder / "test.csv", "x,l,truth", ((i, l, int(l in labels[i])) for i in test for l in names))
            network = ('mlp = [16], activation = "elu"', f'mlp = {layers}, activation = "{activation}"')
            found.append(metric(folder, [network, ("steps = 1000", f"steps = {steps}")], 0))
        print(f"{mean(found):.4f}  {layers} {activation}, {steps} steps", flush=True)


def houses(folder, train, test, prices):
    write(folder / "prices.csv", "x,y", ((i, prices[i]) for i in train))
    write(folder / "test.csv", "x,value", ((i, prices[i]) for i in test))


def real_estate():
    folder = example("real-estate")
    prices = {int(i): y for i, y in table(folder / "prices.csv")}
    forms = ["-0.05 * dist(u, v)", "-0.002 * dist(u, v) * dist(u, v)"]
    hidden = ["[16]", "[32, 32]", "[64, 64]"]
    for form, layers, decay, epochs in itertools.product(forms, hidden, [0.01, 1.0], [100, 300]):
        squares = []
        for train, test in folds(sorted(prices)):
            houses(folder, train, test, prices)
            changes = [(forms[0], form), ("mlp = [32, 32]", f"mlp = {layers}")]
            changes += [("weight_decay = 0.01", f"weight_decay = {decay}"), ("epochs = 300", f"epochs = {epochs}")]
            squares += [metric(folder, changes, 0) ** 2] * len(test)
        print(f"{mean(squares) ** 0.5:.3f}  {layers}, {form}, decay {decay}, {epochs} epochs", flush=True)


def plain(x, y, train, test, loss, epochs, batch, decay):
    """A network of PyTorch of the same size and training; what it says of the test."""
    import torch

    sizes = [len(x[0]), *((32, 32) if batch else (16, 16))]
    layers = [m for a, b in itertools.pairwise(sizes) for m in (torch.nn.Linear(a, b), torch.nn.ELU())]
    network = torch.nn.Sequential(*layers, torch.nn.Linear(sizes[-1], 1))
    x, y = torch.tensor(x), torch.tensor(y)
    if batch:
        network[-1].bias.data.fill_(y[train].mean().item())
    optimiser = torch.optim.AdamW(network.parameters(), lr=0.01, weight_decay=decay)
    steps = epochs * -(-len(train) // (batch or len(train)))
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimiser, 0.05 ** (1 / steps) if batch else 1.0)
    for _ in range(epochs):
        for part in torch.tensor(train)[torch.randperm(len(train))].split(batch or len(train)):
            optimiser.zero_grad()
            loss(network(x[part])[:, 0], y[part]).backward()
            optimiser.step()
            schedule.step()
    with torch.no_grad():
        return network(x[test])[:, 0].tolist()


def splits():
    import torch

    folder = example("real-estate")
    prices = {int(i): float(y) for name in ("prices.csv", "test.csv") for i, y in table(folder / name)}
    x = [[float(cell) for cell in row] for row in table(folder / "houses.csv")]
    y = [prices[i] for i in range(len(x))]
    for split in range(5):
        test = [i for i in range(len(x)) if i % 5 == split]
        train = [i for i in range(len(x)) if i % 5 != split]
        houses(folder, train, test, prices)
        ours = [metric(folder, [], seed) for seed in range(3)]
        others = []
        for seed in range(2):
            torch.manual_seed(seed)
            said = plain(x, y, train, test, torch.nn.functional.mse_loss, 300, 64, 0.01)
            others.append(mean([(a - y[i]) ** 2 for a, i in zip(said, test)]) ** 0.5)
        print(f"split {split + 1}: ours {mean(ours):.2f}, a plain network {mean(others):.2f}", flush=True)


def draws():
    import numpy
    import torch

    folder = example("binary")
    found = []
    for draw in range(30):
        x = numpy.random.default_rng(draw).random((100, 2)).tolist()
        y = [float((a - 0.5) ** 2 + (b - 0.5) ** 2 < 0.09) for a, b in x]
        write(folder / "points.csv", "u,v", x)
        write(folder / "inside.csv", "x", ([i] for i in range(50) if y[i]))
        write(folder / "outside.csv", "x", ([i] for i in range(50) if not y[i]))
        write(folder / "test.csv", "x,truth", ((i, int(y[i])) for i in range(50, 100)))
        torch.manual_seed(draw)
        loss = torch.nn.functional.binary_cross_entropy_with_logits
        said = plain(x, y, list(range(50)), list(range(50, 100)), loss, 1000, 0, 0.0)
        right = mean([float((a > 0) == (b > 0.5)) for a, b in zip(said, y[50:])])
        found.append((metric(folder, [], 0), right))
        print(f"draw {draw + 1}: ours {found[-1][0]:.2f}, a plain network {right:.2f}", flush=True)
    print("means:", *(f"{mean(part):.3f}" for part in zip(*found)))


{"crabs": crabs, "real-estate": real_estate, "splits": splits, "draws": draws}[WHAT]()
