"""The groundings of symbols when the knowledge base runs the networks itself: callables, tensors and parameters."""

from __future__ import annotations

import copy
import dis
import functools
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

from .. import _native
from .._given import Problems, features, strings, unboxed
from .._native import Holds


class Meaning:
    """A callable, and the meaning of its numbers."""

    __slots__ = ("callable", "output")

    def __init__(self, callable: Callable[..., torch.Tensor], output: str) -> None:
        self.callable = callable
        self.output = output


def softmax(callable: Callable[..., torch.Tensor]) -> Meaning:
    """Logits over the last argument's individuals, exactly one of which is true: ``[n, classes]`` for all arguments but the last."""
    return Meaning(callable, "softmax")


def sigmoid(callable: Callable[..., torch.Tensor], *, classes: bool = False) -> Meaning:
    """A logit for each row: the default for a bare callable.

    With ``classes=True`` one for each individual of the last argument's sort, which is left out: ``[n, classes]``; any number of them may be
    true."""
    return Meaning(callable, "sigmoid" + " of classes" * classes)


def truth(callable: Callable[..., torch.Tensor], *, classes: bool = False) -> Meaning:
    """A degree of truth for each row, from 0 to 1; with ``classes=True`` as for :func:`sigmoid`."""
    return Meaning(callable, "truth" + " of classes" * classes)


def log_truth(callable: Callable[..., torch.Tensor], *, classes: bool = False) -> Meaning:
    """The log of a degree of truth for each row, at most 0; with ``classes=True`` as for :func:`sigmoid`."""
    return Meaning(callable, "log_truth" + " of classes" * classes)


class Parts(nn.Module):
    """Modules, parameters and tensors by the names of symbols, which may be any names at all (`type`, `forward`)."""

    def put(self, name: str, part: Any) -> None:
        """Modules and parameters learn, tensors move along, and functions are just kept."""
        self.known.add(name)
        if isinstance(part, nn.Module):
            self._modules[name] = part
        elif isinstance(part, nn.Parameter):
            self._parameters[name] = part
        elif isinstance(part, torch.Tensor):
            self._buffers[name] = part
            self._non_persistent_buffers_set.add(name)
        else:
            self.plain[name] = part

    def __init__(self) -> None:
        super().__init__()
        self.plain: dict[str, Any] = {}
        self.known: set[str] = set()  # all names

    def __contains__(self, name: str) -> bool:
        return any(name in parts for parts in (self._modules, self._parameters, self._buffers, self.plain))

    def part(self, name: str) -> Any:
        """The part of that name."""
        for parts in (self._modules, self._parameters, self._buffers):
            if name in parts:
                return parts[name]
        return self.plain[name]

    def names(self) -> list[str]:
        """The names of all parts."""
        return [*self._modules, *self._parameters, *self._buffers, *self.plain]


class Enclosed(Parts):
    """The modules and parameters inside functions, methods and other callables, so that these are found, moved and saved."""

    def __init__(self) -> None:
        super().__init__()
        # Of functions: copies of a knowledge base share them, as they share the functions.
        self.shared: set[str] = set()

    def take(self, name: str, given: Any) -> None:
        """Finds the modules and parameters of a callable."""
        for i, part in enumerate(enclosed(given)):
            self.put(f"{name}_{i}", part)
            if isinstance(given, types.FunctionType):
                self.shared.add(f"{name}_{i}")

    def __deepcopy__(self, memo: dict[int, Any]) -> Enclosed:
        for name in self.shared:
            part = self.part(name)
            memo.setdefault(id(part), part)
        new = memo[id(self)] = self.__class__.__new__(self.__class__)
        new.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return new


def enclosed(given: Any) -> list[nn.Module | nn.Parameter]:
    """The modules and parameters that a callable has: those of a method's object, of a closure, of `functools.partial`, and the global ones that
    a function names."""
    found: dict[int, Any] = {}
    seen: set[int] = set()

    def look(part: Any, depth: int) -> None:
        if isinstance(part, (nn.Module, nn.Parameter)):
            found[id(part)] = part
        elif depth and id(part) not in seen:
            seen.add(id(part))
            for inner in _inside(part):
                look(inner, depth - 1)

    look(given, 4)
    return list(found.values())


def _inside(part: Any) -> Iterator[Any]:
    if isinstance(part, functools.partial):
        yield from (part.func, *part.args, *part.keywords.values())
    elif isinstance(part, types.MethodType):
        yield from (part.__self__, part.__func__)
    elif isinstance(part, types.FunctionType):
        for cell in part.__closure__ or ():
            try:
                yield cell.cell_contents
            except ValueError:  # not bound yet
                pass
        yield from part.__defaults__ or ()
        yield from (part.__kwdefaults__ or {}).values()
        for name in _names(part.__code__):
            value = part.__globals__.get(name)
            # Functions of other files are not searched: there would be no end to that.
            if not isinstance(value, types.FunctionType) or value.__globals__ is part.__globals__:
                yield value
    elif isinstance(part, (list, tuple)):
        yield from part
    elif isinstance(part, dict):
        yield from part.values()
    elif not isinstance(part, (type, types.ModuleType, torch.Tensor, np.ndarray)) and hasattr(part, "__dict__"):
        yield from vars(part).values()


def _names(code: types.CodeType) -> Iterator[str]:
    """The global names in a function, and in those that it makes."""
    yield from (i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME"))
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _names(inner)


class Fields(nn.Module):
    """The fields of a sort's features."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        super().__init__()
        self.parts = Parts()
        for name, values in fields.items():
            # The others are names, or whoever reads them says what is wrong.
            if isinstance(values, torch.Tensor) or (strings(values) is None and features(values, name, []) is not None):
                self.parts.put(name, tensor(values))

    def __getitem__(self, index: torch.Tensor) -> dict[str, torch.Tensor]:
        return {name: gather(self.parts.part(name), index) for name in self.parts.names()}


def tensor(values: Any) -> torch.Tensor:
    """Features; converted to single precision unless they are PyTorch tensors."""
    if isinstance(values, torch.Tensor):
        return values
    array = unboxed(np.asarray(values))
    single = array.dtype.kind == "f" and array.dtype.itemsize > 4
    return torch.from_numpy(array.astype(np.float32 if single else array.dtype.newbyteorder("="), order="C"))


def host(values: torch.Tensor) -> Any:
    """As an array, if it can be one; otherwise whoever reads it says why."""
    values = values.detach()
    try:
        return (values.float() if values.dtype is torch.bfloat16 else values).cpu().numpy()
    except (RuntimeError, TypeError):
        return values


def rows_of(given: Any, width: int) -> torch.Tensor:
    """The vectors of a function that is given by data, one after the other."""
    return tensor(given).reshape(-1, width)


def gather(values: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """Rows by index, on the device of the values. `values[index]` would wait for other threads, whatever the size."""
    return values.index_select(0, index.to(values.device))


class Run:
    """One pass: each callable runs once, on all rows that are needed."""

    def __init__(
        self, owner: Any, classes: Mapping[str, int | None], requests: list[Any], numbers: np.ndarray, sorts: Mapping[str, Any], functions: Mapping[str, Any]
    ) -> None:
        self.owner, self.classes = owner, classes
        self.functions = functions  # by data or callables that come with the call
        self.requests = requests
        self.numbers = numbers
        self.sorts = sorts  # what comes with the call
        self.applied: dict[str, Applied] = {}

    def values(self, given: set[int]) -> tuple[list[tuple[int, Holds]], list[torch.Tensor]]:
        """The numbers of all requests, except for predicates that are given."""
        asked: list[tuple[int, Any]] = []
        which: list[tuple[int, Holds]] = []
        tensors: list[torch.Tensor] = []
        for place, request in enumerate(self.requests):
            name = self.owner._names[request[0]]
            # The engine reports predicates without values.
            if request[0] in given or name not in self.owner.predicates:
                continue
            # Whoever learns together with other processes runs them for no rows too: gradients are waited for.
            if len(request[2]) or self.owner._group is not None:
                asked.append((place, request))
            elif (nothing := self._of_no_rows(name)) is not None:
                which.append((place, Holds.REQUEST))
                tensors.append(nothing)
        asked, shared = merged(asked)
        self._apply_functions(asked)
        groups: dict[Any, list[tuple[int, Any, list[Any]]]] = {}
        for place, request in asked:
            arguments = self._arguments(request[1], request[2], place)
            network = self.owner.predicates.part(self.owner._names[request[0]])
            groups.setdefault((id(network), *map(like, arguments)), []).append((place, request, arguments))
        for group in groups.values():
            counts = [len(request[2]) for _, request, _ in group]
            joined = [join(list(parts)) for parts in zip(*(arguments for _, _, arguments in group))]
            name = self.owner._names[group[0][1][0]]
            out = self._checked(name, self.owner.predicates.part(name)(*joined), sum(counts))
            self._known(name, out, joined)
            for (place, _, _), part in zip(group, out.split(counts)):
                owners: list[tuple[int, Any]] = [*shared.get(place, [])] or [(place, None)]
                for own, among in owners:
                    which.append((own, Holds.REQUEST))
                    tensors.append(part if among is None else gather(part, torch.from_numpy(among)))
        return which, tensors

    def _of_no_rows(self, name: str) -> torch.Tensor | None:
        """A network's output for no rows, in the precision of its parameters. The network does not run, since some fail on no rows."""
        classes = self.classes[name]
        for part in enclosed(self.owner.predicates.part(name)):
            for parameter in part.parameters() if isinstance(part, nn.Module) else [part]:
                if parameter.is_floating_point() and (classes is None or classes >= 0):
                    return parameter.new_empty((0,) if classes is None else (0, classes))
        return None

    def _known(self, name: str, out: torch.Tensor, arguments: list[Any]) -> None:
        """Warns, when a callable runs for the first time, of parameters behind it that the knowledge base does not have."""
        if out.grad_fn is None or f"parameters of {name}" in self.owner._knowledge._said:
            return
        self.owner._knowledge._said.add(f"parameters of {name}")
        own = {id(parameter) for parameter in self.owner.parameters()}
        inputs = [t for a in arguments for t in (a.values() if isinstance(a, dict) else [a])]
        seen = {t.grad_fn for t in inputs}  # what comes with the call is somebody else's
        own.update(id(t) for t in inputs)
        edge: list[Any] = [out.grad_fn]
        while edge:
            node = edge.pop()
            if node is None or node in seen:
                continue
            seen.add(node)
            variable = getattr(node, "variable", None)
            if variable is not None and id(variable) not in own:
                message = f"predicate `{name}` depends on a parameter of shape {tuple(variable.shape)} that `parameters()` of the knowledge base does not have"
                help = "give the module itself, or a method of it, or add the parameter to the optimizer"
                return _native.warn_of([("hidden-parameters", message, help)])
            edge.extend(following for following, _ in node.next_functions)

    def _checked(self, name: str, out: Any, rows: int) -> torch.Tensor:
        classes = self.classes[name]
        expected = (rows,) if classes is None else (rows, classes if classes >= 0 else "classes")
        problem: tuple[str, str, None] | None = None
        if not isinstance(out, torch.Tensor):
            problem = ("wrong-type", f"predicate `{name}` returned {type(out).__name__}, not a tensor", None)
        elif not out.is_floating_point() or out.layout is not torch.strided or out.is_nested or out.is_meta:
            found = f"{out.dtype}" + (" without numbers in rows and columns" if out.is_floating_point() else "")
            problem = ("unsupported-elements", f"predicate `{name}` returned a tensor of {found}, not of floating-point numbers", None)
        else:
            if classes is None and out.shape == (rows, 1):
                out = out.squeeze(1)
            fits = out.dim() == len(expected) and out.shape[0] == rows and (classes is None or classes < 0 or out.shape[1] == classes)
            if not fits:
                shape = ", ".join(map(str, expected)) + ("," if classes is None else "")
                problem = ("wrong-shape", f"predicate `{name}` returned shape {tuple(out.shape)} for {rows} rows, but must return ({shape})", None)
        if problem is not None:
            _native.raise_problems([problem])
        return out

    def _arguments(self, shape: list[Any], rows: np.ndarray, request: int | None = None) -> list[Any]:
        """The arguments of a request, or those of a function for the rows that it is applied to."""
        arguments, column = [], 0
        for part in shape:
            width = leaves(part)
            own = rows[:, column : column + width]
            arguments.append(self._value(part, own, (request, column)) if isinstance(part, list) else self._argument(part, own[:, 0]))
            column += width
        return arguments

    def _argument(self, part: Any, index: np.ndarray) -> Any:
        if part is None:
            return torch.from_numpy(self.numbers[index].astype(np.float32))
        if isinstance(part, str):
            return self._individuals(part, index)
        # A vector of a function that is given by data.
        own = self.functions.get(part[0])
        values = self.owner.tables.part(part[0]) if own is None else rows_of(own, self.owner._widths[part[0]])
        return gather(values, torch.from_numpy(index.astype(np.int64)))

    def _value(self, part: list[Any], rows: np.ndarray, place: Place) -> torch.Tensor:
        """A function's values for some rows."""
        applied = self.applied[repr(part)]
        places = applied.places.get(place)
        if places is None:  # those that another function is applied to, which were among the others
            places = different([applied.distinct, rows])[1][len(applied.distinct) :]
        return gather(applied.value, torch.from_numpy(places))

    def _individuals(self, sort: str, index: np.ndarray) -> Any:
        owner = self.owner
        at = torch.from_numpy(index.astype(np.int64))
        features = self.sorts.get(sort)
        if features is None and sort in owner.individuals:
            features = owner.individuals.part(sort)
        if features is None:
            # An individual of its own has a vector even where the others have none.
            return owner._low.get(sort, 0) + at
        vectors = [owner.vectors.part(name) for name in owner._own.get(sort, ())]
        if isinstance(features, nn.Embedding):
            if not vectors:
                return features(at.to(features.weight.device))
            features = features.weight
        if isinstance(features, Fields):
            return features[at]
        if vectors:
            features = torch.cat([features, torch.stack([v.to(features) for v in vectors])])
        return gather(features, at)

    def _apply_functions(self, requests: list[tuple[int, Any]]) -> None:
        """Each function on the distinct values of its arguments, inner ones first."""
        asked: dict[str, tuple[Any, dict[Place, np.ndarray]]] = {}

        def ask(part: Any, rows: np.ndarray, request: int, column: int, inside: bool) -> None:
            if not isinstance(part, list):
                return
            at = 0
            for inner in part[1:]:
                width = leaves(inner)
                ask(inner, rows[:, at : at + width], request, column + at, True)
                at += width
            # After what it is made of, in the order of the dict. What it is itself inside of is applied to distinct rows.
            place = (~request if inside else request, column)
            asked.setdefault(repr(part), (part, {}))[1][place] = rows

        for request, (_, shape, rows) in requests:
            column = 0
            for part in shape:
                width = leaves(part)
                ask(part, rows[:, column : column + width], request, column, False)
                column += width
        for key, (part, places) in asked.items():
            distinct, among = different(list(places.values()))
            name = part[0]
            own = self.functions.get(name)
            if own is None and name not in self.owner.functions:
                _native.raise_problems([("not-grounded", f"function `{name}` has no callable", None)])
            function = own if own is not None else self.owner.functions.part(name)
            value = function(*self._arguments(part[1:], distinct))
            if not isinstance(value, torch.Tensor) or value.dim() == 0 or value.shape[0] != len(distinct):
                found = tuple(value.shape) if isinstance(value, torch.Tensor) else type(value).__name__
                message = f"function `{name}` returned {found} for {len(distinct)} rows, but must return a row for each"
                _native.raise_problems([("wrong-shape", message, None)])
            ends = np.cumsum([len(rows) for rows in places.values()])
            self.applied[key] = Applied(distinct, value, dict(zip(places, np.split(among, ends[:-1]))))


Place = tuple[int | None, int]
"""A request, and the column where an argument of it begins."""


class Applied(NamedTuple):
    """A function's values."""

    distinct: np.ndarray  # the rows that it was applied to
    value: torch.Tensor
    places: dict[Place, np.ndarray]  # by argument of a request, where its rows are among these


def merged(asked: list[tuple[int, Any]]) -> tuple[list[tuple[int, Any]], dict[int, list[tuple[int, np.ndarray]]]]:
    """Requests that ask the same of a predicate, as rows that come with a call do beside those that are always there, as one; by the place of that
    one, the places of all and where their rows are among its own."""
    alike: dict[Any, list[tuple[int, Any]]] = {}
    for place, request in asked:
        alike.setdefault((request[0], repr(request[1])), []).append((place, request))
    if len(alike) == len(asked):
        return asked, {}
    once, shared = [], {}
    for requests in alike.values():
        place, (predicate, shape, _) = requests[0]
        if len(requests) > 1:
            every = [rows for _, (_, _, rows) in requests]
            distinct, among = different(every)
            parts = np.split(among, np.cumsum([len(rows) for rows in every])[:-1])
            shared[place] = [(own, part) for (own, _), part in zip(requests, parts)]
            requests = [(place, (predicate, shape, distinct))]
        once += requests
    return once, shared


def leaves(part: Any) -> int:
    """The number of individuals in an argument."""
    return sum(leaves(inner) for inner in part[1:]) if isinstance(part, list) else 1


def different(rows: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The distinct ones of some rows, in order, and where all rows are among them."""
    every = np.ascontiguousarray(rows[0] if len(rows) == 1 else np.concatenate(rows))
    width = every.shape[1]
    if not width:
        return every[:1], np.zeros(len(every), np.int64)
    found = _native.different(every, width)
    if found is None:
        return every, np.arange(len(every))
    return np.frombuffer(found[0], np.int32).reshape(-1, width), np.frombuffer(bytearray(found[1]), np.int64)


def like(argument: Any) -> Any:
    """What arguments must have in common to go through a network together."""
    if isinstance(argument, dict):
        return tuple((name, like(value)) for name, value in argument.items())
    return argument.dtype, argument.device, argument.shape[1:]


def join(parts: list[Any]) -> Any:
    """One argument of several requests."""
    if len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], dict):
        return {name: torch.cat([part[name] for part in parts]) for name in parts[0]}
    return torch.cat(parts)


def meaning(name: str, given: Any, problems: Problems) -> tuple[Any, str]:
    """The callable behind a predicate, and its output."""
    output = "sigmoid"
    if isinstance(given, Meaning):
        given, output = given.callable, given.output
    if not callable(given):
        problems.append(("wrong-type", f"predicate `{name}` is a callable, such as a network, not {type(given).__name__}", None))
    last = given
    while isinstance(last, nn.Sequential) and len(last):
        last = last[-1]
    # A softmax of logs of probabilities is what these are the logs of.
    squashes = isinstance(last, _SQUASH) and not (output == "softmax" and isinstance(last, nn.LogSoftmax))
    if output.split()[0] in ("sigmoid", "softmax") and squashes:
        message = f"predicate `{name}` takes logits, but its network ends in {type(last).__name__}: its values would be squashed twice"
        log = isinstance(last, (nn.LogSigmoid, nn.LogSoftmax))
        classes = ", classes=True" if output != "sigmoid" else ""
        help = f"leave the last module out, or say `logltn.torch.{'log_' * log}truth(…{classes})`"
        _native.warn_of([("squashed-twice", message, help)])
    return given, output


_SQUASH = (nn.Sigmoid, nn.Softmax, nn.LogSigmoid, nn.LogSoftmax, nn.Softmax2d, nn.Hardsigmoid)
