"""Milliseconds of a step (forward, backward, Adam) of three networks in PyTorch, as lines of `name median fastest`.

    python3 bench/torch_compare.py [repetitions] [threads]

The same networks, rows and loss as crates/logltn-nn/examples/bench.rs; bench/networks runs both in turns.
"""

import statistics
import sys
import time

import torch
from torch import nn


def mlp(*widths):
    layers = []
    for inputs, outputs in zip(widths, widths[1:]):
        layers += [nn.Linear(inputs, outputs), nn.ELU()]
    return nn.Sequential(*layers[:-1])


def lenet(pool_first):
    def after_convolution():
        return [nn.MaxPool2d(2), nn.ELU()] if pool_first else [nn.ELU(), nn.MaxPool2d(2)]

    return nn.Sequential(
        nn.Conv2d(1, 6, 5),
        *after_convolution(),
        nn.Conv2d(6, 16, 5),
        *after_convolution(),
        nn.Flatten(),
        mlp(256, 100, 84, 10),
    )


def measure(name, network, inputs, repetitions):
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    times = []
    for _ in range(repetitions + 3):
        start = time.perf_counter()
        loss = (network(inputs) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        times.append(time.perf_counter() - start)
    # The first steps ask for memory.
    times = times[3:]
    print(f"{name} {statistics.median(times) * 1e3:.4f} {min(times) * 1e3:.4f}", flush=True)


def main():
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    torch.set_num_threads(int(sys.argv[2]) if len(sys.argv) > 2 else 2)
    torch.manual_seed(1)
    images = torch.randn(128, 1, 28, 28)
    measure("lenet", lenet(pool_first=False), images, repetitions * 2)
    measure("lenet_pool_first", lenet(pool_first=True), images, repetitions * 2)
    measure("clustering", mlp(16, 16, 16, 16, 5), torch.randn(801, 16), repetitions * 5)
    measure("types", mlp(1028, 512, 256, 256, 128, 128, 60), torch.randn(1024, 1028), repetitions)


main()
