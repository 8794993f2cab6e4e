"""A run of `logltn train` as a knowledge base: the numbers of `logltn eval --run`."""

import copy
import json
import pickle
import subprocess
import sys
import time

import numpy as np
import pytest

import logltn

torch = pytest.importorskip("torch")
import logltn.torch  # noqa: E402

TRAIN = """
[train]
steps = 5
optimizer = "adam"
learning_rate = 0.05
seed = 1
"""

CLUSTERING = (
    """
sort Point
sort Cluster = 0..2
param near
predicate C(Point, Cluster)
axiom covered: forall x: Point. exists c: Cluster. C(x, c)
axiom smooth (weight 2): forall c: Cluster, x, y: Point where dist(x, y) < near. C(x, c) <-> C(y, c)
""",
    """
[sorts.Point]
features = "points.npy"
[params]
near = 1.0
[predicates.C]
network = { mlp = [8, 8], activation = "tanh" }
output = "softmax"
[axioms.smooth]
alpha = 3
[schedule]
alpha = { linear = [1, 2.5] }
""",
)

PICTURES = (
    """
sort Image
sort Digit = 0..9
table sums(x: Image, y: Image, n: Int)
predicate digit(Image, Digit)
predicate small(Image)
axiom addition: forall (x, y, n) in sums. exists a, b: Digit where a + b = n. digit(x, a) and digit(y, b)
axiom small: forall x: Image. small(x) -> digit(x, 1)
""",
    """
[sorts.Image]
features = "pictures.npy"
[tables]
sums = { rows = "sums.csv", batch = 2 }
[predicates.digit]
network = { cnn = "lenet" }
output = "softmax"
[predicates.small]
network = { layers = [{ conv = [3, 4] }, "relu", { pool = 3 }, "flatten", { dropout = 0.5 }, { dense = 6 }, "sigmoid"] }
output = "sigmoid"
""",
)

PEOPLE = (
    """
sort Person = {ann, bob, eve}
sort Relation
sort Level = 0..3
constant ideal: Person
predicate smokes(Person)
predicate friends(Person, Person)
predicate linked(Person, Relation, Person)
predicate odd(Person, Relation)
predicate level(Level, Person)
predicate rain()
axiom smokers: forall x, y: Person. friends(x, y) and smokes(x) -> smokes(y)
axiom links: forall x, y: Person, r: Relation. linked(x, r, y) or odd(x, r)
axiom someone: exists x: Person. friends(x, ideal) and (rain() or smokes(ideal))
axiom levels: forall x: Person. exists l: Level. level(l, x)
""",
    """
[sorts.Person]
learnable = 4
[sorts.Relation]
individuals = ["likes", "knows"]
learnable = 4
[constants.ideal]
learnable = 4
[predicates.smokes]
network = { mlp = [5], activation = "relu" }
output = "sigmoid"
[predicates.friends]
network = { mlp = [], activation = "relu" }
output = "sigmoid"
[predicates.linked]
args = ["h", "r", "t"]
closed_form = { logit = "margin - norm(h + r - t) * 2 / max(1, abs(values)) + dot(h, t) - -min(r)" }
learn = { margin = 3.0, values = -1.5 }
[predicates.odd]
learnable = true
[predicates.level]
args = ["l", "x"]
closed_form = { log_truth = "-softplus(l - sum(x))" }
[predicates.rain]
learnable = true
""",
)

BOXES = (
    """
sort Box
sort Type
function f(Box): Real[3]
function age(Box): Real[1]
predicate type(Box, Type)
predicate part_of(Box, Box)
predicate good(Real[3])
predicate old(Box)
predicate known(Box, Type)
axiom typed: forall x: Box. exists t: Type. type(x, t) and known(x, t)
axiom parts: forall x, y: Box. part_of(x, y) -> not part_of(y, x)
axiom good: forall x: Box. good(f(x)) or old(x)
""",
    """
[sorts.Box]
features = "boxes.npz"
[sorts.Type]
individuals = ["cat", "tail", "leg"]
[networks.trunk]
mlp = [7]
activation = "elu"
inputs = ["x.roi", "x.position"]
[functions.f]
args = ["x"]
network = "trunk"
output = "linear"
[functions.age]
values = "age.csv"
[predicates.type]
args = ["x", "t"]
network = "trunk"
output = "softmax"
[predicates.part_of]
args = ["x", "y"]
network = { mlp = [6], activation = "elu", inputs = ["stop(type(x))", "type(y)", "x.position", "y",
    "containment(x.position, y.position)", "containment(y.position, x.position)", "age(x)", "f(y)"] }
output = "sigmoid"
[predicates.good]
network = { mlp = [4], activation = "elu" }
output = "sigmoid"
[predicates.old]
args = ["x"]
network = { mlp = [3], activation = "elu", inputs = ["age(x)", "x.roi"] }
output = "sigmoid"
[predicates.known]
truth = "known.csv"
""",
)
CASES = {"clustering": CLUSTERING, "pictures": PICTURES, "people": PEOPLE, "boxes": BOXES}


def logltn_(*arguments):
    done = subprocess.run([sys.executable, "-m", "logltn", *map(str, arguments)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def write(path, name):
    random = np.random.default_rng(0)
    theory, manifest = CASES[name]
    (path / "t.ltn").write_text(theory)
    (path / "m.toml").write_text('theory = "t.ltn"\n' + manifest + TRAIN)
    np.save(path / "points.npy", random.standard_normal((20, 3)).astype(np.float32))
    np.save(path / "pictures.npy", random.integers(0, 256, (6, 28, 28), np.uint8))
    (path / "sums.csv").write_text("x,y,n\n0,1,7\n2,3,12\n4,5,3\n")
    corners = np.sort(random.random((5, 2, 2)), axis=1).reshape(5, 4)
    np.savez(path / "boxes.npz", roi=random.standard_normal((5, 6)), position=corners)
    (path / "age.csv").write_text("age\n" + "".join(f"{x}\n" for x in random.random(5)))
    (path / "known.csv").write_text("cat,tail,leg\n" + "".join(f"{a},{b},{c}\n" for a, b, c in random.random((5, 3))))


@pytest.fixture(scope="module", params=CASES)
def run(request, tmp_path_factory):
    path = tmp_path_factory.mktemp(request.param)
    write(path, request.param)
    logltn_("train", path / "m.toml", "--out", path / "run")
    return path / "run"


def test_the_numbers_are_those_of_eval(run):
    theirs = json.loads(logltn_("eval", run / "manifest.toml", "--run", run, "--json"))
    kb = logltn.torch.load_run(run)
    loss = kb()
    assert abs(loss.item() - theirs["loss"]) < 1e-5 * max(1, abs(theirs["loss"]))
    assert len(theirs["axioms"]) == len(kb.truths)
    for axiom in theirs["axioms"]:
        ours = kb.truths[axiom["name"]]
        assert abs(ours - axiom["truth"]) < 1e-5 * max(1, abs(axiom["truth"])), axiom["name"]
    # Every parameter has a gradient, and a call may say other numbers.
    loss.backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in kb.parameters())
    assert kb(alpha=7.0).item() != loss.item()


def test_a_run_can_be_asked_and_copied(run):
    kb = logltn.torch.load_run(str(run))
    theirs = json.loads(logltn_("explain", run / "manifest.toml", "--run", run, "--top", 2, "--json"))
    ours = kb.explain(top=2)
    for a, b in zip(ours["axioms"], theirs["axioms"], strict=True):
        assert a["name"] == b["name"] and abs(a["truth"] - b["truth"]) < 1e-5 * max(1, abs(b["truth"]))
        assert [w["binding"] for w in a["worst"]] == [w["binding"] for w in b["worst"]]
    with torch.no_grad():
        for parameter in kb.parameters():
            parameter.add_(0.125)
    for other in (copy.deepcopy(kb), pickle.loads(pickle.dumps(kb))):
        assert other().item() == kb().item()
        assert other.state_dict().keys() == kb.state_dict().keys()


def test_pictures_in_notebooks(run):
    """Of picture sorts, whose shapes the run's data have."""
    shown = logltn.torch.load_run(run).explain(top=1)._repr_html_()
    # x and y of addition, x of small
    assert shown.count("data:image/png;base64,") == (3 if run.parent.name.startswith("pictures") else 0)


def test_mistakes(tmp_path):
    with pytest.raises(logltn.InputError, match="manifest.toml"):
        logltn.torch.load_run(tmp_path / "nowhere")
    write(tmp_path, "people")
    text = (tmp_path / "m.toml").read_text().replace('["l", "x"]', '["is", "x"]').replace("(l -", "(is -")
    (tmp_path / "m.toml").write_text(text)
    logltn_("train", tmp_path / "m.toml", "--out", tmp_path / "run")
    with pytest.raises(logltn.InputError, match="`level` has no PyTorch equivalent"):
        logltn.torch.load_run(tmp_path / "run")


def test_an_unfinished_run(tmp_path):
    """What was learnt until the last checkpoint, as `logltn eval --run` has it."""
    write(tmp_path, "clustering")
    text = (tmp_path / "m.toml").read_text().replace("steps = 5", "steps = 100_000_000\ncheckpoint_every = 20")
    (tmp_path / "m.toml").write_text(text)
    command = [sys.executable, "-m", "logltn", "train", tmp_path / "m.toml", "--out", tmp_path / "run"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 120
        while not (tmp_path / "run" / "previous.safetensors").exists():
            assert process.poll() is None and time.monotonic() < end
            time.sleep(0.05)
    finally:
        process.kill()
        process.wait()
    run = tmp_path / "run"
    theirs = json.loads(logltn_("eval", run / "manifest.toml", "--run", run, "--json"))
    kb = logltn.torch.load_run(run)
    assert abs(kb().item() - theirs["loss"]) < 1e-5 * max(1, abs(theirs["loss"]))
