"""A run of ``logltn train`` as a knowledge base: its networks as modules, with its weights."""

from __future__ import annotations

import ast
import os
import unicodedata
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn

from .. import _native
from .._html import is_picture
from .._knowledge_base import KnowledgeBase as _KnowledgeBase
from ._knowledge_base import KnowledgeBase
from ._networks import Fields, Parts, gather

_ACTIVATIONS = {"elu": nn.ELU, "relu": nn.ReLU, "tanh": nn.Tanh, "sigmoid": nn.Sigmoid, "flatten": nn.Flatten}


def load_run(
    folder: str | os.PathLike[str], *, dtype: Any = "float32", threads: int | None = None, memory: int | None = None
) -> KnowledgeBase:
    """The knowledge base of a run of ``logltn train``, with its networks as modules and its weights: the final ones, or those of
    the last checkpoint.

    ``kb()`` is the loss of ``logltn eval --run``, ``kb.truths`` are its truths, ``kb.query`` and ``kb.explain`` ask the run.
    α, p and p_forall are those at the end of its schedule, unless a call says otherwise. The modules are in
    evaluation mode: ``kb.train()`` switches dropout on. The run's data must still be there.
    """
    folder = os.path.abspath(os.fspath(folder))
    knowledge, described, stored = _KnowledgeBase._of_run(folder, dtype, threads, memory)
    tensors = {
        name: torch.frombuffer(bytearray(numbers), dtype=torch.float32).reshape(shape) if numbers else torch.empty(shape)
        for name, shape, numbers in stored
    }
    kb = KnowledgeBase.__new__(KnowledgeBase)
    kb._begin()
    kb._take(knowledge)
    build = _Builder(kb, described, tensors)
    for name, sort in described["sorts"].items():
        kb.individuals.put(name, build.individuals(name, sort))
    for name, part in described["functions"].items():
        if part["kind"] == "data":
            kb.tables.put(name, tensors[f"values.{name}"])
            build.symbols[name] = _Given(tensors[f"values.{name}"], part["sizes"])
        else:
            build.put(kb.functions, name, part)
    for name, part in described["predicates"].items():
        build.put(kb.predicates, name, part)
    return kb.eval()


class _Builder:
    def __init__(self, kb: KnowledgeBase, described: Any, tensors: dict[str, torch.Tensor]) -> None:
        self.kb = kb
        self.networks = described["networks"]
        self.tensors = tensors
        self.trunks: dict[str, nn.Module] = {}
        self.symbols: dict[str, Any] = {}  # what networks may read, also of those that come later

    def put(self, parts: Any, name: str, part: dict[str, Any]) -> None:
        module: nn.Module
        if part["kind"] == "network":
            layers, trunk = part["layers"] + [["dense"]], part["trunk"]
            if f"{name}.{len(layers) - 1}.weight" not in self.tensors:
                return  # nobody asks about it, so it was not trained
            if part["units"] is not None:
                layers = layers + [["affine", *part["units"]]]
            hidden = None
            if trunk is not None:
                if trunk not in self.trunks:
                    self.trunks[trunk] = self.layers(f"networks.{trunk}", self.networks[trunk])
                hidden = self.trunks[trunk]
            first = self.networks[trunk] if trunk is not None else layers
            module = _Network(hidden, self.layers(name, layers), part["inputs"], _image(first, part["image"]), self.symbols)
        elif part["kind"] == "learnable":
            module = _Table(nn.Parameter(self.tensors[name]), part["arguments"])
        elif part["kind"] == "numbers":
            module = _Table(self.tensors[f"numbers.{name}"], part["arguments"])
        else:
            module = _ClosedForm(name, part["text"], part["args"], {x: self.tensors[f"{name}.{x}"] for x in part["learnt"]})
        self.symbols[name] = module
        parts.put(name, module)

    def layers(self, name: str, layers: list[list[Any]]) -> nn.Sequential:
        """Their tensors have the names of a ``Sequential``."""
        made: list[nn.Module] = []
        state = {}
        for i, (kind, *arguments) in enumerate(layers):
            if kind in ("dense", "conv"):
                weight, bias = (self.tensors[f"{name}.{i}.{part}"] for part in ("weight", "bias"))
                state[f"{i}.weight"], state[f"{i}.bias"] = weight, bias
                made.append(nn.Linear(weight.shape[1], len(weight)) if kind == "dense" else nn.Conv2d(weight.shape[1], len(weight), weight.shape[2]))
            elif kind == "pool":
                made.append(nn.MaxPool2d(arguments[0]))
            elif kind == "dropout":
                made.append(nn.Dropout(arguments[0]))
            elif kind == "affine":
                made.append(_Affine(*arguments))
            else:
                made.append(_ACTIVATIONS[kind]())
        sequential = nn.Sequential(*made)
        sequential.load_state_dict(state)
        return sequential

    def individuals(self, name: str, sort: dict[str, Any]) -> _Individuals:
        features = self.tensors.get(f"features.{name}")
        learnt = self.tensors.get(f"embedding.{name}")
        if learnt is not None:
            features = nn.Parameter(learnt)
        constants = self.tensors.get(f"constants.{name}")
        return _Individuals(sort, features, None if constants is None else nn.Parameter(constants))


class _Affine(nn.Module):
    """From numbers around 0 to those of a target in its own units."""

    def __init__(self, scale: float, shift: float) -> None:
        super().__init__()
        self.scale, self.shift = scale, shift

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.scale + self.shift


def _image(layers: list[list[Any]], shape: list[int] | None) -> list[int] | None:
    kinds = [kind for kind, *_ in layers if kind in ("dense", "conv", "pool", "flatten")]
    return shape if kinds and kinds[0] in ("conv", "pool") else None


class _Individuals(Fields):
    """What networks read of a sort: vectors, places of their fields, and numbers of individuals."""

    def __init__(self, sort: dict[str, Any], features: torch.Tensor | None, constants: torch.Tensor | None) -> None:
        super().__init__({})
        self.size, self.low, self.fields = sort["size"], sort["low"], sort["fields"]
        for name, part in (("features", features), ("constants", constants)):
            if part is not None:
                self.parts.put(name, part)

    def pictures(self) -> dict[str, np.ndarray]:
        """Of individuals that can be looked at, by number."""
        for _, start, end, shape in self.fields:
            if is_picture(tuple(shape)) and "features" in self.parts:
                seen = self.parts.part("features").detach()[:, start:end].reshape(-1, *shape).cpu().numpy()
                return {str(i): picture for i, picture in enumerate(seen)}
        return {}

    def __getitem__(self, index: torch.Tensor) -> dict[str, torch.Tensor]:
        rows = {"index": index}
        if self.low is not None:
            rows["integer"] = (index + self.low).float().unsqueeze(1)
        vectors = None
        if "features" in self.parts:
            vectors = self.parts.part("features")
        if "constants" in self.parts:
            constants = self.parts.part("constants")
            if vectors is None:  # nobody reads a vector of the others
                vectors = constants.new_zeros(self.size, constants.shape[1])
            vectors = torch.cat([vectors, constants])
        if vectors is not None:
            rows["vector"] = gather(vectors, index)
            for name, start, end, _ in self.fields:
                if name is not None:
                    rows[f".{name}"] = rows["vector"][:, start:end]
        return rows


def _vector(argument: Any) -> torch.Tensor | None:
    """The numbers of an argument, if it has any."""
    if isinstance(argument, dict):
        return argument.get("vector")
    return argument.unsqueeze(1) if argument.dim() == 1 else argument


class _Given:
    """A function that is given by data, among the inputs of a network."""

    def __init__(self, values: torch.Tensor, sizes: list[int]) -> None:
        self.values, self.sizes = values, sizes

    def __call__(self, *arguments: Any) -> torch.Tensor:
        row = torch.zeros_like(arguments[0]["index"])
        for argument, size in zip(arguments, self.sizes):
            row = row * size + argument["index"]
        like = next((v for a in arguments if (v := a.get("vector")) is not None), self.values)
        return gather(self.values, row).to(like.device)


class _Network(nn.Module):
    """A network with what it reads."""

    def __init__(self, hidden: nn.Module | None, layers: nn.Module, inputs: Any, image: list[int] | None, symbols: dict[str, Any]) -> None:
        super().__init__()
        self.hidden, self.layers = hidden, layers
        self.inputs, self.image = inputs, image
        self.symbols = symbols  # a dict is no submodule: these have places of their own

    def forward(self, *arguments: Any) -> torch.Tensor:
        if self.inputs is None:
            parts = [v for v in map(_vector, arguments) if v is not None]
        else:
            parts = [self._input(expression, arguments) for expression in self.inputs]
        x = torch.cat(parts, 1) if len(parts) > 1 else parts[0]
        if self.image is not None:
            x = x.reshape(-1, *self.image)
        return self.layers(x if self.hidden is None else self.hidden(x))

    def _input(self, expression: list[Any], arguments: tuple[Any, ...]) -> torch.Tensor:
        kind, *rest = expression
        if kind == "features":
            vector = _vector(arguments[rest[0]])
            assert vector is not None
            return vector
        if kind == "field":
            return arguments[rest[0]][f".{rest[1]}"]
        if kind == "call":
            return self.symbols[rest[0]](*(arguments[i] for i in rest[1]))
        if kind == "stop":
            return self._input(rest[0], arguments).detach()
        return _containment(*(self._input(box, arguments) for box in rest)).unsqueeze(1)


def _containment(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The share of box ``a`` that lies in box ``b``: xmin, ymin, xmax, ymax."""
    area = (a[:, 2:] - a[:, :2]).clamp(min=0).prod(1)
    common = (torch.minimum(a[:, 2:], b[:, 2:]) - torch.maximum(a[:, :2], b[:, :2])).clamp(min=0).prod(1)
    return torch.where(area > 0, common / torch.where(area > 0, area, 1), 0)


class _Table(nn.Module):
    """Numbers by individuals."""

    def __init__(self, numbers: torch.Tensor, arguments: int) -> None:
        super().__init__()
        self.arguments = arguments
        if isinstance(numbers, nn.Parameter):
            self.numbers = numbers
        else:
            self.register_buffer("numbers", numbers, persistent=False)

    def forward(self, *arguments: Any) -> torch.Tensor:
        numbers = self.numbers
        if not self.arguments:
            return numbers.reshape(1, -1) if numbers.numel() > 1 else numbers.reshape(1)
        index = tuple(argument["index"].to(numbers.device) for argument in arguments)
        if any(len(i) and int(i.max()) >= size for i, size in zip(index, numbers.shape)):
            _native.raise_problems([("not-grounded", "a predicate given by numbers has no value for a learnable constant", None)])
        return numbers[index]


def _sqrt(x: torch.Tensor) -> torch.Tensor:
    # Without a slope at 0, as everywhere here.
    return torch.where(x > 0, torch.where(x > 0, x, 1).sqrt(), torch.where(x == 0, torch.zeros_like(x), float("nan")))


def _each(fold: Callable[..., torch.Tensor], both: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    def of(first: torch.Tensor, *others: torch.Tensor) -> torch.Tensor:
        if not others:
            return fold(first, dim=1, keepdim=True)
        for other in others:
            first = both(first, other)
        return first

    return of


def _norm(x: torch.Tensor) -> torch.Tensor:
    return _sqrt((x * x).sum(1, keepdim=True))


_FUNCTIONS: dict[str, Callable[..., torch.Tensor]] = {
    "dot": lambda u, v: (u * v).sum(1, keepdim=True),
    "dist": lambda u, v: _norm(u - v),
    "norm": _norm,
    "sum": lambda x: x.sum(1, keepdim=True),
    "mean": lambda x: x.mean(1, keepdim=True),
    "min": _each(torch.amin, torch.minimum),
    "max": _each(torch.amax, torch.maximum),
    "abs": torch.abs,
    "sqrt": _sqrt,
    "exp": torch.exp,
    "log": torch.log,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "softplus": nn.functional.softplus,
    "re": lambda x: x[:, : x.shape[1] // 2],
    "im": lambda x: x[:, x.shape[1] // 2 :],
}
_OPERATORS: dict[type, Callable[..., Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
}


class _ClosedForm(nn.Module):
    """Arithmetic over arguments. The text has been checked, and reads the same in Python."""

    def __init__(self, name: str, text: str, arguments: list[str], learnt: dict[str, torch.Tensor]) -> None:
        super().__init__()
        self.text, self.arguments = text, arguments
        self.learnt = Parts()
        for x, value in learnt.items():
            self.learnt.put(x, nn.Parameter(value))
        try:
            ast.parse(f"({text}\n)", mode="eval")
            same = unicodedata.normalize("NFKC", text) == text  # as Python does with names
        except SyntaxError:
            same = False
        if not same:
            help = "something in it, perhaps a name, has another meaning in Python: write it differently in the manifest"
            _native.raise_problems([("cannot-predict", f"the closed form of `{name}` has no PyTorch equivalent: `{text}`", help)])

    def forward(self, *arguments: Any) -> torch.Tensor:
        names = {}
        for name, argument in zip(self.arguments, arguments):
            vector = _vector(argument)
            names[name] = argument, argument.get("integer") if vector is None else vector
        rows = len(arguments[0]["index"] if isinstance(arguments[0], dict) else arguments[0]) if arguments else 1
        found = self._value(ast.parse(f"({self.text}\n)", mode="eval").body, names)
        return found.reshape(-1).expand(rows) if found.numel() == 1 else found.squeeze(1)

    def _value(self, node: ast.expr, names: dict[str, Any]) -> torch.Tensor:
        if isinstance(node, ast.Constant):
            like = next((v for _, v in names.values() if v is not None), None)
            return torch.full((1, 1), float(node.value), device=None if like is None else like.device)  # type: ignore[arg-type]
        if isinstance(node, ast.Name):
            return names[node.id][1] if node.id in names else self.learnt.part(node.id).unsqueeze(0)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            return names[node.value.id][0][f".{node.attr}"]
        if isinstance(node, ast.UnaryOp):
            return -self._value(node.operand, names)
        if isinstance(node, ast.BinOp):
            return _OPERATORS[type(node.op)](self._value(node.left, names), self._value(node.right, names))
        assert isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        values = [self._value(argument, names) for argument in node.args]
        return _FUNCTIONS[node.func.id](*values)
