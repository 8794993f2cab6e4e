"""How hard the sum over all sets of labels is that keep a hierarchy: labels are summed out one after the other, and each sum has
a row for every state of the labels beside it that the hierarchy leaves (a label that is absent settles all below it).

    python bench/hierarchy_states.py DATA/hmc/cellcycle_GO.train.arff.gz [--orders 10]

Those go first that connect the fewest others; ties are broken at random, and the best of some orders counts.
"""

from __future__ import annotations

import argparse
import gzip
import heapq
import math
import random
import sys


def edges(path: str) -> list[tuple[int, int]]:
    with gzip.open(path, "rt") as file:
        text = next(line.split("hierarchical")[1].strip() for line in file if "hierarchical" in line)
    numbers: dict[str, int] = {}
    number = lambda label: numbers.setdefault(label, len(numbers))
    found = set()
    for item in text.split(","):
        parent, _, child = item.rpartition("/")
        if parent and parent != "root":
            found.add((number(child if text.startswith("root/") else item), number(parent)))
    return sorted(found)


def states(labels: set[int], above: dict[int, set[int]], most: int = 20_000) -> int:
    """How many states of some labels keep the hierarchy; all of them where counting takes too long."""
    listed = sorted(labels)
    place = {label: i for i, label in enumerate(listed)}
    up, down = [0] * len(listed), [0] * len(listed)
    for label in listed:
        for other in above[label] & labels:
            up[place[label]] |= 1 << place[other]
            down[place[other]] |= 1 << place[label]
    known = {0: 1}

    def count(left: int) -> int:
        if left not in known:
            if len(known) > most:
                raise OverflowError
            part = open_ = left & -left
            while open_:
                at = open_.bit_length() - 1
                more = (up[at] | down[at]) & left & ~part
                part, open_ = part | more, (open_ | more) & ~(1 << at)
            if part != left:
                known[left] = count(part) * count(left & ~part)
            else:
                inside = [i for i in range(len(listed)) if left >> i & 1]
                at = max(inside, key=lambda i: ((up[i] | down[i]) & left).bit_count())
                own = 1 << at
                known[left] = count(left & ~(down[at] | own)) + count(left & ~(up[at] | own))
        return known[left]

    try:
        return count((1 << len(listed)) - 1)
    except OverflowError:
        return 1 << len(listed)


def eliminate(isa: list[tuple[int, int]], above: dict[int, set[int]], r: random.Random) -> tuple[int, int, int]:
    """The most labels beside one, the most states of a sum, and all states together."""
    beside: dict[int, set[int]] = {label: set() for label in above}
    for child, parent in isa:
        beside[child].add(parent)
        beside[parent].add(child)

    def key(label: int) -> tuple[int, int, float]:
        around = list(beside[label])
        missing = sum(b not in beside[a] for i, a in enumerate(around) for b in around[i + 1 :])
        return missing, len(around), r.random()

    version = dict.fromkeys(beside, 0)
    heap = [(key(label), label, 0) for label in beside]
    heapq.heapify(heap)
    width = most = total = 0
    while heap:
        _, label, at = heapq.heappop(heap)
        if version.get(label) != at:
            continue
        around = beside.pop(label)
        del version[label]
        own = states(around | {label}, above)
        width, most, total = max(width, len(around)), max(most, own), total + own
        for a in around:
            beside[a] = (beside[a] | around) - {a, label}
        for a in around.union(*(beside[a] for a in around)) if around else ():
            version[a] += 1
            heapq.heappush(heap, (key(a), a, version[a]))
    return width, most, total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--orders", type=int, default=10)
    arguments = parser.parse_args()
    sys.setrecursionlimit(100_000)
    isa = edges(arguments.file)
    parents: dict[int, set[int]] = {label: set() for edge in isa for label in edge}
    for child, parent in isa:
        parents[child].add(parent)
    above: dict[int, set[int]] = {}

    def closed(label: int) -> set[int]:
        if label not in above:
            above[label] = parents[label].union(*map(closed, parents[label]))
        return above[label]

    for label in parents:
        closed(label)
    found = [eliminate(isa, above, random.Random(seed)) for seed in range(arguments.orders)]
    width, most, total = min(found, key=lambda f: f[2])
    print(f"{len(above)} labels, {len(isa)} links; width {width}, {most:,} states at most (2^{math.log2(most):.1f}), {total:,} in all")


if __name__ == "__main__":
    main()
