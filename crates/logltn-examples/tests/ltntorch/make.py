"""What LTNtorch makes of the examples, with weights of ours: the figures that tests/ltntorch.rs compares with.

For each example NAME (stand-in data, `LOGLTN_DATA` not set):
    logltn example NAME --out NAME
    logltn train NAME/NAME.toml --out NAME/short --steps 100      # weights for which truths are not all near 1
then, with LTNtorch 1.0.2 and torch installed, in the folder of these folders:
    python make.py
which writes NAME.safetensors and values.csv here. No code of LTNtorch is copied: its operators are called.
"""
import csv
import json
import shutil
import struct
from pathlib import Path

import ltn
import torch

HERE = Path(__file__).parent
ops = ltn.fuzzy_ops
And, Or, Not = (ltn.Connective(op) for op in (ops.AndProd(), ops.OrProbSum(), ops.NotStandard()))
Implies = ltn.Connective(ops.ImpliesReichenbach())
Equiv = ltn.Connective(ops.Equiv(ops.AndProd(), ops.ImpliesReichenbach()))
Forall = ltn.Quantifier(ops.AggregPMeanError(p=2), quantifier="f")
Exists = ltn.Quantifier(ops.AggregPMean(p=2), quantifier="e")


def weights(name):
    data = (Path(name) / "short/weights.safetensors").read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    found = {}
    for key, at in json.loads(data[8:8 + size]).items():
        if key != "__metadata__":
            begin, end = at["data_offsets"]
            values = struct.unpack(f"<{(end - begin) // 4}f", data[8 + size + begin:8 + size + end])
            found[key] = torch.tensor(values).reshape(at["shape"])
    return found


def rows(name, file):
    with open(Path(name) / file) as lines:
        return list(csv.reader(lines))[1:]


def features(name, file, columns):
    return torch.tensor([[float(x) for x in row[:columns]] for row in rows(name, file)])


def mlp(found, name):
    """The network behind a predicate: dense layers with ELU between them."""
    layers = sorted({int(key.split(".")[1]) for key in found if key.startswith(name + ".")})

    def run(x):
        for layer in layers:
            x = torch.nn.functional.linear(x, found[f"{name}.{layer}.weight"], found[f"{name}.{layer}.bias"])
            x = torch.nn.functional.elu(x) if layer != layers[-1] else x
        return x
    return run


def sigmoid(found, name):
    network = mlp(found, name)
    return ltn.Predicate(func=lambda *x: torch.sigmoid(network(torch.cat(x, dim=1)))[:, 0])


def per_class(found, name, squash):
    network = mlp(found, name)
    return ltn.Predicate(func=lambda x, c: (squash(network(x)) * c).sum(dim=1))


def one_hot(count):
    return [ltn.Constant(torch.eye(count)[i]) for i in range(count)]


def sat(values, p=2):
    return ops.SatAgg(ops.AggregPMeanError(p=p))(*values)


def binary():
    found, points = weights("binary"), features("binary", "points.csv", 2)
    A = sigmoid(found, "A")
    inside, outside = (ltn.Variable(n, points[[int(r[0]) for r in rows("binary", n + ".csv")]]) for n in ("inside", "outside"))
    axioms = {"inside": Forall(inside, A(inside)), "outside": Forall(outside, Not(A(outside)))}
    return axioms, sat(axioms.values())


def iris():
    found, flowers = weights("iris"), features("iris", "flowers.csv", 4)
    P, classes = per_class(found, "P", lambda x: torch.softmax(x, dim=1)), one_hot(3)
    axioms = {}
    for i, name in enumerate(("setosa", "versicolor", "virginica")):
        x = ltn.Variable(name, flowers[[int(r[0]) for r in rows("iris", "labelled.csv") if r[1] == name]])
        axioms[f"labels[{name}]"] = Forall(x, P(x, classes[i]))
    return axioms, sat(axioms.values())


def crabs():
    found, all_crabs = weights("crabs"), features("crabs", "crabs.csv", 5)
    P, names = per_class(found, "P", torch.sigmoid), ("blue", "orange", "male", "female")
    blue, orange, male, female = classes = one_hot(4)
    axioms = {}
    for label, name in zip(classes, names):
        x = ltn.Variable(name, all_crabs[[int(r[0]) for r in rows("crabs", "labelled.csv") if r[1] == name]])
        axioms[f"labels[{name}]"] = Forall(x, P(x, label))
    seen = [int(r[0]) for r in rows("crabs", "seen.csv")]
    x = ltn.Variable("x", all_crabs[seen])
    axioms["one_colour"] = Forall(x, Not(And(P(x, blue), P(x, orange))))
    axioms["one_sex"] = Forall(x, Not(And(P(x, male), P(x, female))))
    total = sat(axioms.values())
    y = ltn.Variable("y", all_crabs[[i for i in range(len(all_crabs)) if i not in seen]])
    axioms["blue_is_not_orange"] = Forall(y, Implies(P(y, blue), Not(P(y, orange))), p=5)
    axioms["blue_is_orange"] = Forall(y, Implies(P(y, blue), P(y, orange)), p=5)
    axioms["blue_is_male"] = Forall(y, Implies(P(y, blue), P(y, male)), p=5)
    return axioms, total


def real_estate():
    found, houses = weights("real-estate"), features("real-estate", "houses.csv", 6)
    f = ltn.Function(func=mlp(found, "f"))
    eq = ltn.Predicate(func=lambda u, v: torch.exp(-0.05 * torch.sqrt(torch.sum(torch.square(u - v), dim=1))))
    paid = rows("real-estate", "prices.csv")
    x = ltn.Variable("x", houses[[int(row[0]) for row in paid]])
    y = ltn.Variable("y", torch.tensor([[float(row[1])] for row in paid]))
    axioms = {"prices": Forall(ltn.diag(x, y), eq(f(x), y))}
    return axioms, sat(axioms.values())


def clustering():
    found, points = weights("clustering"), features("clustering", "points.csv", 2)
    C = per_class(found, "C", lambda x: torch.softmax(x, dim=1))
    x, y, c = ltn.Variable("x", points), ltn.Variable("y", points), ltn.Variable("c", torch.eye(4))

    def dist(a, b):
        return torch.linalg.norm(a.value - b.value, dim=1)
    axioms = {
        "covered": Forall(x, Exists(c, C(x, c), p=6), p=4),
        "inhabited": Forall(c, Exists(x, C(x, c), p=6), p=4),
        "together": Forall([c, x, y], Equiv(C(x, c), C(y, c)), p=4, cond_vars=[x, y], cond_fn=lambda x, y: dist(x, y) < 0.2),
        "apart": Forall([c, x, y], Not(And(C(x, c), C(y, c))), p=4, cond_vars=[x, y], cond_fn=lambda x, y: dist(x, y) > 1.0),
    }
    return axioms, sat(axioms.values())


def smokes():
    found = weights("smokes")
    people = found["embedding.Person"]
    at = {name: i for i, name in enumerate("abcdefghijklmn")}
    friend, smoke, cancer = (sigmoid(found, name) for name in ("friend", "smokes", "cancer"))
    x, y = ltn.Variable("x", people), ltn.Variable("y", people)

    def known(file, predicate, negated):
        found = rows("smokes", file)
        variables = [ltn.Variable(f"{file}{k}", people[[at[row[k]] for row in found]]) for k in range(len(found[0]))]
        if len(variables) == 2:
            ltn.diag(*variables)
        said = predicate(*variables)
        return Forall(variables, Not(said) if negated else said)
    axioms = {
        "friends": known("friends.csv", friend, False), "strangers": known("strangers.csv", friend, True),
        "smokers": known("smokers.csv", smoke, False), "non_smokers": known("non_smokers.csv", smoke, True),
        "ill": known("ill.csv", cancer, False), "well": known("well.csv", cancer, True),
        "irreflexive": Forall(x, Not(friend(x, x)), p=5),
        "symmetric": Forall([x, y], Implies(friend(x, y), friend(y, x)), p=5),
        "not_alone": Forall(x, Exists(y, friend(x, y), p=6)),
        "contagious": Forall([x, y], Implies(And(friend(x, y), smoke(x)), smoke(y))),
        "harmful": Forall(x, Implies(smoke(x), cancer(x))),
        "harmless": Forall(x, Implies(Not(smoke(x)), Not(cancer(x)))),
    }
    total = sat(axioms.values())
    axioms["only_smokers"] = Forall(x, Implies(cancer(x), smoke(x)), p=5)
    axioms["ill_friends"] = Forall([x, y], Implies(Or(cancer(x), cancer(y)), friend(x, y)), p=5)
    return axioms, total


def ancestors():
    found = weights("ancestors")
    people = found["embedding.Person"]
    names = (Path("ancestors") / "people.txt").read_text().split()
    parents = {tuple(row) for row in rows("ancestors", "parents.csv")}
    parent, ancestor = sigmoid(found, "parent"), sigmoid(found, "ancestor")
    x, y, z = (ltn.Variable(n, people) for n in "xyz")
    one = {n: ltn.Constant(people[i]) for i, n in enumerate(names)}
    axioms = {
        "first": Forall([x, y], Implies(parent(x, y), ancestor(x, y)), p=5),
        "further": Forall([x, y, z], Implies(And(parent(x, y), ancestor(y, z)), ancestor(x, z)), p=6),
        "only": Forall([x, y], Implies(ancestor(x, y), Or(parent(x, y), Exists(z, And(ancestor(x, z), parent(z, y)), p=6))), p=5),
        "not_own_parent": Forall(x, Not(parent(x, x)), p=5),
        "not_own_ancestor": Forall(x, Not(ancestor(x, x)), p=5),
        "not_both": Forall([x, y], Implies(parent(x, y), Not(parent(y, x))), p=5),
    }
    facts = [parent(one[a], one[b]) if (a, b) in parents else Not(parent(one[a], one[b])) for a in names for b in names]
    return axioms, sat([*axioms.values(), *facts], p=5)


if __name__ == "__main__":
    lines = ["example,axiom,truth"]
    for example in (binary, iris, crabs, real_estate, clustering, smokes, ancestors):
        axioms, total = example()
        name = example.__name__.replace("_", "-")
        lines += [f"{name},{axiom},{value.value.item():.8g}" for axiom, value in axioms.items()]
        lines.append(f"{name},,{total.item():.8g}")
        shutil.copy(Path(name) / "short/weights.safetensors", HERE / f"{name}.safetensors")
    (HERE / "values.csv").write_text("\n".join(lines) + "\n")
