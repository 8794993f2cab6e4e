"""MNISTAdd as `logltn reproduce mnist-add --configs logltn` trains it, written again in PyTorch.

    python3 bench/starts/twin.py --seeds 0:20                      # starts of PyTorch's own
    python3 bench/starts/twin.py --seeds 3:4 --from FOLDER         # the start and the batches of logltn's seed 3
    python3 bench/starts/twin.py --seeds 0:12 --from FOLDER --only-weights 3    # that start, other batches

One JSON line for each run; README.md says what it is for.
"""

import argparse
import gzip
import json
import math
import pathlib
import struct
import time

import torch
from torch import nn
from torch.nn import functional

MNIST = pathlib.Path(__file__).parents[2] / "data" / "mnist"
OPERANDS, BATCH, EPOCHS, TEST_SUMS = 4, 32, 20, 2500


def read(name):
    raw = gzip.decompress((MNIST / name).read_bytes())
    shape = struct.unpack(f">{raw[3]}I", raw[4 : 4 + 4 * raw[3]])
    return torch.frombuffer(bytearray(raw[4 + 4 * raw[3] :]), dtype=torch.uint8).reshape(shape)


def read_numbers(path, dtype):
    return torch.frombuffer(bytearray(path.read_bytes()), dtype=dtype)


def sums(part, count):
    """Images (count × 4 × 28 × 28), their digits, and what they add up to: operand k has images k·count and on."""
    images = read(f"{part}-images-idx3-ubyte.gz")[: OPERANDS * count].float() / 255
    digits = read(f"{part}-labels-idx1-ubyte.gz")[: OPERANDS * count].long()
    images = images.reshape(OPERANDS, count, 1, 28, 28).transpose(0, 1).contiguous()
    digits = digits.reshape(OPERANDS, count).T.contiguous()
    return images, digits, digits @ torch.tensor([10, 1, 10, 1])


def network():
    return nn.Sequential(
        nn.Conv2d(1, 6, 5), nn.ELU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5), nn.ELU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(256, 100), nn.ELU(), nn.Linear(100, 84), nn.ELU(), nn.Linear(84, 10),
    )  # fmt: skip


def start_as_keras(model):
    for layer in model:
        if isinstance(layer, (nn.Conv2d, nn.Linear)):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)


def log_truth(log_digits, wanted, alpha):
    """LogMeanExp(α), over all four digits that add up to the wanted sum, of the sum of their log truths."""
    # Numbers first: all pairs of digits of each side, as values 0..99. Then all pairs of numbers with the right sum.
    scaled = alpha * log_digits
    left = (scaled[:, 0, :, None] + scaled[:, 1, None, :]).flatten(1)
    right = (scaled[:, 2, :, None] + scaled[:, 3, None, :]).flatten(1)
    number = torch.arange(100)
    other = wanted[:, None] - number
    possible = (other >= 0) & (other < 100)
    both = left + right.gather(1, other.clamp(0, 99))
    both = both.masked_fill(~possible, -math.inf)
    return (torch.logsumexp(both, 1) - possible.sum(1).log()) / alpha


def accuracy(model, images, wanted):
    with torch.no_grad():
        digits = torch.cat([model(part.flatten(0, 1)).argmax(1) for part in images.split(500)])
    digits = digits.reshape(-1, OPERANDS)
    return digits, 100 * (digits @ torch.tensor([10, 1, 10, 1]) == wanted).double().mean().item()


def run(seed, options, train, test):
    torch.manual_seed(seed)
    model = network()
    samples = len(train[0])
    rows = None
    if options.start:
        own = seed if options.only_weights is None else options.only_weights
        weights = read_numbers(options.start / f"weights-{own}.f32", torch.float32)
        nn.utils.vector_to_parameters(weights, model.parameters())
    if options.start and options.only_weights is None:
        rows = read_numbers(options.start / f"rows-{seed}.u32", torch.int32).long().reshape(EPOCHS, samples)
    if not options.start:
        start_as_keras(model)
    with torch.no_grad():
        model[-1].weight.mul_(options.output_scale)
    adam = torch.optim.Adam(model.parameters(), lr=0.001, eps=options.epsilon)
    curve, began = [], time.time()
    for epoch in range(EPOCHS):
        alpha = 1 + 3 * epoch / (EPOCHS - 1)
        order = rows[epoch] if rows is not None else torch.randperm(samples)
        for batch in order.split(BATCH):
            images, _, wanted = (part[batch] for part in train)
            log_digits = functional.log_softmax(model(images.flatten(0, 1)), 1).reshape(-1, OPERANDS, 10)
            loss = -log_truth(log_digits, wanted, alpha).mean()
            adam.zero_grad()
            loss.backward()
            adam.step()
        if options.stop in (EPOCHS, epoch + 1):
            curve.append(round(accuracy(model, test[0], test[2])[1], 2))
        if epoch + 1 == options.stop:
            break
    found, final = accuracy(model, test[0], test[2])
    # Row: the digit that is shown; column: the digit that is read.
    confusion = torch.zeros(10, 10, dtype=torch.int64)
    confusion.index_put_((test[1].flatten(), found.flatten()), torch.tensor(1), accumulate=True)
    line = {"seed": seed, "accuracy": round(final, 2), "curve": curve, "seconds": round(time.time() - began, 1)}
    if options.confusion:
        line["confusion"] = confusion.tolist()
    print(json.dumps(line), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="0:20", help="first and one past the last")
    parser.add_argument("--samples", type=int, default=1500)
    parser.add_argument("--epsilon", type=float, default=1e-8, help="Adam's; Keras has 1e-7")
    parser.add_argument("--stop", type=int, default=EPOCHS, help="stop after so many epochs; α still rises over 20")
    parser.add_argument("--from", dest="start", type=pathlib.Path, help="folder with weights-SEED.f32 and rows-SEED.u32")
    parser.add_argument("--only-weights", type=int, metavar="SEED", help="the weights of one seed for all runs, no rows")
    parser.add_argument("--output-scale", type=float, default=1, help="times this, the last layer's initial weights")
    parser.add_argument("--confusion", action="store_true", help="also which digit is read as which")
    options = parser.parse_args()
    torch.set_num_threads(1)
    train, test = sums("train", options.samples), sums("t10k", TEST_SUMS)
    first, end = (int(n) for n in options.seeds.split(":"))
    for seed in range(first, end):
        run(seed, options, train, test)


if __name__ == "__main__":
    main()
