"""`ltn` 2.1 on TensorFlow, written as its examples write it: `Predicate.FromLogits`, masks as formulas, the training
step in a `tf.function`, Keras's Adam. Stable product operators are its defaults."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf

tf.config.threading.set_intra_op_parallelism_threads(int(os.environ.get("THREADS", 2)))
tf.config.threading.set_inter_op_parallelism_threads(int(os.environ.get("THREADS", 2)))

import ltn
from safetensors.numpy import load_file

from batches import Batches


def operators(case):
    ops = ltn.fuzzy_ops
    return (
        ltn.Wrapper_Connective(ops.And_Prod()),
        ltn.Wrapper_Connective(ops.Implies_Reichenbach()),
        ltn.Wrapper_Quantifier(ops.Aggreg_pMeanError(p=case["p_forall"]), semantics="forall"),
        ltn.Wrapper_Quantifier(ops.Aggreg_pMean(p=case["p"]), semantics="exists"),
        ltn.Wrapper_Formula_Aggregator(ops.Aggreg_pMeanError(p=case["p_forall"])),
    )


class FromList(tf.keras.Model):
    """A network that takes a list of one input, as `FromLogits` asks for."""

    def __init__(self, layers):
        super().__init__()
        self.sequence = layers

    def call(self, inputs):
        x = inputs[0] if isinstance(inputs, (list, tuple)) else inputs
        for layer in self.sequence:
            x = layer(x)
        return x


def give_weights(folder, predicate, numbered):
    """Copies logltn's weights: dense layers are transposed, convolutions have their channels last."""
    stored = load_file(folder / "weights.safetensors")
    for number, layer in numbered:
        weight, bias = (stored[f"{predicate}.{number}.{kind}"] for kind in ("weight", "bias"))
        layer.set_weights([weight.transpose(2, 3, 1, 0) if weight.ndim == 4 else weight.T, bias])


class Training:
    def __init__(self, sat, model, learning_rate, inputs=lambda: ()):
        optimizer = tf.keras.optimizers.Adam(learning_rate, epsilon=1e-8)
        self.inputs = inputs

        @tf.function
        def step(*values):
            with tf.GradientTape() as tape:
                loss = 1.0 - sat(*values)
            variables = model.trainable_variables
            optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
            return loss

        self.function = step

    def step(self):
        return self.function(*self.inputs()).numpy()


def clustering(folder, case):
    _, Implies, Forall, Exists, aggregate = operators(case)
    points = np.load(folder / "points.npy")
    layers = [tf.keras.layers.Dense(16, activation="elu") for _ in range(3)]
    layers.append(tf.keras.layers.Dense(case["clusters"]))
    model = FromList(layers)
    model([points[:1]])
    give_weights(folder, "C", zip((0, 2, 4, 6), layers))
    C = ltn.Predicate.FromLogits(model, activation_function="softmax")
    near = case["near"]
    is_near = ltn.Predicate.Lambda(lambda xs: tf.sqrt(tf.reduce_sum(tf.square(xs[0] - xs[1]), axis=1)) < near)
    c = ltn.Variable("c", range(case["clusters"]))
    x, y = ltn.Variable("x", points), ltn.Variable("y", points)

    def sat():
        axioms = [
            Forall(x, Exists(c, C([x, c]))),
            Forall(c, Exists(x, C([x, c]))),
            Forall([c, x, y], Implies(C([x, c]), C([y, c])), mask=is_near([x, y])),
        ]
        return aggregate(axioms).tensor

    return Training(sat, model, case["learning_rate"])


def mnist_add(folder, case):
    import cases

    And, _, Forall, Exists, aggregate = operators(case)
    rows, sums = np.load(folder / "rows.npy"), np.load(folder / "sums.npy").astype(np.float32)
    pictures = (cases.mnist()[0].astype(np.float32) / 255)[..., None]
    L = tf.keras.layers
    convolutions = [L.Conv2D(6, 5, activation="elu"), L.Conv2D(16, 5, activation="elu")]
    dense = [L.Dense(100, activation="elu"), L.Dense(84, activation="elu"), L.Dense(10)]
    # logltn flattens channel by channel, TensorFlow keeps channels last.
    layers = [convolutions[0], L.MaxPooling2D(2), convolutions[1], L.MaxPooling2D(2), L.Permute((3, 1, 2)), L.Flatten()]
    model = FromList(layers + dense)
    model([pictures[:1]])
    give_weights(folder, "digit", zip((0, 3, 7, 9, 11), convolutions + dense))
    Digit = ltn.Predicate.FromLogits(model, activation_function="softmax")
    adds_up = ltn.Predicate.Lambda(
        lambda v: tf.equal(10.0 * v[0] + v[1] + 10.0 * v[2] + v[3], v[4])
    )
    d1, d2, d3, d4 = (ltn.Variable(f"d{i}", range(10)) for i in range(1, 5))
    batches = Batches(len(rows), case["batch"])

    def inputs():
        batch = batches.next()
        return [tf.constant(pictures[rows[batch, i]]) for i in range(4)] + [tf.constant(sums[batch])]

    def sat(of_x1, of_x2, of_y1, of_y2, of_n):
        x1, x2 = ltn.Variable("x1", of_x1), ltn.Variable("x2", of_x2)
        y1, y2 = ltn.Variable("y1", of_y1), ltn.Variable("y2", of_y2)
        n = ltn.Variable("n", of_n)
        axiom = Forall(
            ltn.diag(x1, x2, y1, y2, n),
            Exists(
                [d1, d2, d3, d4],
                And(And(And(Digit([x1, d1]), Digit([x2, d2])), Digit([y1, d3])), Digit([y2, d4])),
                mask=adds_up([d1, d2, d3, d4, n]),
            ),
        )
        return aggregate([axiom]).tensor

    return Training(sat, model, case["learning_rate"], inputs)


def build(folder, case, variant):
    # Without `tf.function` every operation is dispatched from Python, as in a first version of a user's program.
    tf.config.run_functions_eagerly(variant == "eager")
    return {"clustering": clustering, "mnist_add": mnist_add}[case["task"]](folder, case)
