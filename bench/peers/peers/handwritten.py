"""logLTN written by hand in PyTorch, one program for each task, as well as we can.

Networks run once per step, on distinct rows; guards are index tensors made before the first step; quantifiers are
batched reductions. There is no Python loop over groundings, axioms or rows. ELU comes after pooling, Adam is fused.
"""

import math

import torch
import torch.nn.functional as F

from batches import Batches
from networks import images, lenet, mlp, with_weights


class Training:
    """A loss, its parameters, and how to compile it."""

    def __init__(self, loss, parameters, learning_rate, compiled, inputs=lambda: ()):
        self.loss = torch.compile(loss, dynamic=False) if compiled else loss
        self.inputs = inputs
        self.optimizer = torch.optim.Adam(parameters, lr=learning_rate, fused=True)

    def step(self):
        loss = self.loss(*self.inputs())
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.detach()


def all_others(classes):
    """For each of few classes, the others."""
    few = classes <= 8
    return torch.tensor([[j for j in range(classes) if j != k] for k in range(classes)]) if few else None


def log_negation(z, lse, others):
    """log(1 - softmax(z)), stably: for all but the largest logit the softmax is at most a half."""
    if others is not None:
        return z[:, others].logsumexp(2) - lse
    largest = z.argmax(1, keepdim=True)
    without = z.scatter(1, largest, -math.inf)
    rest = without.logsumexp(1, keepdim=True) - lse
    return torch.log1p(-(without - lse).exp()).scatter(1, largest, rest)


def log_mean_exp(x, alpha, dim):
    return (torch.logsumexp(alpha * x, dim) - math.log(x.shape[dim])) / alpha


def log_mean_exp_of_two(a, b, alpha):
    # One fused operation with a fused derivative.
    return b + F.softplus(a - b, beta=alpha) - math.log(2) / alpha


# --- Clustering


def near_pairs(points, near):
    """Both indices of all ordered pairs of near points, sorted by the first."""
    import numpy as np
    from scipy.spatial import cKDTree

    tree = cKDTree(points.astype(np.float64))
    half = tree.query_pairs(near * (1 - 1e-12), output_type="ndarray")
    each = np.arange(len(points))
    i = np.concatenate([half[:, 0], half[:, 1], each])
    j = np.concatenate([half[:, 1], half[:, 0], each])
    order = np.lexsort((j, i))
    return i[order], j[order]


def clustering(folder, case, compiled):
    import numpy as np

    points = np.load(folder / "points.npy")
    first, second = map(torch.from_numpy, near_pairs(points, case["near"]))
    x = torch.from_numpy(points)
    network = with_weights(mlp(x.shape[1], 16, 16, 16, case["clusters"]), folder, "C")
    alpha, size = case["alpha"], len(first) * case["clusters"]
    others = all_others(case["clusters"])
    times = torch.bincount(second, minlength=len(x)).float().unsqueeze(1)

    def loss():
        z = network(x)
        lse = z.logsumexp(1, keepdim=True)
        yes = z - lse
        no = log_negation(z, lse, others)
        covered = log_mean_exp(yes, alpha, 1).mean()
        inhabited = log_mean_exp(yes, alpha, 0).mean()
        # As log_mean_exp_of_two, but its first summand needs no gather: each point counts as often as it is a second.
        gap = no.index_select(0, first) - yes.index_select(0, second)
        total = F.softplus(gap, beta=alpha).sum() + (times * yes).sum()
        smooth = total / size - math.log(2) / alpha
        return -(covered + inhabited + smooth) / 3

    return Training(loss, network.parameters(), case["learning_rate"], compiled)


# --- MNISTAdd


def mnist_add(folder, case, compiled):
    import numpy as np

    rows = torch.from_numpy(np.load(folder / "rows.npy"))
    sums = torch.from_numpy(np.load(folder / "sums.npy"))
    pictures = images()
    network = with_weights(lenet(pool_first=True), folder, "digit")
    alpha = case["alpha"]
    batches = Batches(len(rows), case["batch"])
    # For the sum n and the first number a, the second number is n - a; 100 stands for "none".
    second = torch.arange(199).unsqueeze(1) - torch.arange(100)
    second = torch.where((second >= 0) & (second < 100), second, 100)
    log_count = (second < 100).sum(1).float().log()

    def inputs():
        batch = torch.from_numpy(batches.next().copy())
        n = sums[batch]
        return pictures[rows[batch].flatten()], second[n], log_count[n]

    def loss(pictures, second, log_count):
        digits = F.log_softmax(network(pictures), 1).view(-1, 4, 10)
        # The 100 numbers of two digits, tens first; only pairs that add up are looked at.
        a = (digits[:, 0].unsqueeze(2) + digits[:, 1].unsqueeze(1)).flatten(1)
        b = (digits[:, 2].unsqueeze(2) + digits[:, 3].unsqueeze(1)).flatten(1)
        b = F.pad(b, (0, 1), value=-1e30)
        either = torch.logsumexp(alpha * (a + b.gather(1, second)), 1)
        return -((either - log_count) / alpha).mean()

    return Training(loss, network.parameters(), case["learning_rate"], compiled, inputs)


def network_alone(folder, case, pool_first):
    """No logic at all: the forward and backward pass of the same 128 images, and Adam."""
    pictures = images()[: 4 * case["batch"]]
    network = with_weights(lenet(pool_first), folder, "digit")
    return Training(lambda: network(pictures).square().mean(), network.parameters(), case["learning_rate"], False)


# --- Addition of numbers of many digits


def multi_add(folder, case, compiled):
    """Dynamic programming over the columns, in log space: the pairs of digits that give each sum, then products of
    2 × 2 matrices (carry in, carry out), neighbours with neighbours."""
    import numpy as np

    digits = case["digits"]
    rows = torch.from_numpy(np.load(folder / "rows.npy"))
    sums = torch.from_numpy(np.load(folder / "sums.npy"))
    pictures = images()
    network = with_weights(lenet(pool_first=True), folder, "digit")
    batches = Batches(len(rows), case["batch"])
    # total[carry in, carry out] = digit of the sum + 10 * carry out - carry in
    totals = torch.tensor([[0, 10], [-1, 9]])
    # The second digit for each first digit and total from -1 to 19; 10 stands for "none".
    second = torch.arange(-1, 20).unsqueeze(1) - torch.arange(10)
    second = torch.where((second >= 0) & (second < 10), second, 10)

    def inputs():
        batch = torch.from_numpy(batches.next().copy())
        s = sums[batch]
        total = s[:, :digits, None, None] + totals + 1  # [batch, digits, 2, 2]
        return pictures[rows[batch].flatten()], second[total], s[:, digits]

    def loss(pictures, second, last_carry):
        logs = F.log_softmax(network(pictures), 1).view(-1, 2, digits, 10)
        b = F.pad(logs[:, 1], (0, 1), value=-1e30)
        size = len(second)
        b = b[:, :, None, None].expand(size, digits, 2, 2, 11).gather(4, second)
        chain = (logs[:, 0, :, None, None] + b).logsumexp(4)  # [batch, digits, carry in, carry out]
        while chain.shape[1] > 1:
            even = chain.shape[1] // 2 * 2
            left, right = chain[:, 0:even:2], chain[:, 1:even:2]
            product = (left.unsqueeze(4) + right.unsqueeze(2)).logsumexp(3)
            chain = torch.cat([product, chain[:, even:]], 1)
        return -chain[:, 0, 0].gather(1, last_carry.unsqueeze(1)).mean()

    return Training(loss, network.parameters(), case["learning_rate"], compiled, inputs)


# --- PASCAL-Part


def containment(a, b):
    """The share of the first box that lies in the second."""
    side = (a[:, 2:] - a[:, :2]).clamp(min=0)
    common = (torch.minimum(a[:, 2:], b[:, 2:]) - torch.maximum(a[:, :2], b[:, :2])).clamp(min=0)
    area = side.prod(1)
    return torch.where(area > 0, common.prod(1) / area, 0.0)


def pascal_part(folder, case, compiled, split=False):
    """With `split`, boxes whose types are only read with the gradient stopped go through the network apart, without
    anything kept for a backward pass; otherwise the network runs once on all."""
    from safetensors.torch import load_file

    boxes = load_file(folder / "boxes.safetensors")
    position, features = boxes["position"], torch.cat([boxes["roi"], boxes["position"]], 1)
    types = case["types"]
    hidden = (512, 256, 256, 128, 128)
    type_network = with_weights(mlp(features.shape[1], *hidden, types), folder, "type")
    part_network = with_weights(mlp(2 * types + 10, *hidden, 1), folder, "part_of")
    alpha = case["alpha"]
    tables = {name: torch.tensor(rows) for name, rows in case["tables"].items()}
    batches = {name: Batches(len(rows), 32) for name, rows in case["tables"].items()}
    # Rules in two blocks, by the direction of `part_of`: the type of x, and the types of y, padded.
    blocks = []
    for reverse in (True, False):
        rules = [r for r in case["rules"] if r[1] == reverse]
        longest = max(len(r[2]) for r in rules)
        of_x = torch.tensor([r[0] for r in rules])
        of_y = torch.tensor([r[2] + [types] * (longest - len(r[2])) for r in rules])
        log_count = torch.tensor([math.log(len(r[2])) for r in rules])
        blocks.append((of_x, of_y, log_count))

    def inputs():
        rows = {n: t[torch.from_numpy(batches[n].next().copy())] for n, t in tables.items()}
        pairs, single = rows["pairs"], rows["boxes"].flatten()
        # The boxes of which a type is wanted, and, by their places among them, the pairs for `part_of`.
        wanted = torch.cat([pairs.flatten(), rows["labelled"][:, 0], rows["parts"].flatten(),
                            rows["not_parts"].flatten(), single])  # fmt: skip
        asked, place = torch.unique(wanted, return_inverse=True)
        n = len(single)
        learnt = torch.zeros(len(asked), dtype=torch.bool)
        learnt[place[: 3 * n]] = True  # those of pairs and labels
        first = int(learnt.sum()) if split else len(asked)
        if split:
            order = torch.argsort(learnt, descending=True, stable=True)
            asked, place = asked[order], torch.argsort(order)[place]
        xy = place[: 2 * n].view(n, 2)
        labelled = place[2 * n : 3 * n]
        parts, not_parts = place[3 * n : 5 * n].view(n, 2), place[5 * n : 7 * n].view(n, 2)
        same = place[7 * n :].unsqueeze(1).expand(n, 2)
        part_rows = torch.cat([xy, xy.flip(1), parts, not_parts, same])
        both = features[asked[:first]], features[asked[first:]]
        return *both, position[asked], part_rows, xy, labelled, rows["labelled"][:, 1]

    def loss(features, only_read, position, part_rows, xy, labelled, label):
        n = len(xy)
        z = type_network(features)
        lse = z.logsumexp(1, keepdim=True)
        yes = z - lse
        x, y = part_rows[:, 0], part_rows[:, 1]
        stopped = z.detach()
        if split:
            with torch.no_grad():
                stopped = torch.cat([stopped, type_network(only_read)])
        a, b = position[x], position[y]
        both = torch.cat([stopped[x], stopped[y], a, b, containment(a, b).unsqueeze(1),
                          containment(b, a).unsqueeze(1)], 1)  # fmt: skip
        part = part_network(both).squeeze(1).view(5, n)
        no_part = -F.softplus(part[[0, 1, 3, 4]])  # xy, yx, not_parts, irreflexive
        total = yes[labelled, label].mean() + F.logsigmoid(part[2]).mean() + no_part[2].mean() + no_part[3].mean()
        total = total + log_mean_exp_of_two(no_part[0], no_part[1], alpha).mean()
        padded = F.pad(yes[xy[:, 1]], (0, 1), value=-1e30)
        no_type = log_negation(z, lse, None)[xy[:, 0]]
        for (of_x, of_y, log_count), no in zip(blocks, (no_part[1], no_part[0])):
            premise = log_mean_exp_of_two(no_type[:, of_x], no.unsqueeze(1), alpha)
            conclusion = (torch.logsumexp(alpha * padded[:, of_y], 2) - log_count) / alpha
            total = total + log_mean_exp_of_two(premise, conclusion, alpha).mean(0).sum()
        return -total / case["axioms"]

    parameters = list(type_network.parameters()) + list(part_network.parameters())
    return Training(loss, parameters, case["learning_rate"], compiled, inputs)


def build(folder, case, variant):
    """`eager` or `compiled`, either of them with `stop-` in front (PASCAL-Part), or the network alone."""
    if variant in ("network", "network-pool-first"):
        return network_alone(folder, case, variant == "network-pool-first")
    if variant.startswith("stop-"):
        return pascal_part(folder, case, variant == "stop-compiled", split=True)
    task = {"clustering": clustering, "mnist_add": mnist_add, "multi_add": multi_add, "pascal_part": pascal_part}
    return task[case["task"]](folder, case, variant == "compiled")
