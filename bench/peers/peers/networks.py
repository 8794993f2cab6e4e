"""The paper's networks in PyTorch, with logltn's weights."""

import torch
from safetensors.torch import load_file
from torch import nn


def mlp(*widths):
    layers = []
    for inputs, outputs in zip(widths, widths[1:]):
        layers += [nn.Linear(inputs, outputs), nn.ELU()]
    return nn.Sequential(*layers[:-1])


class PoolFirst(nn.Module):
    """ELU after pooling: the same function, as ELU is increasing, at a quarter of the exponentials."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.MaxPool2d(2), nn.ELU())

    def forward(self, x):
        return self.layers(x)


def lenet(pool_first):
    def after_convolution():
        # Two places either way, so that the layers' numbers, and so the weights' names, stay the same.
        return [PoolFirst(), nn.Identity()] if pool_first else [nn.ELU(), nn.MaxPool2d(2)]

    return nn.Sequential(
        nn.Conv2d(1, 6, 5), *after_convolution(),
        nn.Conv2d(6, 16, 5), *after_convolution(),
        nn.Flatten(),
        nn.Linear(256, 100), nn.ELU(), nn.Linear(100, 84), nn.ELU(), nn.Linear(84, 10),
    )  # fmt: skip


def with_weights(network, folder, predicate):
    """Gives a network the weights that logltn has drawn."""
    stored = load_file(folder / "weights.safetensors")
    mine = {k.removeprefix(predicate + "."): v for k, v in stored.items() if k.startswith(predicate + ".")}
    network.load_state_dict(mine, strict=True)
    return network


def images():
    """All training images of MNIST as [n, 1, 28, 28] between 0 and 1."""
    import cases

    return torch.from_numpy(cases.mnist()[0].copy()).float().div_(255).unsqueeze(1)
