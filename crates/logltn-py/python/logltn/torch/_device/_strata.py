"""Strata on a device: definitions, and parts that several places of a theory share, are computed before the axioms, and what they say stands
behind the numbers of literals. Their derivatives are another pass, from the last step to the first."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from ._kernels import SMALL_SUM
from ._upload import upload

if TYPE_CHECKING:
    from ._general import Run

# Where sums of a scaled product are too small to be exact, how many numbers are looked at together.
TOGETHER = 1 << 22


# Where a formula is: its group of parameters, its circle of strata, and the layer of that which it asks.
At = tuple[int, int, int]


class Strata:
    """Those of a plan."""

    def __init__(self, engine: Any, begin: int) -> None:
        header = engine.plan.header
        self._engine, self._all, self._groups = engine, header["strata"], header["groups"]
        self._steps = engine.plan.arrays[header["steps"]].reshape(-1, 5).tolist()
        self._axioms = [axiom["group"] for axiom in header["axioms"]]
        # Arrays of the plan that have been brought to the device.
        self._uploaded: dict[int, Tensor] = {}
        self.begin = begin
        # Once the engine knows whether there are any.
        self.kernels: Any = None
        # By stratum and sign.
        self._starts: list[tuple[int, int]] = []
        for stratum in self._all:
            size = len(self._groups) * stratum["layers"] * stratum["tuples"]
            self._starts.append((begin, begin + size))
            begin += 2 * size
        self.end = begin

    def __bool__(self) -> bool:
        return bool(self._all)

    @property
    def waits_for_nothing(self) -> bool:
        """Whether the host need not know any number: without kernels, which sums of a product are small is asked."""
        greatest = self._engine.plan.header["semantics"]["exists"].get("semiring") == "greatest"
        products = any("product" in stratum and "linear" not in stratum["product"] for stratum in self._all)
        return self.kernels is not None or greatest or not products

    def outside(self, axiom: int) -> At:
        """Where an axiom stands: in no circle."""
        return self._axioms[axiom], -1, 0

    def offset(self, at: At, node: dict[str, Any]) -> int:
        """Where the tuples begin that a formula asks a stratum about."""
        number = node["stratum"]
        stratum = self._all[number]
        group, circle, layer = at
        # Beyond the last layer nobody asks in earnest.
        layer = min(layer, stratum["layers"] - 1) if circle == stratum["circle"] else 0
        return self._starts[number][node["negated"]] + (group * stratum["layers"] + layer) * stratum["tuples"]

    def _pieces(self, run: Run, parameters: Any, back: bool) -> Iterator[tuple[int, bool, int, int, bool, int]]:
        """Every piece of work in its order: stratum, sign, its first and last tuple, whether it is false for a start, and where it stands."""
        for number, layer, start, end, constant in reversed(self._steps) if back else self._steps:
            stratum = self._all[number]
            for sign, program in enumerate(stratum["programs"]):
                if program is None and not constant and (sign == 1 or "product" not in stratum):
                    continue
                for group, own in enumerate(self._groups):
                    run.at = group, stratum["circle"], layer + stratum["counts"]
                    run.settings[len(self._axioms) + 2 * number + sign] = self._engine._settings(own, parameters)
                    first = self._starts[number][sign] + (group * stratum["layers"] + layer) * stratum["tuples"] + start
                    yield number, sign == 1, start, end, constant == 1, first

    def forward(self, run: Run, parameters: Any) -> None:
        """What all strata say of their tuples, into the run's table."""
        tables = run.tables
        for number, negated, start, end, constant, first in self._pieces(run, parameters, back=False):
            if constant:
                # The end of a depth: false, and its negation true.
                false = -1e5 if run.space == "log" else 0.0
                value = tables.values.new_full((end - start,), (0.0 if run.space == "log" else 1.0) if negated else false)
                run.put(first, value)
            elif "product" in self._all[number]:
                with torch.set_grad_enabled(run.whole), _exactly():
                    plain = run.whole or run.semiring == "greatest" or "linear" in self._all[number]["product"]
                    kernels = None if plain else self.kernels
                    found = self._product(run, number) if kernels is None else _Scaled(self, run, number).forward(kernels)
                    run.put(first, found.reshape(-1))
            else:
                for place, x in self._values(run, number, negated, start, end, run.whole):
                    run.put(first + place, x)

    def backward(self, run: Run, parameters: Any) -> None:
        """Hands the derivatives by what strata say on to the literals under them."""
        by = run.tables.by
        assert by is not None
        for number, negated, start, end, constant, first in self._pieces(run, parameters, back=True):
            if constant:
                continue
            if "product" in self._all[number]:
                self._product_backward(run, number, by[first : first + end - start])
                continue
            for place, x in self._values(run, number, negated, start, end, True):
                if x.requires_grad:
                    x.backward(by[first + place : first + place + len(x)].clone())

    def _values(self, run: Run, number: int, negated: bool, start: int, end: int, grad: bool) -> Iterator[tuple[int, Tensor]]:
        """Some tuples at a time: where they begin, and what a stratum says of them."""
        program, blocks = len(self._axioms) + 2 * number + negated, run.blocks
        root = blocks.programs[program]["nodes"][blocks.programs[program]["root"]]
        level, chunk = root["inner"], blocks.chunk(program, root["inner"])
        for at in range(start, end, chunk):
            with torch.set_grad_enabled(grad):
                inner = blocks.fill(program, level, blocks.roots[program], at, min(at + chunk, end))
                values = run.forward(program, root["body"], inner)
            yield at - start, values

    # --- products -----------------------------------------------------------------------------

    def _sides(self, run: Run, number: int) -> list[_Side]:
        of = self._all[number]["product"]
        sides = []
        for side, rows in (("left", of["rows"]), ("right", of["columns"])):
            count = self._all[of[side]]["tuples"]
            begin = self._starts[of[side]][0] + run.at[0] * count
            tuples = self._array(of[f"{side}_tuples"], run) if count < rows * of["inner"] else None
            sides.append(_Side(begin, count, rows, of["inner"], tuples))
        return sides

    def _array(self, number: int, run: Run) -> Tensor:
        """An array of the plan on the device."""
        if number not in self._uploaded:
            self._uploaded[number] = upload(self._engine.plan.arrays[number], run.tables.values.device)
        return self._uploaded[number]

    def _less(self, run: Run, number: int) -> Tensor | float:
        """What is taken off for the number of terms, times α."""
        of = self._all[number]["product"]
        if run.semiring != "mean":
            return 0.0
        if "log_terms" not in of:
            return math.log(of["inner"])
        return self._array(of["log_terms"], run).to(run.tables.values.dtype).view(of["rows"], of["columns"])

    def _product(self, run: Run, number: int, sides: list[Tensor] | None = None) -> Tensor:
        """log Σₖ exp α(aᵢₖ + bⱼₖ) over α, as a product of matrices of exponentials that are at most 1."""
        values = run.tables.values
        if "linear" in self._all[number]["product"]:
            side, kept, slopes = self._linear(run, number)
            return side.read(values) @ kept.t() * slopes
        a, b = sides or [side.read(values) for side in self._sides(run, number)]
        if run.semiring == "greatest":
            return _greatest_sums(a, b)
        settings: Any = run.settings[len(self._axioms) + 2 * number]
        alpha = settings.alpha
        top_a, top_b = a.detach().amax(1, keepdim=True), b.detach().amax(1, keepdim=True)
        total = ((a - top_a) * alpha).exp() @ ((b - top_b) * alpha).exp().t()
        small = total.detach() < SMALL_SUM[values.dtype]
        found = torch.where(small, 1.0, total).log() / alpha + top_a + top_b.t()
        # The two rows have their greatest numbers in different places: these are computed by themselves.
        i, j = small.nonzero(as_tuple=True)
        each = max(1, TOGETHER // a.shape[1])
        for at in range(0, len(i), each):
            own = i[at : at + each], j[at : at + each]
            x = ((a.index_select(0, own[0]) + b.index_select(0, own[1])) * alpha).logsumexp(1) / alpha
            found = found.index_put(own, x)
        return found - self._less(run, number) / alpha

    def _linear(self, run: Run, number: int) -> tuple[_Side, Tensor, Any]:
        """Of a linear product: the left side, which of its tuples take part in which column, and the derivative by each there."""
        left, right = self._sides(run, number)
        kept = run.tables.values.new_ones(right.length)
        if right.tuples is not None:
            kept = kept.new_zeros(right.rows * right.inner).index_copy(0, right.tuples, kept)
        kept = kept.reshape(right.rows, right.inner)
        settings: Any = run.settings[len(self._axioms) + 2 * number]
        return left, kept, run.operators.forall.slope(settings, kept.sum(1).clamp(min=1))

    def _product_backward(self, run: Run, number: int, by: Tensor) -> None:
        sides = self._sides(run, number)
        values, into = run.tables.values, run.tables.by
        assert into is not None
        if "linear" in self._all[number]["product"]:
            side, kept, slopes = self._linear(run, number)
            with _exactly():
                return side.add(into, (by.reshape(side.rows, -1) * slopes) @ kept)
        if self.kernels is not None and run.semiring != "greatest":
            with torch.no_grad(), _exactly():
                _Scaled(self, run, number).backward(self.kernels, by.reshape(sides[0].rows, sides[1].rows), into)
            return
        with torch.enable_grad(), _exactly():
            leaves = [side.read(values).detach().requires_grad_() for side in sides]
            found = torch.autograd.grad(self._product(run, number, leaves), leaves, by.reshape(sides[0].rows, sides[1].rows))
        for side, own in zip(sides, found):
            side.add(into, own)


# What a tuple that is left out has: it adds nothing, and is not the greatest.
LEFT_OUT = -1e30


class _Side(NamedTuple):
    """One of the two matrices: where its values begin, how many they are, its shape, and where they are in it if they are not all."""

    begin: int
    length: int
    rows: int
    inner: int
    tuples: Tensor | None

    def read(self, values: Tensor) -> Tensor:
        own = values[self.begin : self.begin + self.length]
        if self.tuples is not None:
            own = own.new_full((self.rows * self.inner,), LEFT_OUT).index_copy(0, self.tuples, own)
        return own.reshape(self.rows, self.inner)

    def add(self, into: Tensor, own: Tensor) -> None:
        own = own.reshape(-1)
        into[self.begin : self.begin + self.length] += own if self.tuples is None else own[self.tuples]


def _greatest_sums(a: Tensor, b: Tensor) -> Tensor:
    """max over k of aᵢₖ + bⱼₖ, which has the derivatives of one of the greatest."""
    each = max(1, TOGETHER // b.numel())
    with torch.no_grad():
        k = torch.cat([(a[at : at + each, None] + b).argmax(2) for at in range(0, len(a), each)])
    return a.gather(1, k) + b.gather(1, k.t()).t()


class _Scaled:
    """A product where kernels compute the sums that are too small: nothing waits for the device, so that a CUDA graph can hold it."""

    def __init__(self, strata: Strata, run: Run, number: int) -> None:
        self._sides = strata._sides(run, number)
        settings: Any = run.settings[len(strata._axioms) + 2 * number]
        self._alpha = settings.alpha
        self._a, self._b = (side.read(run.tables.values) for side in self._sides)
        self._less = strata._less(run, number) / self._alpha
        self._tops = [x.amax(1, keepdim=True) for x in (self._a, self._b)]
        self._scaled = [((x - top) * self._alpha).exp() for x, top in zip((self._a, self._b), self._tops)]
        self._total = self._scaled[0] @ self._scaled[1].t()

    def _found(self, kernels: Any) -> Tensor:
        """Without what is taken off for the number of terms."""
        total = self._total
        found = torch.where(total < SMALL_SUM[total.dtype], 1.0, total).log() / self._alpha + self._tops[0] + self._tops[1].t()
        kernels.small_sums(self._a, self._b, total, found, self._alpha)
        return found

    def forward(self, kernels: Any) -> Tensor:
        return self._found(kernels) - self._less

    def backward(self, kernels: Any, by: Tensor, into: Tensor) -> None:
        """Adds the derivatives by both sides to their places."""
        total = self._total
        weights = torch.where(total < SMALL_SUM[total.dtype], 0.0, by / total)
        (a, b), sides = self._scaled, self._sides
        own = [(weights @ b) * a, (weights.t() @ a) * b]
        kernels.small_sums_backward(self._a, self._b, total, self._found(kernels), by, own, self._alpha)
        for side, more in zip(sides, own):
            side.add(into, more)


@contextmanager
def _exactly() -> Iterator[None]:
    """Products of matrices in all of their precision, whatever PyTorch was told about them."""
    told = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(told)
