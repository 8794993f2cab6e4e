"""Few labels, many links, with a graph network in PyTorch (APPNP) and the recipe of docs/semi-supervised.md as its loss.

    python bench/few_labels_graph.py DIR [--rules 0.3] [--seeds 2] [--epochs 200]     # DIR/papers.csv, words.csv, cites.csv

`--rules 0` trains on the labels alone. Prints the accuracy on the usual 1,000 test papers for each seed, with the last weights.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

import logltn.torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples" / "python"))
from few_labels import AGREE, EVERY, THEORY, Task, papers  # noqa: E402


class Network(torch.nn.Module):
    """A network that reads words, and ten steps of its answers along the links."""

    def __init__(self, links: torch.Tensor, words: int, classes: int) -> None:
        super().__init__()
        self.links, self.first, self.last = links, torch.nn.Linear(words, 64), torch.nn.Linear(64, classes)
        for layer in (self.first, self.last):
            torch.nn.init.xavier_uniform_(layer.weight)
            torch.nn.init.zeros_(layer.bias)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        hidden = torch.relu(self.first(functional.dropout(words, 0.5, self.training)))
        own = said = self.last(functional.dropout(hidden, 0.5, self.training))
        for _ in range(10):
            said = 0.9 * torch.sparse.mm(self.links, said) + 0.1 * own
        return said


def normalised(task: Task) -> torch.Tensor:
    """The links in both directions and of each paper to itself, divided by the roots of how many each has."""
    count, pairs = len(task.classes), torch.tensor(task.links.T)
    places = torch.cat([pairs, pairs.flip(0), torch.arange(count).repeat(2, 1)], 1).unique(dim=1)
    roots = torch.bincount(places[0], minlength=count) ** -0.5
    return torch.sparse_coo_tensor(places, roots[places[0]] * roots[places[1]], (count, count)).coalesce()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rules", type=float, default=0.3, help="the weight of each rule beside the labels")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=200)
    options = parser.parse_args()
    task = papers(options.folder)
    words = torch.tensor((task.features > 0).astype(np.float32))
    words /= words.sum(1, keepdim=True).clamp(min=1)
    links, classes = normalised(task), int(task.classes.max()) + 1
    right = torch.tensor(task.classes[task.labelled])
    weight = f" (weight {options.rules}):"
    kb = logltn.torch.KnowledgeBase(
        THEORY.format(last=classes - 1) + AGREE.replace(":", weight, 1) + EVERY.replace(":", weight, 1),
        sorts={"Thing": len(task.classes)},
        outputs={"class": "softmax"},
        tables={
            "labelled": {"x": task.labelled, "k": task.classes[task.labelled]},
            "linked": {"x": task.links[:, 0], "y": task.links[:, 1]},
        },
    )
    found = []
    for seed in range(options.seeds):
        torch.manual_seed(seed)
        network = Network(links, words.shape[1], classes)
        parts = [{"params": network.first.parameters(), "weight_decay": 5e-3}, {"params": network.last.parameters()}]
        optimizer = torch.optim.Adam(parts, lr=0.01)
        for epoch in range(options.epochs):
            optimizer.zero_grad()
            said = network.train()(words)
            # The labels first, then the mean of all axioms, in the units of the labels.
            if options.rules == 0 or 2 * epoch < options.epochs:
                loss = functional.cross_entropy(said[task.labelled], right)
            else:
                loss = kb.loss(values={"class": said}, alpha=1.0) * (1 + 2 * options.rules)
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            answers = network.eval()(words).argmax(1).numpy()
        found.append(float(np.mean(answers[task.tested] == task.classes[task.tested])))
        print(f"seed {seed}: {found[-1]:.3f}", flush=True)
    print(f"mean {np.mean(found):.4f}")


if __name__ == "__main__":
    main()
