"""Few labels, many links, with a graph network in PyTorch (APPNP) and rules as its loss.

    python bench/few_labels_graph.py DIR [--rules none] [--seeds 5]     # DIR/papers.csv, words.csv, cites.csv

The network looks at each paper twice, with other words and papers hidden, and the rules are: both looks agree, and every class
occurs. `--rules none` trains on the labels alone. Prints the accuracy on the usual 1,000 test papers for each seed, with the
weights that are best on the usual 500 validation papers.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

import logltn.torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples" / "python"))
from few_labels import Task, papers  # noqa: E402

THEORY = """sort Thing
sort Class = 0..{last}
table labelled(x: Thing, k: Class)
predicate first(Thing, Class)
predicate second(Thing, Class)
axiom labels: forall (x, k) in labelled. first(x, k) and second(x, k)
axiom same:   forall x: Thing. exists k: Class. first(x, k) and second(x, k)
axiom every:  forall k: Class. exists x: Thing. first(x, k)
"""
# Beside the labels with 1, chosen on the validation papers with seeds 100 and 101; they grow over the first epochs.
RULES = {"same": 0.7, "every": 0.3}
GROWN, MOST_EPOCHS, PATIENCE = 100, 600, 100


class Network(torch.nn.Module):
    """A network that reads words, and ten steps of its answers along the links."""

    def __init__(self, links: torch.Tensor, words: int, classes: int) -> None:
        super().__init__()
        self.links, self.first, self.last = links, torch.nn.Linear(words, 64), torch.nn.Linear(64, classes)
        for layer in (self.first, self.last):
            torch.nn.init.xavier_uniform_(layer.weight)
            torch.nn.init.zeros_(layer.bias)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        count, hide = len(words), self.training
        # Half of the words, and all words of half of the papers.
        kept = functional.dropout(torch.ones(count, 1), 0.5, hide)[words.indices()[0], 0]
        values = functional.dropout(words.values(), 0.5, hide) * kept
        seen = torch.sparse_coo_tensor(words.indices(), values, words.shape, is_coalesced=True)
        hidden = torch.relu(torch.sparse.mm(seen, self.first.weight.T) + self.first.bias)
        own = said = self.last(functional.dropout(hidden, 0.5, hide))
        for _ in range(10):
            said = 0.9 * torch.sparse.mm(self.links, said) + 0.1 * own
        return said


def normalised(task: Task) -> torch.Tensor:
    """The links in both directions and of each paper to itself, divided by the roots of how many each has."""
    count, pairs = len(task.classes), torch.tensor(task.links.T)
    places = torch.cat([pairs, pairs.flip(0), torch.arange(count).repeat(2, 1)], 1).unique(dim=1)
    roots = torch.bincount(places[0], minlength=count) ** -0.5
    links = torch.sparse_coo_tensor(places, roots[places[0]] * roots[places[1]], (count, count))
    return links.coalesce().to_sparse_csr()


def trained(task: Task, kb: logltn.torch.KnowledgeBase, words: torch.Tensor, rules: dict[str, float], seed: int) -> float:
    """The accuracy on the test papers."""
    torch.manual_seed(seed)
    right = torch.tensor(task.classes)
    network = Network(normalised(task), words.shape[1], int(right.max()) + 1)
    parts = [{"params": network.first.parameters(), "weight_decay": 5e-3}, {"params": network.last.parameters()}]
    optimizer = torch.optim.Adam(parts, lr=0.01)
    best, found, since = (-1.0, 0.0), 0.0, 0
    for epoch in range(MOST_EPOCHS):
        optimizer.zero_grad()
        network.train()
        weights = {name: weight * min(1, (epoch + 1) / GROWN) for name, weight in rules.items()}
        loss = kb.loss(first=network(words), second=network(words), alpha=1.0, weights={"labels": 0.5, **weights})
        # The mean of the axioms, in the units of the labels.
        (loss * (0.5 + sum(weights.values()))).backward()
        optimizer.step()
        with torch.no_grad():
            said = network.eval()(words)
        answers = said.argmax(1) == right
        validated = task.validated
        now = (
            float(answers[validated].float().mean()),
            -float(functional.cross_entropy(said[validated], right[validated])),
        )
        since += 1
        if now > best:
            best, found, since = now, float(answers[task.tested].float().mean()), 0
        if since == PATIENCE:
            break
    print(f"seed {seed}: {found:.3f} ({best[0]:.3f} of the validation papers)", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rules", choices=["all", "none"], default="all")
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    task = papers(options.folder)
    words = torch.tensor((task.features > 0).astype(np.float32))
    words = (words / words.sum(1, keepdim=True).clamp(min=1)).to_sparse().coalesce()
    rules = RULES if options.rules == "all" else {"same": 0.0, "every": 0.0}
    kb = logltn.torch.KnowledgeBase(
        THEORY.format(last=int(task.classes.max())),
        sorts={"Thing": len(task.classes)},
        outputs={"first": "softmax", "second": "softmax"},
        tables={"labelled": {"x": task.labelled, "k": task.classes[task.labelled]}},
    )
    found = [trained(task, kb, words, rules, seed) for seed in range(options.seeds)]
    print(f"mean {np.mean(found):.4f}, standard deviation {np.std(found, ddof=1) if len(found) > 1 else 0:.4f}")


if __name__ == "__main__":
    main()
