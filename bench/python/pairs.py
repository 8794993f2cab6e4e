"""What streamed rows of large fixed sorts cost, call after call, beside the same number of known rows and LTNtorch.

    python bench/python/pairs.py [CALLS]

6,040 users and 3,700 items have embeddings; every call brings other pairs of them, and the knowledge base runs the networks. Cases:
one table of 256 pairs, two tables, pairs whose items a second axiom quantifies over, and 4,096 rows of a function's values,
`more(score(u, i), score(u, j))`. Shown are times of loss and gradient on the processor, all threads together, in turns: the mean of the
first twenty calls, the mean of each fifth of the calls after them, known rows, and LTNtorch with the same networks on the same rows.
After twenty calls new rows are to cost at most 1.3 times what known ones do (medians of all calls), the last fifth no
more than 1.2 times the first, and the process is not to grow by more than 8 MB from the first fifth on; exit status 1 if not.
"""

import resource
import statistics
import sys
import time

import ltn
import torch

import _package  # noqa: F401
import logltn.torch

USERS, ITEMS, WIDTH = 6040, 3700, 16
SORTS = "sort User  sort Item  "
PAIRS = SORTS + """table bought(u: User, i: Item)  predicate likes(User, Item)
    axiom buyers: forall (u, i) in bought. likes(u, i)  """
TWO = PAIRS + "table returned(u: User, i: Item)  axiom others: forall (u, i) in returned. not likes(u, i)"
ALL = PAIRS + "predicate popular(Item)  axiom few: forall i: Item. not popular(i)"
FUNCTION = SORTS + """table better(u: User, i: Item, j: Item)  function score(User, Item): Real  predicate more(Real, Real)
    axiom rank: forall (u, i, j) in better. more(score(u, i), score(u, j))"""


def product(u, i):
    return (u * i).sum(-1)


def score(u, i):
    return product(u, i).unsqueeze(-1)


def more(a, b):
    return (a - b).squeeze(-1)


def popular(i):
    return i.sum(-1)


class Squashed(torch.nn.Module):
    """What LTNtorch wants of a predicate: a truth."""

    def __init__(self, logits):
        super().__init__()
        self.logits = logits

    def forward(self, *arguments):
        return torch.sigmoid(self.logits(*arguments))


def seconds(action):
    start = time.process_time()
    action()
    return time.process_time() - start


def ltntorch(users, items):
    """By table, the loss of its axiom as LTNtorch has it."""
    likes, rank = ltn.Predicate(Squashed(product)), ltn.Predicate(Squashed(more))
    function, rare = ltn.Function(func=score), ltn.Predicate(Squashed(popular))
    no = ltn.Connective(ltn.fuzzy_ops.NotStandard())
    every = ltn.Quantifier(ltn.fuzzy_ops.AggregPMeanError(p=2), quantifier="f")

    def pairs(rows):
        return ltn.diag(ltn.Variable("u", users[rows["u"]], add_batch_dim=False), ltn.Variable("i", items[rows["i"]], add_batch_dim=False))

    def bought(rows):
        u, i = pairs(rows)
        return every([u, i], likes(u, i)).value

    def returned(rows):
        u, i = pairs(rows)
        return every([u, i], no(likes(u, i))).value

    def better(rows):
        given = {"u": users[rows["u"]], "i": items[rows["i"]], "j": items[rows["j"]]}
        u, i, j = ltn.diag(*(ltn.Variable(name, values, add_batch_dim=False) for name, values in given.items()))
        return every([u, i, j], rank(function(u, i), function(u, j))).value

    def few():
        i = ltn.Variable("i", items, add_batch_dim=False)
        return every(i, no(rare(i))).value

    of = {"bought": bought, "returned": returned, "better": better}
    return lambda tables, with_all: 1 - torch.stack([of[t](rows) for t, rows in tables.items()] + [few()] * with_all).mean()


def measure(name, text, count, tables, calls):
    users, items = torch.nn.Embedding(USERS, WIDTH).weight, torch.nn.Embedding(ITEMS, WIDTH).weight
    sizes = {"u": USERS, "i": ITEMS, "j": ITEMS}

    def rows():
        return {t: {c: torch.randint(0, sizes[c], (count,)) for c in columns} for t, columns in tables.items()}

    every = {"likes": product, "more": more, "popular": popular}
    behind = {
        "sorts": {"User": users, "Item": items},
        "predicates": {p: logltn.torch.sigmoid(network) for p, network in every.items() if f"predicate {p}(" in text},
        "functions": {"score": score} if "function" in text else {},
    }
    kb = logltn.torch.KnowledgeBase(text, streamed=list(tables), threads=1, **behind)
    known = logltn.torch.KnowledgeBase(text, tables=rows(), threads=1, **behind)
    peer = ltntorch(users, items)
    new, old, other, memory = [], [], [], []
    for call in range(calls + 20):
        given = rows()
        turns = [(new, lambda: kb(alpha=2.0, tables=given).backward()), (old, lambda: known(alpha=2.0).backward())]
        # Whoever comes second finds the embeddings at hand.
        for times, action in turns if call % 2 else reversed(turns):
            times.append(seconds(action))
        memory.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    for _ in range(min(calls, 200)):
        given = rows()
        other.append(seconds(lambda: peer(given, text is ALL).backward()))
    first, new, old, memory = new[:20], new[20:], old[20:], memory[20:]
    part = max(calls // 5, 1)
    parts = [new[i * part : (i + 1) * part] for i in range(5)]
    ratio = statistics.median(new) / statistics.median(old)
    growth = statistics.median(parts[-1]) / statistics.median(parts[0])
    grown = memory[-1] - memory[min(part, len(memory) - 1)]
    shown = "".join(f"{1e3 * statistics.mean(t):8.2f}" for t in [first, *parts, old, other])
    print(f"{name:22}{shown}{ratio:9.2f}{growth:9.2f}{grown:9.1f}", flush=True)
    return ratio <= 1.3 and growth <= 1.2 and grown <= 8


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    fifths = "".join(f"{f'fifth {i}':>8}" for i in range(1, 6))
    print(f"{'ms':22}{'first 20':>8}{fifths}{'known':>8}{'LTNtorch':>8}{'ratio':>9}{'growth':>9}{'MB more':>9}")
    pair = ["u", "i"]
    reached = [
        measure("256 pairs", PAIRS, 256, {"bought": pair}, calls),
        measure("two tables", TWO, 256, {"bought": pair, "returned": pair}, calls),
        measure("and all items", ALL, 256, {"bought": pair}, calls),
        measure("function, 4,096 rows", FUNCTION, 4096, {"better": ["u", "i", "j"]}, calls),
    ]
    print(f"at most 1.3 times known rows, flat, and no more memory: {'reached' if all(reached) else 'missed'}")
    return 0 if all(reached) else 1


if __name__ == "__main__":
    sys.exit(main())
