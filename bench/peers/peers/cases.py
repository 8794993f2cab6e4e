"""Cases: a folder each with a theory, its data, a manifest for every semantics, and `case.json` for the peers.

Both sides read the same files. Thresholds of guards lie in the middle of a gap between two distances, so that single
and double precision agree on which pairs are near.
"""

import csv
import gzip
import json
import os
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[3]
# Where the user has the real data; a folder that is not there means the stand-in.
REAL_DATA = Path(os.environ.get("LOGLTN_DATA", ROOT / "data"))
MNIST = ROOT / "data/mnist"

# The libraries' own default for both of LTN's means; alpha is the middle of the paper's schedule.
P, P_FORALL, ALPHA = 2, 2, 2.0


def folder(work, name):
    path = Path(work) / name
    path.mkdir(parents=True, exist_ok=True)
    return path


def write_case(path, facts, theory, manifest, semantics, learning_rate=0.001):
    """The theory, one manifest for each semantics, and the facts that peers need."""
    (path / "theory.ltn").write_text(theory)
    for name in semantics:
        alpha = 1.0 if name == "logltn-lse" else ALPHA
        (path / f"{name}.toml").write_text(
            f'theory = "theory.ltn"\nsemantics = "{name}"\n{manifest}\n'
            f"[schedule]\nalpha = {alpha}\np = {P}\np_forall = {P_FORALL}\n\n"
            f'[train]\noptimizer = "adam"\nlearning_rate = {learning_rate}\nseed = 0\n'
        )
    facts = dict(facts, p=P, p_forall=P_FORALL, alpha=ALPHA, learning_rate=learning_rate)
    (path / "case.json").write_text(json.dumps(facts, indent=1))
    return path


def write_rows(path, header, rows):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


# --- Clustering


def real_points():
    """The paper's gene expression data if it is at hand, else the stand-in."""
    real = REAL_DATA / "tcga/pca_16d.csv"
    path = real if real.exists() else ROOT / "theories/clustering/points.csv"
    points = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
    return points[:, -16:].astype(np.float32), "TCGA" if path == real else "stand-in"


def quiet_threshold(distances, place):
    """A number near the sorted distances' `place` in the largest gap around it."""
    low, high = max(place - 50, 0), min(place + 50, len(distances) - 1)
    gaps = np.diff(distances[low : high + 1])
    at = low + int(gaps.argmax())
    return float((distances[at] + distances[at + 1]) / 2)


def all_distances(points):
    from scipy.spatial.distance import pdist, squareform

    return np.sort(squareform(pdist(points.astype(np.float64))), axis=None)


CLUSTERING = """sort Point
sort Cluster = 0..{last}
param near
predicate C(Point, Cluster)
axiom covered:   forall x: Point. exists c: Cluster. C(x, c)
axiom inhabited: forall c: Cluster. exists x: Point. C(x, c)
axiom smooth:    forall c: Cluster, x: Point, y: Point where dist(x, y) < near. C(x, c) -> C(y, c)
"""


def clustering_case(work, name, points, clusters, near, origin):
    path = folder(work, name)
    np.save(path / "points.npy", points)
    facts = {"task": "clustering", "points": len(points), "clusters": clusters, "near": near, "data": origin}
    manifest = (
        '\n[sorts.Point]\nfeatures = "points.npy"\n\n'
        f"[params]\nnear = {near!r}\n\n"
        '[predicates.C]\nnetwork = { mlp = [16, 16, 16], activation = "elu" }\noutput = "softmax"\n'
    )
    return write_case(path, facts, CLUSTERING.format(last=clusters - 1), manifest, ["logltn", "stable"], 0.002)


def clustering(work, clusters=5):
    points, origin = real_points()
    distances = all_distances(points)
    near = quiet_threshold(distances, int(0.025 * len(distances)))
    return clustering_case(work, f"clustering-{clusters}-clusters", points, clusters, near, origin)


def growing_points(work, count, neighbours=20):
    """Points on a three-dimensional body in 16 dimensions, of the same density and with the same number of
    neighbours each, however many there are."""
    from scipy.spatial import cKDTree

    random = np.random.default_rng(count)
    side = count ** (1 / 3)
    latent = random.uniform(-side / 2, side / 2, size=(count, 3))
    frame = np.linalg.qr(random.normal(size=(16, 3)))[0]
    points = (latent @ frame.T + 0.01 * random.normal(size=(count, 16))).astype(np.float32)
    # The mean number of neighbours at a distance, by the distances from some of the points.
    sample = points[random.choice(count, min(count, 1000), replace=False)].astype(np.float64)
    near, _ = cKDTree(points.astype(np.float64)).query(sample, k=min(count, 4 * neighbours))
    distances = np.sort(near, axis=None)
    near = quiet_threshold(distances, min(neighbours * len(sample), len(distances) - 1))
    # Networks start in a sane range whatever the size of the body.
    scale = 1 / (0.3 * side)
    points *= np.float32(scale)
    return clustering_case(work, f"points-{count}", points, 5, near * scale, "made")


# --- Addition


def mnist(kind="train"):
    with gzip.open(MNIST / f"{kind}-images-idx3-ubyte.gz") as file:
        images = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 28, 28)
    with gzip.open(MNIST / f"{kind}-labels-idx1-ubyte.gz") as file:
        labels = np.frombuffer(file.read(), np.uint8, offset=8)
    return images, labels


DIGIT = """
[sorts.Image]
features = "{images}"

[tables]
sums = {{ rows = "sums.csv", batch = 32 }}

[predicates.digit]
network = {{ layers = [
    {{ conv = [6, 5] }}, "elu", {{ pool = 2 }},
    {{ conv = [16, 5] }}, "elu", {{ pool = 2 }},
    "flatten", {{ dense = 100 }}, "elu", {{ dense = 84 }}, "elu" ] }}
output = "softmax"
"""


def mnist_add(work, rows):
    path = folder(work, f"mnist_add-{rows}")
    _, labels = mnist()
    images = np.arange(4 * rows).reshape(4, rows).T
    digits = labels[images].astype(int)
    sums = digits @ np.array([10, 1, 10, 1])
    write_rows(path / "sums.csv", ["x1", "x2", "y1", "y2", "n"], np.column_stack([images, sums]).tolist())
    np.save(path / "rows.npy", images)
    np.save(path / "sums.npy", sums)
    theory = (ROOT / "theories/mnist_add.ltn").read_text()
    manifest = DIGIT.format(images=MNIST / "train-images-idx3-ubyte.gz")
    return write_case(path, {"task": "mnist_add", "rows": rows, "batch": 32}, theory, manifest, ["logltn", "stable"])


def multi_add(work, digits, rows=32):
    """Sums of two numbers of so many digits, column by column with carries; the least significant digit is number 0."""
    path = folder(work, f"multi_add-{digits}")
    _, labels = mnist()
    images = np.arange(2 * digits * rows).reshape(2, digits, rows) % len(labels)
    shown = labels[images].astype(int)
    carry, columns = np.zeros(rows, int), []
    for i in range(digits):
        total = shown[0, i] + shown[1, i] + carry
        columns.append(total % 10)
        carry = total // 10
    sums = np.column_stack(columns + [carry])  # [rows, digits + 1]
    each = range(digits)
    header = [f"x{i}" for i in each] + [f"y{i}" for i in each] + [f"s{i}" for i in range(digits + 1)]
    flat = np.concatenate([images[0], images[1]]).T  # [rows, 2 * digits]
    write_rows(path / "sums.csv", header, np.column_stack([flat, sums]).tolist())
    np.save(path / "rows.npy", flat)
    np.save(path / "sums.npy", sums)
    names = lambda letter, count=digits, after="": ", ".join(f"{letter}{i}{after}" for i in range(count))
    equations = [f"a{i} + b{i} + c{i} = s{i} + 10*c{i + 1}" for i in each]
    equations += ["c0 = 0", f"c{digits} = s{digits}"]
    literals = [f"digit(x{i}, a{i}) and digit(y{i}, b{i})" for i in each]
    theory = (
        "sort Image\nsort Digit = 0..9\nsort Carry = 0..1\npredicate digit(Image, Digit)\n"
        f"table sums({names('x', after=': Image')}, {names('y', after=': Image')}, {names('s', digits + 1, ': Int')})\n"
        f"axiom addition: forall ({', '.join(header)}) in sums.\n"
        f"    exists {names('a')}, {names('b')}: Digit, {names('c', digits + 1)}: Carry\n"
        f"    where {' and '.join(equations)}.\n    {' and '.join(literals)}\n"
    )
    manifest = DIGIT.format(images=MNIST / "train-images-idx3-ubyte.gz")
    facts = {"task": "multi_add", "digits": digits, "rows": rows, "batch": 32}
    return write_case(path, facts, theory, manifest, ["logltn-lse"])


# --- PASCAL-Part

TABLES = {"labelled": 2, "parts": 2, "not_parts": 2, "pairs": 2, "boxes": 1}
BATCH = 32


def read_rows(path):
    with open(path, newline="") as file:
        return list(csv.reader(file))[1:]


def pascal_part(work, axioms=60):
    """A batch of every table of the stand-in, with simulated features of the paper's width. With 60 axioms they are
    the paper's; with more, rules of the same form about random types come instead of the ontology's."""
    from safetensors.numpy import load_file, save_file

    path = folder(work, f"pascal_part-{axioms}")
    source = ROOT / "theories/pascal_part"
    random = np.random.default_rng(7)
    boxes = load_file(source / "boxes.safetensors")
    count = len(boxes["position"])
    boxes["roi"] = random.normal(size=(count, 1024)).astype(np.float32)
    save_file(boxes, path / "boxes.safetensors")
    names = (source / "classes.csv").read_text()  # a name a line, no header
    (path / "classes.csv").write_text(names)
    classes = names.split("\n")[:-1]
    number = {name: i for i, name in enumerate(classes)}
    tables = {}
    for table, width in TABLES.items():
        rows = read_rows(source / f"{table}.csv")
        chosen = [rows[i] for i in random.choice(len(rows), BATCH, replace=False)]
        header = {"labelled": ["x", "t"], "boxes": ["x"]}.get(table, ["x", "y"])
        write_rows(path / f"{table}.csv", header, chosen)
        tables[table] = [[number[v] if v in number else int(v) for v in row][:width] for row in chosen]
    ontology = read_rows(source / "ontology.csv")
    write_rows(path / "ontology.csv", ["whole", "part"], ontology)
    pairs = [(number[w], number[p]) for w, p in ontology]
    theory = (ROOT / "theories/pascal_part.ltn").read_text()
    if axioms == 60:
        wholes = sorted({w for w, _ in pairs})
        parts = sorted({p for _, p in pairs})
        # (type of x, whether `part_of(y, x)` and not `part_of(x, y)`, types of y)
        rules = [(w, True, [p for v, p in pairs if v == w]) for w in wholes]
        rules += [(p, False, [w for w, q in pairs if q == p]) for p in parts]
    else:
        theory = theory[: theory.index("# --- What the ontology says")].replace(
            "table ontology(whole: Type, part: Type)", ""
        )
        rules = []
        for i in range(axioms - 5):
            types = random.choice(len(classes), 4, replace=False).tolist()
            rules.append((types[0], i % 2 == 0, types[1:]))
            x, ys = classes[types[0]], " or ".join(f"type(y, {classes[t]})" for t in types[1:])
            atom = "part_of(y, x)" if i % 2 == 0 else "part_of(x, y)"
            theory += f"axiom rule{i}: forall (x, y) in pairs. type(x, {x}) and {atom} -> ({ys})\n"
    assert len(rules) == axioms - 5, len(rules)
    manifest = '\n[sorts.Box]\nfeatures = "boxes.safetensors"\n\n[sorts.Type]\nindividuals = "classes.csv"\n\n[tables]\n'
    if axioms == 60:
        manifest += 'ontology = { rows = "ontology.csv" }\n'
    manifest += "".join(f'{t} = {{ rows = "{t}.csv", batch = {BATCH} }}\n' for t in TABLES)
    network = 'mlp = [512, 256, 256, 128, 128], activation = "elu", inputs'
    manifest += f"""
[predicates.type]
args = ["x", "t"]
network = {{ {network} = ["x.roi", "x.position"] }}
output = "softmax"

[predicates.part_of]
args = ["x", "y"]
network = {{ {network} = [
    "stop(type(x))", "stop(type(y))", "x.position", "y.position",
    "containment(x.position, y.position)", "containment(y.position, x.position)" ] }}
output = "sigmoid"
"""
    facts = {"task": "pascal_part", "axioms": axioms, "types": len(classes), "tables": tables, "rules": rules}
    return write_case(path, facts, theory, manifest, ["logltn", "stable"])
