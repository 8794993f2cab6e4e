"""LTNtorch 1.0.2, written as its tutorials and examples write it: a predicate call where a formula has an atom,
`cond_fn` for guards, `ltn.diag` for rows of a table, `SatAgg` over axioms, PyTorch's Adam. Stable product operators
are its defaults."""

import ltn
import torch
from torch import nn

from batches import Batches
from handwritten import containment
from networks import images, lenet, mlp, with_weights


def operators(case):
    ops = ltn.fuzzy_ops
    return (
        ltn.Connective(ops.NotStandard()),
        ltn.Connective(ops.AndProd()),
        ltn.Connective(ops.OrProbSum()),
        ltn.Connective(ops.ImpliesReichenbach()),
        ltn.Quantifier(ops.AggregPMeanError(p=case["p_forall"]), quantifier="f"),
        ltn.Quantifier(ops.AggregPMean(p=case["p"]), quantifier="e"),
        ops.SatAgg(ops.AggregPMeanError(p=case["p_forall"])),
    )


class ClassPredicate(nn.Module):
    """The examples' `LogitsToPredicate`: the network on every row, then the column of the class."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, x, label):
        probabilities = torch.softmax(self.network(x), dim=1)
        return torch.gather(probabilities, 1, label.long().view(-1, 1)).squeeze(1)


class Training:
    def __init__(self, sat, parameters, learning_rate):
        self.sat = sat
        self.optimizer = torch.optim.Adam(parameters, lr=learning_rate)

    def step(self):
        self.optimizer.zero_grad()
        loss = 1.0 - self.sat()
        loss.backward()
        self.optimizer.step()
        return loss.detach()


def clustering(folder, case):
    import numpy as np

    _, _, _, Implies, Forall, Exists, sat_agg = operators(case)
    points = torch.from_numpy(np.load(folder / "points.npy"))
    network = with_weights(mlp(points.shape[1], 16, 16, 16, case["clusters"]), folder, "C")
    C = ltn.Predicate(ClassPredicate(network))
    near = case["near"]
    clusters = torch.arange(case["clusters"])

    def is_near(x, y):
        return torch.sqrt(torch.sum(torch.square(x.value - y.value), dim=1)) < near

    def sat():
        x, y = ltn.Variable("x", points), ltn.Variable("y", points)
        c = ltn.Variable("c", clusters)
        return sat_agg(
            Forall(x, Exists(c, C(x, c))),
            Forall(c, Exists(x, C(x, c))),
            Forall([c, x, y], Implies(C(x, c), C(y, c)), cond_vars=[x, y], cond_fn=is_near),
        )

    return Training(sat, network.parameters(), case["learning_rate"])


def mnist_add(folder, case):
    import numpy as np

    _, And, _, _, Forall, Exists, sat_agg = operators(case)
    rows = torch.from_numpy(np.load(folder / "rows.npy"))
    sums = torch.from_numpy(np.load(folder / "sums.npy"))
    pictures = images()
    network = with_weights(lenet(pool_first=False), folder, "digit")
    Digit = ltn.Predicate(ClassPredicate(network))
    batches = Batches(len(rows), case["batch"])
    d1, d2, d3, d4 = (ltn.Variable(f"d{i}", torch.arange(10)) for i in range(1, 5))

    def adds_up(d1, d2, d3, d4, n):
        return torch.eq(10 * d1.value + d2.value + 10 * d3.value + d4.value, n.value)

    def sat():
        batch = torch.from_numpy(batches.next().copy())
        of = [pictures[rows[batch, i]] for i in range(4)]
        x1, x2, y1, y2 = (ltn.Variable(name, p) for name, p in zip(("x1", "x2", "y1", "y2"), of))
        n = ltn.Variable("n", sums[batch])
        return sat_agg(
            Forall(
                ltn.diag(x1, x2, y1, y2, n),
                Exists(
                    [d1, d2, d3, d4],
                    And(And(And(Digit(x1, d1), Digit(x2, d2)), Digit(y1, d3)), Digit(y2, d4)),
                    cond_vars=[d1, d2, d3, d4, n],
                    cond_fn=adds_up,
                ),
            )
        )

    return Training(sat, network.parameters(), case["learning_rate"])


def pascal_part(folder, case):
    from safetensors.torch import load_file

    Not, And, Or, Implies, Forall, _, sat_agg = operators(case)
    boxes = load_file(folder / "boxes.safetensors")
    features = torch.cat([boxes["roi"], boxes["position"]], 1)
    types = case["types"]
    hidden = (512, 256, 256, 128, 128)
    type_network = with_weights(mlp(features.shape[1], *hidden, types), folder, "type")
    part_network = with_weights(mlp(2 * types + 10, *hidden, 1), folder, "part_of")

    def part_of(x, y):
        a, b = x[:, -4:], y[:, -4:]
        with torch.no_grad():
            of_x, of_y = type_network(x), type_network(y)
        shares = torch.stack([containment(a, b), containment(b, a)], 1)
        return torch.sigmoid(part_network(torch.cat([of_x, of_y, a, b, shares], 1)).squeeze(1))

    Type = ltn.Predicate(ClassPredicate(type_network))
    PartOf = ltn.Predicate(func=part_of)
    tables = {name: torch.tensor(rows) for name, rows in case["tables"].items()}
    batches = {name: Batches(len(rows), 32) for name, rows in case["tables"].items()}
    kind = [ltn.Constant(torch.tensor([float(t)])) for t in range(types)]

    def sat():
        rows = {n: t[torch.from_numpy(batches[n].next().copy())] for n, t in tables.items()}
        var = lambda name, table, column: ltn.Variable(name, features[rows[table][:, column]])
        labelled, t = var("labelled", "labelled", 0), ltn.Variable("t", rows["labelled"][:, 1])
        px, py = var("px", "parts", 0), var("py", "parts", 1)
        nx, ny = var("nx", "not_parts", 0), var("ny", "not_parts", 1)
        x, y = var("x", "pairs", 0), var("y", "pairs", 1)
        box = var("box", "boxes", 0)
        axioms = [
            Forall(ltn.diag(labelled, t), Type(labelled, t)),
            Forall(ltn.diag(px, py), PartOf(px, py)),
            Forall(ltn.diag(nx, ny), Not(PartOf(nx, ny))),
            Forall(ltn.diag(x, y), Not(And(PartOf(x, y), PartOf(y, x)))),
            Forall(box, Not(PartOf(box, box))),
        ]
        for of_x, reverse, of_y in case["rules"]:
            ltn.diag(x, y)
            conclusion = Type(y, kind[of_y[0]])
            for other in of_y[1:]:
                conclusion = Or(conclusion, Type(y, kind[other]))
            part = PartOf(y, x) if reverse else PartOf(x, y)
            axioms.append(Forall([x, y], Implies(And(Type(x, kind[of_x]), part), conclusion)))
        return sat_agg(*axioms)

    parameters = list(type_network.parameters()) + list(part_network.parameters())
    return Training(sat, parameters, case["learning_rate"])


def build(folder, case, _variant):
    return {"clustering": clustering, "mnist_add": mnist_add, "pascal_part": pascal_part}[case["task"]](folder, case)
