"""Trains a theory twice from the same weights, once with LTNtorch's objects and once with logltn, and compares the two."""

import copy
import os
import time
from collections.abc import Callable
from statistics import median

import ltn
import torch
from torch import nn

# Each program has one thread: networks as small as these gain nothing from more, and lose much where others compute, too.
torch.set_num_threads(1)

# LTNtorch's stable product operators, which are what logltn calls `stable`.
_ops = ltn.fuzzy_ops
Not, And, Or = ltn.Connective(_ops.NotStandard()), ltn.Connective(_ops.AndProd()), ltn.Connective(_ops.OrProbSum())
Implies = ltn.Connective(_ops.ImpliesReichenbach())
Equiv = ltn.Connective(_ops.Equiv(_ops.AndProd(), _ops.ImpliesReichenbach()))
Forall = ltn.Quantifier(_ops.AggregPMeanError(p=2), quantifier="f")
Exists = ltn.Quantifier(_ops.AggregPMean(p=2), quantifier="e")
SatAgg = _ops.SatAgg(_ops.AggregPMeanError(p=2))


def mlp(*widths: int) -> nn.Sequential:
    """Dense layers with ELU between them; what comes out are logits."""
    layers: list[nn.Module] = []
    for inputs, outputs in zip(widths, widths[1:]):
        layers += [nn.Linear(inputs, outputs), nn.ELU()]
    return nn.Sequential(*layers[:-1])


class OfClass(nn.Module):
    """What LTNtorch's examples make of logits: a predicate of an individual and the number of a class."""

    def __init__(self, net: nn.Module, squash: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.net, self.squash = net, squash

    def forward(self, x: torch.Tensor, number: torch.Tensor) -> torch.Tensor:
        return self.squash(self.net(x)).gather(1, number.long().view(-1, 1)).squeeze(1)


# From modules with weights to a function that computes a loss of them.
Program = Callable[[nn.ModuleDict], Callable[[], torch.Tensor]]
Figures = Callable[[nn.ModuleDict], dict[str, float]]


def side_by_side(
    modules: nn.ModuleDict, theirs: Program, ours: Program, figures: Figures, steps: int, rate: float = 0.001
) -> dict[str, float]:
    """Prints both, and gives our figures. Another loss than theirs at the first step is an error."""
    steps = int(os.environ.get("LOGLTN_STEPS", steps))
    made = {}
    for name, program in (("LTNtorch", theirs), ("logltn", ours)):
        own = copy.deepcopy(modules)
        made[name] = (own, program(own), torch.optim.Adam(own.parameters(), rate), [])
    first = {}
    for step in range(steps):
        # In turns, so that a busy machine is as busy for the one as for the other.
        for name, (own, loss, optimizer, seconds) in made.items():
            start = time.perf_counter()
            value = loss()
            optimizer.zero_grad()
            value.backward()
            if step == 0:
                first[name] = value.item(), [p.grad.clone() for p in own.parameters()]
            optimizer.step()
            seconds.append(time.perf_counter() - start)
    (a, of_a), (b, of_b) = first["LTNtorch"], first["logltn"]
    apart = max((x - y).abs().max().item() for x, y in zip(of_a, of_b))
    largest = max(x.abs().max().item() for x in of_a)
    print(f"the first loss: LTNtorch {a:.7f}, logltn {b:.7f}; derivatives differ by {apart / largest:.1e} of the largest")
    assert abs(a - b) < 1e-5 and apart < 1e-3 * largest, "not the same theory"

    found = {name: figures(own) for name, (own, *_) in made.items()}
    print(f"after {steps} steps{'':16}{'LTNtorch':>12}{'logltn':>12}")
    for figure in found["logltn"]:
        print(f"  {figure:30}{found['LTNtorch'][figure]:12.3f}{found['logltn'][figure]:12.3f}")
    times = {name: median(seconds) for name, (*_, seconds) in made.items()}
    print(f"  {'a step, ms (median)':30}{1e3 * times['LTNtorch']:12.3f}{1e3 * times['logltn']:12.3f}")
    print(f"logltn's step is {times['LTNtorch'] / times['logltn']:.1f} times as fast")
    return found["logltn"]
