"""Smokes, friends, cancer: the theory and LTN's 14 people, for smokes.py and from_ltntorch/smokes.py."""

import torch
from torch import nn

import logltn.torch

THEORY = """
    sort Person
    table friends(x: Person, y: Person)
    table strangers(x: Person, y: Person)
    table smokers(x: Person)
    table non_smokers(x: Person)
    table ill(x: Person)
    table well(x: Person)
    predicate friend(Person, Person)
    predicate smokes(Person)
    predicate cancer(Person)

    axiom friends:     forall (x, y) in friends. friend(x, y)
    axiom strangers:   forall (x, y) in strangers. not friend(x, y)
    axiom smokers:     forall (x) in smokers. smokes(x)
    axiom non_smokers: forall (x) in non_smokers. not smokes(x)
    axiom ill:         forall (x) in ill. cancer(x)
    axiom well:        forall (x) in well. not cancer(x)

    axiom irreflexive: forall x: Person. not friend(x, x)
    axiom symmetric:   forall x, y: Person. friend(x, y) -> friend(y, x)
    axiom not_alone:   forall x: Person. exists y: Person. friend(x, y)
    axiom contagious:  forall x, y: Person. friend(x, y) and smokes(x) -> smokes(y)
    axiom harmful:     forall x: Person. smokes(x) -> cancer(x)
    axiom harmless:    forall x: Person. not smokes(x) -> not cancer(x)

    # Questions: with weight 0 their truth is computed and nothing is learnt from them.
    axiom only_smokers (weight 0): forall x: Person. cancer(x) -> smokes(x)
    axiom ill_friends (weight 0):  forall x, y: Person. cancer(x) or cancer(y) -> friend(x, y)
"""
PEOPLE = "abcdefghijklmn"
FRIENDS = ["ab", "ae", "af", "ag", "bc", "cd", "ef", "gh", "ij", "jm", "kl", "mn"]
SMOKERS, ILL = "aefgjn", "ae"


def tables() -> dict[str, dict[str, list[int]]]:
    """The known facts. People know everybody in their group; who has cancer is known for the first group only."""
    groups = PEOPLE[:8], PEOPLE[8:]
    within = [x + y for group in groups for x in group for y in group if x < y]
    pairs = {"friends": FRIENDS, "strangers": [pair for pair in within if pair not in FRIENDS]}
    single = {
        "smokers": SMOKERS, "non_smokers": [x for x in PEOPLE if x not in SMOKERS],
        "ill": ILL, "well": [x for x in groups[0] if x not in ILL],
    }  # fmt: skip
    at = PEOPLE.index
    both = {name: {"x": [at(x) for x, _ in rows], "y": [at(y) for _, y in rows]} for name, rows in pairs.items()}
    return both | {name: {"x": [at(x) for x in rows]} for name, rows in single.items()}


class OfVectors(nn.Sequential):
    """A predicate of one or two people: their vectors, one after the other, through dense layers."""

    def __init__(self, inputs: int) -> None:
        super().__init__(nn.Linear(inputs, 8), nn.ELU(), nn.Linear(8, 8), nn.ELU(), nn.Linear(8, 1))

    def forward(self, *vectors: torch.Tensor) -> torch.Tensor:
        return super().forward(torch.cat(vectors, 1))


def modules() -> nn.ModuleDict:
    """A vector for each person, and a network for each predicate."""
    return nn.ModuleDict({"people": nn.Embedding(14, 5), "friend": OfVectors(10), "smokes": OfVectors(5), "cancer": OfVectors(5)})


def knowledge_base(modules: nn.ModuleDict) -> logltn.torch.KnowledgeBase:
    """Runs each network once, on the people and pairs that axioms need."""
    strict = ["irreflexive", "symmetric", "only_smokers", "ill_friends"]  # the worst exception counts
    return logltn.torch.KnowledgeBase(
        THEORY,
        sorts={"Person": modules["people"]},
        predicates={name: modules[name] for name in ("friend", "smokes", "cancer")},
        tables=tables(),
        semantics="stable",
        threads=1,  # 14 people are not enough for two
        parameters={name: {"p_forall": 5} for name in strict} | {"not_alone": {"p": 6}},
    )
