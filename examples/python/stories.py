"""Kinship from the text of a story: a small network reads sentences, and the rules of kinship are learnt at the same time.

    python examples/python/stories.py                                   # made-up stories
    python examples/python/stories.py --data clutrr/089907f8            # CLUTRR: 1.2,1.3_train.csv.gz, 1.4_test.csv.gz, …

"[Ann] met her sister [Bea]. [Bea]'s son [Cid] plays chess. What is Cid to Ann?" The two people asked about are connected by sentences that
name two people, on the shortest way. The network says of each sentence what the second is to the first; a definition that uses itself puts
these together by rules that nobody wrote down. Some stories (`--labelled`) say what their sentences mean, the others only the answer.
"""

import argparse
import ast
import collections
import csv
import gzip
import os
import random
import re
import time
from pathlib import Path

import torch
from torch import nn

import logltn.torch

THEORY = """
    sort Story
    sort Place = 0..{length}                     # the people on the path from the first to the second
    sort Kin = {{{words}}}
    predicate reads(Story, Place, Kin)           # the relation in the sentence from this person to the next
    predicate rule(Kin, Kin, Kin)                # rule(father, sister, aunt): the sister of my father is my aunt
    predicate answer(Story, Kin)
    define kin(s: Story, i, j: Place, r: Kin):
        (forall e: Place where e = i and j = i + 1. reads(s, e, r)) and
        (forall e: Place where e = i and j > i + 1. exists k: Place where i < k and k < j. exists p, q: Kin.
            kin(s, i, k, p) and kin(s, k, j, q) and rule(p, q, r))
    axiom told: forall s: Story. exists r: Kin. answer(s, r) and kin(s, 0, {length}, r)
"""
STEPS = int(os.environ.get("LOGLTN_STEPS", 1500))
BATCH, TOKENS, LONGEST = 64, 48, 10
NAME = re.compile(r"\[([^\]]+)\]")

# A story: the sentence of each step with its two people, the answer, the number of steps given by CLUTRR, and the relations of the steps if they are given.
Story = collections.namedtuple("Story", "sentences answer steps labels")


def way(text: str, first: str, last: str) -> list[tuple[str, str, str]]:
    """The shortest path from the first person to the last over sentences that name two people, else over two sentences in a row."""
    sentences = [part for part in re.split(r"(?<=[.!?])\s+", text) if part]
    for pieces in (sentences, [" ".join(pair) for pair in zip(sentences, sentences[1:])], [text]):
        come, queue = {first: None}, [first]
        for person in queue:
            for piece in pieces:
                names = dict.fromkeys(NAME.findall(piece))
                if person in names:
                    for other in names:
                        if other not in come:
                            come[other] = (person, piece)
                            queue.append(other)
        if last in come:
            steps, person = [], last
            while come[person]:
                before, piece = come[person]
                steps.append((piece, before, person))
                person = before
            return steps[::-1]
    return [(text, first, last)]


def read(path: Path) -> list[Story]:
    stories = []
    with gzip.open(path, "rt") as file:
        for row in csv.DictReader(file):
            first, last = ast.literal_eval(row["query"])
            told = ast.literal_eval(row["edge_types"])
            sentences = way(row["story"], first, last)
            # The path has the story's steps only if it has the same length.
            labels = told if len(sentences) == len(told) else None
            stories.append(Story(sentences, row["target"], len(told), labels))
    return stories


# The rules for made-up stories: a relation can be replaced by two steps.
RULES = """father brother uncle, father sister aunt, mother brother uncle, mother sister aunt, father father grandfather, mother father grandfather,
father mother grandmother, mother mother grandmother, son brother son, son sister daughter, daughter brother son, daughter sister daughter,
brother father father, brother mother mother, sister father father, sister mother mother, brother brother brother, brother sister sister,
sister brother brother, sister sister sister, wife son son, wife daughter daughter, husband son son, son son grandson, son daughter granddaughter"""
RULES = [tuple(rule.split()) for rule in RULES.replace("\n", " ").split(",")]
SAYINGS = ["[{a}] went fishing with a {w} called [{b}].", "[{b}], the {w} of [{a}], likes tea.", "For [{a}] there is no better {w} than [{b}]."]


def make_up(steps: int, count: int, rng: random.Random) -> list[Story]:
    ways, stories = collections.defaultdict(list), []
    for p, q, r in RULES:
        ways[r].append((p, q))
    while len(stories) < count:
        told = [rng.choice(sorted(ways))]
        answer = told[0]
        while len(told) < steps:
            at = rng.choice([i for i, word in enumerate(told) if word in ways] or [-1])
            if at < 0:
                break
            told[at : at + 1] = rng.choice(ways[told[at]])
        if len(told) == steps:
            names = [f"P{i}" for i in rng.sample(range(99), steps + 1)]
            said = [rng.choice(SAYINGS).format(a=a, b=b, w=word) for a, b, word in zip(names, names[1:], told)]
            stories.append(Story(list(zip(said, names, names[1:])), answer, steps, told))
    return stories


class Reader(nn.Module):
    """What the second of two people is to the first in a sentence: words in their neighbourhood, the strongest of each kind."""

    def __init__(self, stories: list[Story], words: list[str], width: int = 96) -> None:
        super().__init__()
        counts = collections.Counter(token for story in stories for step in story.sentences for token in set(self.split(*step)))
        self.numbers = {token: 2 + i for i, token in enumerate(sorted(t for t, n in counts.items() if n > 1))}
        self.embedding = nn.Embedding(2 + len(self.numbers), width, padding_idx=0)
        self.near, self.wide = nn.Conv1d(width, width, 3, padding=1), nn.Conv1d(width, width, 7, padding=3)
        self.out = nn.Linear(2 * width, len(words))
        self.known: dict[tuple[str, str, str], list[int]] = {}

    @staticmethod
    def split(piece: str, first: str, second: str) -> list[str]:
        people = {first: " <a> ", second: " <b> "}
        return re.findall(r"<\w>|[\w-]+", NAME.sub(lambda found: people.get(found[1], " <c> "), piece).lower())

    def tokens(self, step: tuple[str, str, str]) -> list[int]:
        if step not in self.known:
            numbers = [self.numbers.get(token, 1) for token in self.split(*step)][:TOKENS]
            self.known[step] = numbers + [0] * (TOKENS - len(numbers))
        return self.known[step]

    def forward(self, stories: list[Story]) -> torch.Tensor:
        """Of stories whose ways are equally long: [stories, places, words]; nothing leads on from the last place."""
        steps = [self.tokens(step) for story in stories for step in story.sentences]
        seen = self.embedding(torch.tensor(steps)).transpose(1, 2)
        seen = torch.cat([self.near(seen).amax(2), self.wide(seen).amax(2)], 1)
        said = self.out(nn.functional.dropout(seen.relu(), 0.3, self.training)).unflatten(0, (len(stories), -1))
        return torch.cat([said, torch.zeros_like(said[:, :1])], 1)


class Stories:
    """The knowledge bases, one for each length of ways."""

    def __init__(self, words: list[str]) -> None:
        self.words, self.bases = words, {}

    def base(self, length: int) -> logltn.torch.KnowledgeBase:
        if length not in self.bases:
            theory = THEORY.format(length=length, words=", ".join(f'"{word}"' for word in self.words))
            outputs = {"reads": "softmax", "rule": "softmax", "answer": "truth"}
            self.bases[length] = logltn.torch.KnowledgeBase(theory, outputs=outputs)
        return self.bases[length]

    def loss(self, stories: list[Story], reads: torch.Tensor, rule: torch.Tensor) -> torch.Tensor:
        answers = torch.tensor([self.words.index(story.answer) for story in stories])
        if reads.shape[1] == 2:  # one sentence: nothing is put together
            return nn.functional.cross_entropy(reads[:, 0], answers)
        truth = nn.functional.one_hot(answers, len(self.words)).to(reads.dtype)
        return self.base(reads.shape[1] - 1).loss(reads=reads, rule=rule, answer=truth, alpha=1.0, sorts={"Story": len(stories)})

    @torch.no_grad()
    def answers(self, reads: torch.Tensor, rule: torch.Tensor) -> list[str]:
        length = reads.shape[1] - 1
        if length == 1:
            return [self.words[i] for i in reads[:, 0].argmax(1)]
        values = {"reads": reads, "rule": rule, "answer": reads.new_zeros(len(reads), len(self.words))}
        # What is asked is the whole way; `truths_of` would compute all parts of it for everybody, which is the same work.
        truths = self.base(length).truths_of("kin", values, alpha=1.0, sorts={"Story": len(reads)})
        return [self.words[i] for i in torch.as_tensor(truths)[:, 0, length].argmax(1)]


def by_length(stories: list[Story]) -> dict[int, list[Story]]:
    groups = collections.defaultdict(list)
    for story in stories:
        groups[len(story.sentences)].append(story)
    return groups


def main() -> dict[int, float]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="a folder of CLUTRR, such as 089907f8; without it stories are made up")
    parser.add_argument("--labelled", type=int, default=200, help="stories whose sentences are labelled (%(default)s)")
    parser.add_argument("--steps", type=int, default=STEPS, help="%(default)s")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    torch.manual_seed(arguments.seed)
    if arguments.data:
        (train,) = (read(path) for path in arguments.data.glob("*_train.csv.gz"))
        tests = {steps: read(arguments.data / f"1.{steps}_test.csv.gz") for steps in range(2, LONGEST + 1)}
    else:
        train = make_up(2, 600, rng) + make_up(3, 600, rng)
        tests = {steps: make_up(steps, 20, rng) for steps in (2, 3, 4, 6)}
    rng.shuffle(train)
    labelled = [story for story in train if story.labels][: arguments.labelled]
    words = sorted({word for story in train for word in [story.answer, *(story.labels or [])]})
    reader, rule, stories = Reader(train, words), nn.Parameter(torch.zeros([len(words)] * 3)), Stories(words)
    optimizer = torch.optim.Adam([{"params": reader.parameters(), "lr": 0.002}, {"params": [rule], "lr": 0.05}])
    groups, told, start = by_length(train), by_length(labelled), time.perf_counter()
    lengths = sorted(groups)
    for _ in range(arguments.steps):
        # Ways of each length as often as there are such.
        group = groups[rng.choices(lengths, [len(groups[n]) for n in lengths])[0]]
        batch = rng.sample(group, min(BATCH, len(group)))
        loss = stories.loss(batch, reader(batch), rule)
        for some in told.values():
            some = rng.sample(some, min(BATCH // 2, len(some)))
            meant = torch.tensor([[words.index(word) for word in story.labels] for story in some])
            loss = loss + nn.functional.cross_entropy(reader(some)[:, :-1].flatten(0, 1), meant.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    reader.eval()
    print(f"{len(train)} stories, {len(labelled)} of them labelled, {time.perf_counter() - start:.1f} s")
    sure = rule.detach().softmax(2).max(2)
    for place in sure.values.flatten().argsort(descending=True)[:10].tolist():
        p, q = divmod(place, len(words))
        print(f"  {words[p]}, {words[q]} -> {words[sure.indices[p, q]]}  {sure.values[p, q]:.3f}")
    found = {}
    for steps, test in tests.items():
        right = 0
        for group in by_length(test).values():
            for at in range(0, len(group), BATCH):
                some = group[at : at + BATCH]
                with torch.no_grad():
                    reads = reader(some)
                right += sum(said == story.answer for said, story in zip(stories.answers(reads, rule.detach()), some))
        found[steps] = right / len(test)
        print(f"{steps} steps: {found[steps]:.3f} of {len(test)} right")
    return found


if __name__ == "__main__":
    main()
