"""Few labels, many links: the measurements of docs/semi-supervised.md, as projects that `logltn train` trains.

    python examples/python/few_labels.py moons
    python examples/python/few_labels.py mnist --data data/mnist
    python examples/python/few_labels.py cora --data DIR          # DIR/papers.csv, words.csv, cites.csv; citeseer likewise

`--theory` says what is known beside the labels: `labels` nothing, `obvious` that linked things agree, `recipe` that every class
occurs, too; `own` that they agree class by class, with logits of their own instead of a network. `--out` keeps the project.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

THEORY = """sort Thing
sort Class = 0..{last}
table labelled(x: Thing, k: Class)
table linked(x: Thing, y: Thing)
predicate class(Thing, Class)

axiom labels: forall (x, k) in labelled. class(x, k)
"""
AGREE = "axiom agree: forall (x, y) in linked. exists k: Class. class(x, k) and class(y, k)\n"
AGREE_BY_CLASS = "axiom agree: forall (x, y) in linked, k: Class. class(x, k) <-> class(y, k)\n"
EVERY = "axiom every: forall k: Class. exists x: Thing. class(x, k)\n"

NETWORK = '{ layers = [{ dense = 64 }, "relu", { dropout = 0.5 }] }'

MANIFEST = """theory = "theory.ltn"

[sorts]
Thing = {{ features = "features.npy" }}

[tables]
labelled = {{ rows = "labelled.csv" }}
linked = {{ rows = "linked.csv" }}

[predicates.class]
args = ["thing", "class"]
{grounding}
output = "softmax"

[schedule]
alpha = 1

[train]
learning_rate = {rate}
seed = {seed}
{length}

[evaluate]
metrics = [{{ metric = "accuracy", predicate = "class", rows = "test.csv" }}]
"""


@dataclass
class Task:
    """Things with features and classes: which of them are labelled, for testing, for choosing settings, and which are linked."""

    features: np.ndarray
    classes: np.ndarray
    labelled: np.ndarray
    tested: np.ndarray
    links: np.ndarray
    network: str
    rate: float = 0.01
    validated: np.ndarray | None = None


def moons(seed: int) -> Task:
    """Two half circles of 300 points, three labels each; points nearer than 0.25 are linked."""
    random = np.random.default_rng(seed)
    classes = np.repeat([0, 1], 150)
    angle = random.uniform(0, np.pi, 300)
    upper = np.c_[np.cos(angle), np.sin(angle)]
    points = np.where(classes[:, None] == 0, upper, [1, 0.5] - upper) + random.normal(0, 0.08, (300, 2))
    labelled = np.concatenate([random.choice(np.flatnonzero(classes == k), 3, replace=False) for k in (0, 1)])
    distance = np.linalg.norm(points[:, None] - points[None], axis=2)
    links = np.argwhere(np.triu(distance < 0.25, 1))
    tested = np.setdiff1d(np.arange(300), labelled)
    return Task(points, classes, labelled, tested, links, '{ mlp = [32, 32], activation = "tanh" }')


def mnist(folder: Path, seed: int, count: int = 3000) -> Task:
    """3,000 digits, ten labels of each; the five nearest neighbours of each are linked."""
    random = np.random.default_rng(seed)

    def read(name: str, head: int) -> np.ndarray:
        return np.frombuffer(gzip.decompress((folder / f"{name}-ubyte.gz").read_bytes()), np.uint8, offset=head)

    pictures = read("train-images-idx3", 16).reshape(-1, 784)
    some = random.permutation(len(pictures))[:count]
    features, classes = pictures[some] / 255.0, read("train-labels-idx1", 8)[some].astype(int)
    labelled = np.concatenate([np.flatnonzero(classes == k)[:10] for k in range(10)])
    squares = (features**2).sum(1)
    distance = squares[:, None] + squares[None] - 2 * features @ features.T
    np.fill_diagonal(distance, np.inf)
    near = np.argpartition(distance, 5, axis=1)[:, :5]
    links = np.unique(np.sort(np.c_[np.repeat(np.arange(count), 5), near.ravel()], axis=1), axis=0)
    tested = np.setdiff1d(np.arange(count), labelled)
    return Task(features, classes, labelled, tested, links, NETWORK, 0.005)


def papers(folder: Path) -> Task:
    """Papers with their words, twenty labels of each class; papers that cite each other are linked."""

    def read(name: str) -> list[list[str]]:
        with (folder / name).open(newline="") as file:
            return list(csv.reader(file))[1:]

    about = read("papers.csv")
    words = np.array(read("words.csv"), int)
    features = np.zeros((len(about), words[:, 1].max() + 1), np.float32)
    features[words[:, 0], words[:, 1]] = 1
    features /= np.sqrt(np.maximum(features.sum(1, keepdims=True), 1))
    part = {name: np.array([int(p) for p, _, s in about if s == name]) for name in ("train", "valid", "test")}
    classes = np.array([int(k or -1) for _, k, _ in about])
    links = np.array(read("cites.csv"), int)
    return Task(features, classes, part["train"], part["test"], links, NETWORK, validated=part["valid"])


def write(task: Task, theory: str, folder: Path, seed: int) -> None:
    """The project of a task."""
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "features.npy", task.features.astype(np.float32))

    def table(name: str, header: str, rows: np.ndarray) -> None:
        np.savetxt(folder / name, rows, fmt="%d", delimiter=",", header=header, comments="")

    table("labelled.csv", "x,k", np.c_[task.labelled, task.classes[task.labelled]])
    table("test.csv", "thing,class", np.c_[task.tested, task.classes[task.tested]])
    table("linked.csv", "x,y", task.links)
    text = THEORY.format(last=task.classes.max())
    if theory == "labels":
        text = text.replace("table linked(x: Thing, y: Thing)\n", "")
    text += {"labels": "", "obvious": AGREE, "recipe": AGREE + EVERY, "own": AGREE_BY_CLASS}[theory]
    (folder / "theory.ltn").write_text(text)
    # The labels first, so that there is something to spread along the links.
    phases = 'phases = [{ steps = 50, axioms = ["labels"] }, { steps = 150 }]'
    own = theory == "own"
    manifest = MANIFEST.format(
        grounding="learnable = true" if own else f"network = {task.network}",
        rate=0.1 if own else task.rate,
        seed=seed,
        length=phases if theory == "recipe" else "steps = 300" if own else "steps = 200",
    )
    if theory == "labels":
        manifest = manifest.replace('linked = { rows = "linked.csv" }\n', "")
    (folder / "few.toml").write_text(manifest)


def main(arguments: list[str] | None = None) -> float:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", nargs="?", default="moons", choices=["moons", "mnist", "cora", "citeseer"])
    parser.add_argument("--theory", default="recipe", choices=["labels", "obvious", "recipe", "own"])
    parser.add_argument("--data", type=Path, default=Path("."))
    parser.add_argument("--out", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--program", nargs="+", default=[sys.executable, "-m", "logltn"])
    options = parser.parse_args(arguments)
    task = {"moons": lambda: moons(options.seed), "mnist": lambda: mnist(options.data, options.seed)}.get(
        options.task, lambda: papers(options.data)
    )()
    with tempfile.TemporaryDirectory() as kept:
        folder = options.out or Path(kept)
        write(task, options.theory, folder, options.seed)
        manifest, run = str(folder / "few.toml"), str(folder / "run")
        subprocess.run([*options.program, "train", manifest, "--out", run], check=True, stdout=subprocess.DEVNULL)
        said = subprocess.run(
            [*options.program, "predict", manifest, "--run", run, "class"], check=True, capture_output=True, text=True
        )
        answers = np.array([int(row["prediction"]) for row in csv.DictReader(said.stdout.splitlines())])
    accuracy = float(np.mean(answers[task.tested] == task.classes[task.tested]))
    print(f"{options.task}, {options.theory}: {accuracy:.3f} of what has no label")
    return accuracy


if __name__ == "__main__":
    main()
