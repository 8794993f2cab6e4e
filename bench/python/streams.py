"""What rows that come with each call cost, beside the same number of known rows: sums of digits, never the same rows twice.

    python bench/python/streams.py [CALLS]

Who is added to whom is drawn anew in each batch, as is what they add up to; every tenth batch is smaller, as at the end of an
epoch. Times are those of `kb.loss` and `backward`, without a network, of the thread on the processor, in turns with a knowledge base whose
rows are known. "Modules": the knowledge base runs the network itself, one that does nothing.
Shown are the first ten calls, and mean and median of the calls from the eleventh on. The mean is to be at most twice that of known
rows; exit status 1 if it is more.
"""

import statistics
import sys
import time

import torch

import _package  # noqa: F401
import logltn.torch


def theory(digits):
    images = [f"d{i}" for i in range(2 * digits)]
    numbers = [f"k{i}" for i in range(2 * digits)]
    total = " + ".join(f"{10 ** (digits - 1 - i % digits)} * {k}" for i, k in enumerate(numbers))
    return images, f"""
        sort Image  sort Digit = 0..9  table sums({", ".join(f"{d}: Image" for d in images)}, n: Int)
        predicate digit(Image, Digit)
        axiom addition: forall ({", ".join(images)}, n) in sums. exists {", ".join(numbers)}: Digit where {total} = n.
            {" and ".join(f"digit({d}, {k})" for d, k in zip(images, numbers))}
    """


def seconds(action):
    start = time.thread_time()
    action()
    return time.thread_time() - start


def measure(digits, batch, calls, modules):
    images, text = theory(digits)
    width = len(images)
    behind = {"predicates": {"digit": logltn.torch.softmax(lambda x: x)}} if modules else {"outputs": {"digit": "softmax"}}
    kb = logltn.torch.KnowledgeBase(text, streamed=["sums"], threads=1, **behind)
    logits = torch.randn(width * batch, 10, requires_grad=True)

    def rows(count):
        who, n = torch.randperm(width * count), torch.randint(0, 10**digits, (count, 2)).sum(1)
        return {**{d: who[i::width] for i, d in enumerate(images)}, "n": n}

    known = logltn.torch.KnowledgeBase(
        text, sorts={"Image": logits if modules else width * batch}, tables={"sums": rows(batch)}, threads=1, **behind
    )

    def new_rows(given, count, table):
        if modules:
            kb(alpha=2.0, sorts={"Image": given}, tables={"sums": table}).backward()
        else:
            kb.loss(digit=given, alpha=2.0, sorts={"Image": width * count}, tables={"sums": table}).backward()

    def known_rows():
        (known(alpha=2.0) if modules else known.loss(digit=logits, alpha=2.0)).backward()

    new, old = [], []
    for call in range(calls):
        count = batch - batch // 3 if call % 10 == 9 else batch
        table = rows(count)
        given = logits[: width * count]
        new.append(seconds(lambda: new_rows(given, count, table)))
        old.append(seconds(known_rows))
    first, new, old = new[:10], new[10:], old[10:]
    ratio = statistics.mean(new) / statistics.mean(old)
    print(
        f"{'modules, ' if modules else ''}{digits} digits, {batch:4} rows".ljust(29) + f"{1e6 * statistics.mean(first):12.0f}{1e6 * statistics.mean(new):12.0f}{1e6 * statistics.median(new):12.0f}"
        f"{1e6 * statistics.mean(old):12.0f}{1e6 * statistics.median(old):12.0f}{ratio:9.2f}{statistics.median(new) / statistics.median(old):9.2f}",
        flush=True,
    )
    return ratio


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    print(f"{'µs':29}{'first ten':>12}{'new, mean':>12}{'median':>12}{'known, mean':>12}{'median':>12}{'means':>9}{'medians':>9}")
    cases = [(digits, batch, calls, modules) for modules in (False, True) for digits in (1, 2) for batch in (32, 512)]
    worst = max(measure(*case) for case in cases)
    print(f"new rows cost at most twice what known rows do: {'reached' if worst <= 2 else 'missed'} (the worst: {worst:.2f})")
    return 0 if worst <= 2 else 1


if __name__ == "__main__":
    sys.exit(main())
