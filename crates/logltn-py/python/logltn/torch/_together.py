"""Many processes: each has its own rows, and computes the loss of all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel

from .. import _native
from .._knowledge_base import Evaluation
from .._theory import Theory
from ._compile import eagerly
from ._knowledge_base import KnowledgeBase

# How many numbers are sent of each summand of an axiom: as in the engine's `together.rs`.
NUMBERS_PER_PART = 5
# Of the knowledge base: what must be the same everywhere.
_SAME = ("theory", "semantics", "weights", "parameters", "outputs", "batched", "streamed", "dtype", "axioms", "sizes of sorts and tables")


def _disagree(message: str, help: str | None = None) -> None:
    _native.raise_problems([("ranks-disagree", message, help)])


def _quietly(tell: Callable[[], Any]) -> None:
    """Tells the others of an error, which is what is to be raised, also if they cannot be reached."""
    try:
        tell()
    except RuntimeError:
        pass


class Group:
    """The processes that compute a loss together."""

    def __init__(self, group: Any) -> None:
        if not isinstance(group, dist.ProcessGroup):
            help = "call `torch.distributed.init_process_group` first, and give `torch.distributed.group.WORLD`"
            message = f"`process_group` is a group of torch.distributed, not {type(group).__name__}"
            _native.raise_problems([("wrong-type", message, help)])
        self.group = group
        self.rank, self.size = dist.get_rank(group), dist.get_world_size(group)
        if self.rank < 0:
            _native.raise_problems([("value-out-of-range", "this process is not a member of its `process_group`", None)])
        backends = str(dist.get_backend(group)).lower()
        self._has = {"cpu": "gloo" in backends or "mpi" in backends, "cuda": "nccl" in backends}

    def gather(self, own: Tensor) -> Tensor:
        """The tensors of all processes, in their order, where this one's is."""
        device = own.device
        if not self._has["cuda" if own.is_cuda else "cpu"]:
            own = own.cpu() if own.is_cuda else own.to(torch.device("cuda", torch.cuda.current_device()))
        all = torch.empty((self.size, *own.shape), dtype=own.dtype, device=own.device)
        dist.all_gather(list(all.unbind()), own.contiguous(), group=self.group)
        return all.to(device)

    def agree(self, own: dict[str, str] | None) -> None:
        """Raises if the knowledge bases differ, or if one could not be made: here, if nothing is given."""
        digests = [int.from_bytes(hashlib.sha256(text.encode()).digest()[:7], "big") for text in (own or {}).values()]
        sent = torch.tensor([own is None, *(digests or [0] * len(_SAME))], dtype=torch.int64)
        found = self.gather(sent).tolist()
        if own is None:
            return
        for rank, (failed, *others) in enumerate(found):
            if failed:
                _disagree(f"rank {rank} could not make its knowledge base", "its own message says why")
            for what, one, other in zip(_SAME, found[0][1:], others):
                if one != other:
                    help = "all ranks need the same theory and settings; only the rows of batched and streamed tables differ"
                    _disagree(f"the knowledge bases of rank 0 and rank {rank} differ in their {what}", help)

    def __deepcopy__(self, memo: Any) -> Group:
        return self

    def __reduce__(self) -> Any:
        raise TypeError("a knowledge base with a `process_group` cannot be pickled: groups belong to their processes")


class Step:
    """The exchange of one call. Whoever evaluates again, for derivatives, gets the same numbers without asking the others."""

    def __init__(self, group: Group, parts: int) -> None:
        self.group, self.parts = group, parts
        self._told = False
        self._found: Tensor | None = None

    def exchange(self, parameters: tuple[Any, ...]) -> Callable[[list[float]], tuple[int, list[float]]]:
        """For the engine: its numbers in, which process this is and those of all out."""

        def of(own: list[float]) -> tuple[int, list[float]]:
            found = self.gather(torch.tensor(own, dtype=torch.float64), parameters)
            return self.group.rank, found.reshape(-1).tolist()

        return of

    def gather(self, own: Tensor, parameters: tuple[Any, ...]) -> Tensor:
        """The numbers of all processes, `[processes, numbers]`. On the CPU it is checked that all do the same."""
        if self._found is not None:
            return self._found
        if own.numel() != self.parts * NUMBERS_PER_PART:
            raise RuntimeError("this is a bug in logltn, please report it: the parts of the axioms depend on the rows")
        head = [torch.as_tensor(x, dtype=torch.float64, device=own.device).reshape(1) for x in (0.0, *parameters)]
        self._told = True
        found = self.group.gather(torch.cat([*head, own.reshape(-1)]))
        if not own.is_cuda:
            self._check(found[:, : len(head)].tolist())
        self._found = found[:, len(head) :]
        return self._found

    def _check(self, heads: list[list[float]]) -> None:
        for rank, (failed, *parameters) in enumerate(heads):
            if failed:
                _disagree(f"rank {rank} failed in this call", "its own message says why")
            for name, one, other in zip(("alpha", "p", "p_forall"), heads[0][1:], parameters):
                if one != other:
                    _disagree(f"`{name}` is {one:g} on rank 0, but {other:g} on rank {rank}")

    def fail(self) -> None:
        """Lets the others know that nothing comes from here, instead of having them wait."""
        if not self._told:
            self._told = True
            numbers = torch.full((4 + self.parts * NUMBERS_PER_PART,), torch.nan, dtype=torch.float64)
            numbers[0] = 1.0
            if not self.group._has["cpu"]:
                numbers = numbers.cuda()
            _quietly(lambda: self.group.gather(numbers))


class SharedKnowledgeBase(KnowledgeBase):
    """A knowledge base with a `process_group`."""

    _group: Group

    def __init__(self, theory: Theory | str, *, process_group: Any, **arguments: Any) -> None:
        group = Group(process_group)
        try:
            super().__init__(theory, _sharded=True, **arguments)
        except Exception:
            _quietly(lambda: group.agree(None))
            raise
        self._group = group
        knowledge = self._knowledge
        self._parts = len(knowledge._native.shares)
        own = {name: repr(knowledge._arguments.get(name)) for name in _SAME}
        own["theory"] = str(knowledge.theory)
        own["outputs"] = repr(sorted((knowledge._arguments["outputs"] or {}).items()))
        own["axioms"] = repr((knowledge._native.axiom_names, knowledge._native.shares))
        document = json.loads(knowledge._native.check(None))
        shared = {*knowledge._arguments["batched"], *knowledge._arguments["streamed"]}
        rows = [(t["name"], t["rows"]) for t in document["tables"] if t["name"] not in shared]
        own[_SAME[-1]] = repr(([(s["name"], s["size"]) for s in document["sorts"]], rows))
        group.agree(own)
        # Features are the same everywhere, or come with the call: there is no need to send them in each step.
        data = [name for name, _ in self.named_buffers() if name.split(".")[0] in ("individuals", "vectors", "tables")]
        DistributedDataParallel._set_params_and_buffers_to_ignore_for_model(self, data)

    def _with_others(self, run: Callable[[], Any]) -> Any:
        """Runs a call, all of whose mistakes the other processes learn of."""
        step = self.__dict__["_step"] = Step(self._group, self._parts)
        try:
            return run()
        except Exception:
            step.fail()
            raise
        finally:
            self.__dict__["_step"] = None

    @eagerly
    def loss(self, *arguments: Any, **named: Any) -> Tensor:
        return self._with_others(lambda: super(SharedKnowledgeBase, self).loss(*arguments, **named))

    forward = loss

    @eagerly
    def axioms(self, *arguments: Any, **named: Any) -> dict[str, Tensor]:
        return self._with_others(lambda: super(SharedKnowledgeBase, self).axioms(*arguments, **named))

    def evaluate(self, *arguments: Any, **named: Any) -> Evaluation:
        return self._with_others(lambda: self._knowledge.evaluate(*arguments, **named, _step=self._step))

    for _method in (loss, axioms, evaluate):
        _method.__doc__ = getattr(KnowledgeBase, _method.__name__).__doc__
