"""A knowledge graph completed by embeddings in torch, alone and with rules.

    python examples/python/knowledge_graph.py
    python examples/python/knowledge_graph.py --graph DIR --rules rules.ltn    # train.txt, test.txt: head, relation, tail by tabs

The scorer is ComplEx (Trouillon et al. 2016) with a softmax over all individuals, and the same relations backwards; the loss is the
theory's. A rule is one axiom: its body is a guard over facts, its head is learnt. `logltn mine` finds such rules. Without a graph of
your own, families are made up of which a third of the grandparents, uncles and cousins are not told.
"""

import argparse
import os
import random
import time
from pathlib import Path

import torch
from torch import nn

import logltn.torch

THEORY = """
    sort Entity
    sort Relation
    table train(h: Entity, r: Relation, t: Entity)
    predicate linked(Entity, Relation, Entity)      # a softmax over the tails of a head and a relation
    predicate linking(Entity, Relation, Entity)     # the same over the heads
    axiom facts (weight 5):     forall (h, r, t) in train. linked(h, r, t)
    axiom backwards (weight 5): forall (h, r, t) in train. linking(t, r, h)
"""
RULES = """
    axiom grandparents: forall x, z, y: Entity where train(x, "parent", z) and train(z, "parent", y).
        linked(x, "grandparent", y) and linking(y, "grandparent", x)
    axiom uncles: forall x, z, y: Entity where train(x, "sibling", z) and train(z, "parent", y).
        linked(x, "uncle", y) and linking(y, "uncle", x)
    axiom cousins: forall x, z, w, y: Entity where train(z, "parent", x) and train(z, "sibling", w) and train(w, "parent", y).
        linked(x, "cousin", y) and linking(y, "cousin", x)
"""
STEPS = int(os.environ.get("LOGLTN_STEPS", 300))
Triple = tuple[str, str, str]


def families(count: int = 12) -> tuple[list[Triple], list[Triple]]:
    """Grandparents with two children and four grandchildren each: training facts and test facts."""
    told, derived = [], []
    for i in range(count):
        old, children = f"old{i}", [f"mid{i}a", f"mid{i}b"]
        young = {child: [f"{child}{k}" for k in (1, 2)] for child in children}
        told += [(a, "sibling", b) for a in children for b in children if a != b]
        for child in children:
            other = children[1 - children.index(child)]
            told += [(old, "parent", child)] + [(child, "parent", y) for y in young[child]]
            derived += [(old, "grandparent", y) for y in young[child]] + [(other, "uncle", y) for y in young[child]]
            derived += [(x, "cousin", y) for x in young[child] for y in young[other]]
    random.Random(0).shuffle(derived)
    return told + derived[len(derived) // 3 :], derived[: len(derived) // 3]


def read(file: Path) -> list[Triple]:
    return [tuple(line.split("\t")) for line in file.read_text("utf-8").splitlines()]


class ComplEx(nn.Module):
    """Scores of all entities for each entity and relation; the reverse direction has separate relations."""

    def __init__(self, entities: int, relations: int, rank: int = 32) -> None:
        super().__init__()
        self.entities = nn.Parameter(0.1 * torch.randn(entities, rank, 2))
        self.relations = nn.Parameter(0.1 * torch.randn(2, relations, rank, 2))

    def forward(self) -> tuple[torch.Tensor, torch.Tensor]:
        entities, relations = torch.view_as_complex(self.entities), torch.view_as_complex(self.relations)
        pairs = entities[None, :, None] * relations[:, None]  # [2, entities, relations, rank]
        scores = (pairs @ entities.conj().T).real
        return scores[0], scores[1]


def mean_reciprocal_rank(scores: tuple[torch.Tensor, torch.Tensor], test: torch.Tensor, known: torch.Tensor) -> float:
    """Filtered ranks for both ends; equal scores share the mean of their ranks."""
    total = 0.0
    for scores_of, (a, b) in zip(scores, ((0, 2), (2, 0))):
        facts = torch.zeros_like(scores_of, dtype=torch.bool)
        facts[known[:, a], known[:, 1], known[:, b]] = True
        rows = scores_of[test[:, a], test[:, 1]]
        right = rows.gather(1, test[:, b : b + 1])
        others = ~facts[test[:, a], test[:, 1]]
        ranks = 1 + ((rows > right) & others).sum(1) + ((rows == right) & others).sum(1) / 2
        total += (1 / ranks).mean().item() / 2
    return total


def main() -> dict[str, float]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph", type=Path, help="a folder with train.txt and test.txt")
    parser.add_argument("--rules", type=Path, help="axioms over `train` and `linked`, such as those of `logltn mine`")
    parser.add_argument("--steps", type=int, default=STEPS, help="%(default)s")
    arguments = parser.parse_args()
    if arguments.graph:
        train, test = (read(arguments.graph / name) for name in ("train.txt", "test.txt"))
        rules = arguments.rules.read_text("utf-8") if arguments.rules else ""
    else:
        (train, test), rules = families(), RULES
    names = sorted({e for h, _, t in train + test for e in (h, t)})
    relations = sorted({r for _, r, _ in train + test})
    number = lambda triples: torch.tensor([[names.index(h), relations.index(r), names.index(t)] for h, r, t in triples])
    columns = {"h": [h for h, _, _ in train], "r": [r for _, r, _ in train], "t": [t for _, _, t in train]}
    known, wanted = number(train + test), number(test)
    found = {}
    for name, theory in [("embeddings alone", THEORY)] + [("with rules", THEORY + rules)] * bool(rules):
        torch.manual_seed(0)
        model = ComplEx(len(names), len(relations))
        kb = logltn.torch.KnowledgeBase(
            theory, outputs={"linked": "softmax", "linking": "softmax"},
            sorts={"Entity": names, "Relation": relations}, tables={"train": columns},
        )  # fmt: skip
        optimizer = torch.optim.AdamW(model.parameters(), 0.02, weight_decay=0.05)
        start = time.perf_counter()
        for _ in range(arguments.steps):
            linked, linking = model()
            loss = kb.loss(linked=linked, linking=linking)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            found[name] = mean_reciprocal_rank(model(), wanted, known)
        print(f"{name}: filtered MRR {found[name]:.3f} of {2 * len(test)} questions, {time.perf_counter() - start:.1f} s")
    return found


if __name__ == "__main__":
    main()
