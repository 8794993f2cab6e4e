"""Addition of numbers of many digits as a circuit of KLay (`klaycircuits`).

One circuit serves all rows: digits of the sum enter as evidence, literals whose logarithm is 0 or -infinity. It is
built by hand over the columns, with carries, which keeps it linear in the number of digits: kinder to KLay than what a
compiler makes of the formula.
"""

import numpy as np
import torch
import torch.nn.functional as F
from klay import Circuit

from batches import Batches
from handwritten import Training
from networks import images, lenet, with_weights


def circuit(digits):
    """Literals: digit d of image i (both numbers' images after each other), then digit d of the sum's column i."""
    made = Circuit()
    shows = lambda image, d: made.literal_node(1 + 10 * image + d)
    sum_is = lambda column, d: made.literal_node(1 + 20 * digits + 10 * column + d)
    carries = [made.true_node(), None]
    for i in range(digits):
        totals = [
            made.or_node([made.and_node([shows(i, a), shows(digits + i, t - a)]) for a in range(10) if 0 <= t - a < 10])
            for t in range(19)
        ]
        outgoing = [[], []]
        for carry, node in enumerate(carries):
            for t in range(19) if node is not None else ():
                out, digit = divmod(t + carry, 10)
                outgoing[out].append(made.and_node([node, totals[t], sum_is(i, digit)]))
        carries = [made.or_node(ways) for ways in outgoing]
    last = [made.and_node([node, sum_is(digits, carry)]) for carry, node in enumerate(carries)]
    made.set_root(made.or_node(last))
    return made


def build(folder, case, variant):
    digits = case["digits"]
    rows = torch.from_numpy(np.load(folder / "rows.npy"))
    sums = torch.from_numpy(np.load(folder / "sums.npy"))
    pictures = images()
    network = with_weights(lenet(pool_first=True), folder, "digit")
    batches = Batches(len(rows), case["batch"])
    module = circuit(digits).to_torch_module(semiring="log", compile=False)
    # -infinity would do for the forward pass, but its derivatives are not numbers.
    evidence = torch.where(F.one_hot(sums, 10).flatten(1) == 1, 0.0, -1e5)

    def inputs():
        batch = torch.from_numpy(batches.next().copy())
        return pictures[rows[batch].flatten()], evidence[batch]

    def loss(pictures, evidence):
        logs = F.log_softmax(network(pictures), 1).view(len(evidence), -1)
        literals = torch.cat([logs, evidence], 1)
        # No literal is negated.
        return -module(literals, torch.zeros_like(literals)).mean()

    return Training(loss, network.parameters(), case["learning_rate"], variant == "compiled", inputs)
