"""The networks in PyTorch, the logic ours: `logltn.torch.KnowledgeBase` under the networks and batches of `handwritten`.

As a user would write it: networks once per step on distinct rows, their outputs to `kb.loss`; rows of a step that come from a table
are streamed, counted within the step. Variants: the semantics.
"""

import torch

import logltn.torch
from batches import Batches
from handwritten import Training, containment
from networks import images, lenet, mlp, with_weights


def knowledge_base(folder, semantics, **arguments):
    threads = torch.get_num_threads()
    return logltn.torch.KnowledgeBase((folder / "theory.ltn").read_text(), semantics=semantics, threads=threads, **arguments)


def parameters_of(case, semantics):
    alpha = 1.0 if semantics == "logltn-lse" else case["alpha"]
    return {"alpha": alpha, "p": float(case["p"]), "p_forall": float(case["p_forall"])}


def clustering(folder, case, semantics):
    import numpy as np

    points = torch.from_numpy(np.load(folder / "points.npy"))
    network = with_weights(mlp(points.shape[1], 16, 16, 16, case["clusters"]), folder, "C")
    kb = knowledge_base(folder, semantics, sorts={"Point": points}, params={"near": case["near"]}, outputs={"C": "softmax"})
    given = parameters_of(case, semantics)
    return Training(lambda: kb.loss(C=network(points), **given), network.parameters(), case["learning_rate"], False)


def addition(folder, case, semantics):
    """Of two digits, and of many: columns of pictures first, then those of the sum."""
    import numpy as np

    rows, sums = np.load(folder / "rows.npy"), np.load(folder / "sums.npy")
    sums = sums.reshape(len(rows), -1)
    pictures = images()
    network = with_weights(lenet(pool_first=True), folder, "digit")
    batches = Batches(len(rows), case["batch"])
    kb = knowledge_base(folder, semantics, outputs={"digit": "softmax"}, streamed=["sums"])
    given = parameters_of(case, semantics)
    width = rows.shape[1]

    def loss():
        batch = batches.next()
        chosen = torch.from_numpy(rows[batch].reshape(-1))
        logits = network(pictures[chosen])
        places = np.arange(len(chosen)).reshape(-1, width)
        table = np.concatenate([places, sums[batch]], 1)
        return kb.loss(digit=logits, sorts={"Image": len(chosen)}, tables={"sums": table}, **given)

    return Training(loss, network.parameters(), case["learning_rate"], False)


def pascal_part(folder, case, semantics):
    """The knowledge base says which boxes and pairs a batch asks for; `part_of` reads types without changing them."""
    import numpy as np
    from safetensors.torch import load_file

    boxes = load_file(folder / "boxes.safetensors")
    position, features = boxes["position"], torch.cat([boxes["roi"], boxes["position"]], 1)
    types = case["types"]
    hidden = (512, 256, 256, 128, 128)
    type_network = with_weights(mlp(features.shape[1], *hidden, types), folder, "type")
    part_network = with_weights(mlp(2 * types + 10, *hidden, 1), folder, "part_of")
    tables = {name: np.array(rows) for name, rows in case["tables"].items()}
    batches = {name: Batches(len(rows), 32) for name, rows in case["tables"].items()}
    if "ontology" in (folder / "theory.ltn").read_text():
        pairs = [(w, p) for w, reverse, parts in case["rules"] if reverse for p in parts]
        tables["ontology"] = np.array(pairs)
    classes = (folder / "classes.csv").read_text().split("\n")[:-1]
    tables = {n: named(t, n, classes) for n, t in tables.items()}
    kb = knowledge_base(
        folder, semantics, sorts={"Box": len(features), "Type": classes}, tables=tables, outputs={"type": "softmax"},
        batched=list(batches),
    )  # fmt: skip
    given = parameters_of(case, semantics)

    def loss():
        batch = {name: rows.next() for name, rows in batches.items()}
        of_type = torch.tensor(kb.rows("type", batch=batch)[:, 0])
        of_part = torch.tensor(kb.rows("part_of", batch=batch))
        # Boxes whose types are only read have no gradients to keep.
        asked, place = torch.unique(of_part, return_inverse=True)
        learnt = type_network(features[of_type])
        at = torch.full((len(features),), -1)
        at[of_type] = torch.arange(len(of_type))
        with torch.no_grad():
            other = asked[at[asked] < 0]
            at[other] = torch.arange(len(other)) + len(of_type)
            read = torch.cat([learnt, type_network(features[other])])[at[asked]][place]
        a, b = position[of_part[:, 0]], position[of_part[:, 1]]
        shares = torch.stack([containment(a, b), containment(b, a)], 1)
        part = part_network(torch.cat([read[:, 0], read[:, 1], a, b, shares], 1)).squeeze(1)
        values = {"type": logltn.AtRows(learnt), "part_of": logltn.AtRows(part)}
        return kb.loss(values, batch=batch, **given)

    parameters = list(type_network.parameters()) + list(part_network.parameters())
    return Training(loss, parameters, case["learning_rate"], False)


def named(rows, table, classes):
    """Columns by name; types by theirs."""
    names = {"labelled": ("x", "t"), "boxes": ("x",), "ontology": ("whole", "part")}.get(table, ("x", "y"))
    of_types = {"labelled": (1,), "ontology": (0, 1)}.get(table, ())
    return {n: [classes[k] for k in rows[:, i]] if i in of_types else rows[:, i] for i, n in enumerate(names)}


def build(folder, case, semantics):
    task = {"clustering": clustering, "mnist_add": addition, "multi_add": addition, "pascal_part": pascal_part}
    return task[case["task"]](folder, case, semantics)
