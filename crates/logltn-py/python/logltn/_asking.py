"""Questions to a knowledge base: how true a formula is, what breaks an axiom, the values of a definition."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _given, _native
from ._given import Percentile, Problems
from ._html import groundings


class Asking:
    """The questions that a knowledge base answers, wherever its values come from: without gradients, in double precision. One that
    has networks runs those of predicates that are not in ``values``."""

    _defaults: tuple[float, float, float]

    def _ask(self, asked: dict[str, Any], values: Any, sorts: Any, tables: Any, params: Any, functions: Any) -> str:
        """The document that the native part returns."""
        raise NotImplementedError

    def _explanation(self, document: dict[str, Any], sorts: Any) -> Explanation:
        """Adds the pictures of individuals that have one; `sorts` came with the call."""
        raise NotImplementedError

    def query(
        self,
        formula: str,
        values: Mapping[str, Any] | None = None,
        *,
        top: int = 10,
        alpha: float | None = None,
        p: float | None = None,
        p_forall: float | None = None,
        sorts: Mapping[str, Any] | None = None,
        tables: Mapping[str, Any] | None = None,
        params: Mapping[str, float | Percentile] | None = None,
        functions: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """How true a formula is, or which bindings satisfy it: the document of ``logltn query --json``.

        A formula that begins with ``find`` has answers, the ``top`` truest first (0: all of them). Truths are logs in the log
        semantics. Computed in double precision, over all rows of batched tables.

        >>> import numpy as np, logltn
        >>> kb = logltn.KnowledgeBase('''
        ...     sort Person = {ann, bob}  predicate happy(Person)
        ...     axiom all: forall x: Person. happy(x)
        ... ''', outputs={"happy": "truth"}, semantics="stable")
        >>> values = {"happy": np.array([0.9, 0.25])}
        >>> round(kb.query("happy(ann) and happy(bob)", values)["truth"], 3)
        0.225
        >>> kb.query("find x: Person. not happy(x)", values, top=1)["answers"]
        [{'binding': {'x': 'bob'}, 'truth': 0.75}]
        """
        asked = question(formula, None, top, call_parameters(alpha, p, p_forall, self._defaults))
        return json.loads(self._ask(asked, values, sorts, tables, params, functions))

    def explain(
        self,
        values: Mapping[str, Any] | None = None,
        axiom: str | None = None,
        *,
        open: str | Sequence[str] = (),
        top: int = 10,
        alpha: float | None = None,
        p: float | None = None,
        p_forall: float | None = None,
        sorts: Mapping[str, Any] | None = None,
        tables: Mapping[str, Any] | None = None,
        params: Mapping[str, float | Percentile] | None = None,
        functions: Mapping[str, Any] | None = None,
    ) -> Explanation:
        """What breaks an axiom, a family or a member of one, or each of them: the document of ``logltn explain --json``.

        The ``top`` least true bindings of each (0: all of them), with the literals to blame and the witnesses. A
        definition counts as one literal, unless ``open`` names it. Computed in double precision, over all rows of batched tables.

        >>> import numpy as np, logltn
        >>> kb = logltn.KnowledgeBase('''
        ...     sort Person = {ann, bob}  predicate happy(Person)
        ...     axiom all: forall x: Person. happy(x)
        ... ''', outputs={"happy": "truth"}, semantics="stable")
        >>> worst = kb.explain({"happy": np.array([0.9, 0.25])}, top=1)["axioms"][0]["worst"][0]
        >>> worst["binding"], worst["literals"]
        ({'x': 'bob'}, [{'literal': 'happy(bob)', 'truth': 0.25, 'blame': 1.0}])
        """
        asked = question(None, axiom, top, call_parameters(alpha, p, p_forall, self._defaults), open)
        return self._explanation(json.loads(self._ask(asked, values, sorts, tables, params, functions)), sorts)

    def truths_of(
        self,
        definition: str,
        values: Mapping[str, Any] | None = None,
        *,
        alpha: float | None = None,
        p: float | None = None,
        p_forall: float | None = None,
        sorts: Mapping[str, Any] | None = None,
        tables: Mapping[str, Any] | None = None,
        params: Mapping[str, float | Percentile] | None = None,
        functions: Mapping[str, Any] | None = None,
    ) -> np.ndarray:
        """The truth of a definition for all its tuples: an array with one axis for each argument.

        Truths are logs in the log semantics and in ``prod``. Computed in double precision, over all rows of batched tables.

        >>> import numpy as np, logltn
        >>> kb = logltn.KnowledgeBase('''
        ...     sort Person = {ann, bob}  predicate likes(Person, Person)
        ...     define friends(x, y: Person): likes(x, y) and likes(y, x)
        ...     axiom all: forall x: Person. friends(x, x)
        ... ''', outputs={"likes": "truth"}, semantics="godel")
        >>> kb.truths_of("friends", {"likes": np.array([[1.0, 0.25], [0.5, 0.75]])})
        array([[1.  , 0.25],
               [0.25, 0.75]])
        """
        asked = question(None, None, 0, call_parameters(alpha, p, p_forall, self._defaults), definition=definition)
        shape, truths = json.loads(self._ask(asked, values, sorts, tables, params, functions))
        return np.array(truths, dtype=np.float64).reshape(shape)


class Explanation(dict[str, Any]):
    """The result of :meth:`KnowledgeBase.explain`: the document of ``logltn explain --json``, which a notebook shows as tables."""

    def __init__(
        self, document: Mapping[str, Any] = {}, logs: tuple[bool, bool] = (False, False), pictures: dict[str, Any] | None = None
    ) -> None:
        super().__init__(document)
        self._logs = logs  # whether the truths of axioms, and of literals, are logs
        self._pictures = pictures or {}  # by axiom, of individuals by variable and number

    def __str__(self) -> str:
        logs, literal_logs = self._logs
        lines = []
        for axiom in self["axioms"]:
            if axiom.get("hard"):
                lines.append(f"{axiom['name']}: a law, {groundings(axiom['groundings'])}")
                continue
            lines.append(f"{axiom['name']}: truth {_shown(axiom['truth'], logs)}, {groundings(axiom['groundings'])}")
            for worst in axiom["worst"]:
                lines.append(f"  {_bound(worst['binding'])}: {_shown(worst['truth'], logs)}")
                for literal in worst["literals"]:
                    lines.append(f"    {literal['literal']}: {_shown(literal['truth'], literal_logs)}, blame {literal['blame']:.3g}")
                for witness in worst["witnesses"]:
                    found = "nothing to choose from" if witness["binding"] is None else _bound(witness["binding"])
                    lines.append(f"    {witness['formula']}: {found}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from ._html import explanation

        return explanation(self, *self._logs, self._pictures)


def _shown(truth: float, log: bool) -> str:
    """A degree of truth to read, with the log beside it where logs are computed."""
    return f"{np.exp(truth):.3g} (log {truth:.4g})" if log else f"{truth:.4g}"


def _bound(binding: Mapping[str, Any]) -> str:
    return ", ".join(f"{variable} = {to}" for variable, to in binding.items()) or "as a whole"


def call_parameters(alpha: Any, p: Any, p_forall: Any, defaults: tuple[float, float, float]) -> tuple[float, float, float]:
    problems: Problems = []
    numbers = tuple(
        default if x is None else _given.number(x, f"`{name}`", problems)
        for name, x, default in zip(("alpha", "p", "p_forall"), (alpha, p, p_forall), defaults)
    )
    if problems:
        _native.raise_problems(problems)
    return numbers  # type: ignore[return-value]


def question(
    formula: Any, axiom: Any, top: Any, parameters: tuple[float, float, float], open: Any = (), definition: Any = None
) -> dict[str, Any]:
    problems: Problems = []
    _given.texts(formula=formula, axiom=axiom, definition=definition)
    opened = _given.list_of_names([open] if isinstance(open, str) else open, "open", problems, "definitions")
    if isinstance(top, bool) or not isinstance(top, int):
        problems.append(("wrong-type", f"`top` must be a number, not {top!r}", None))
    elif not 0 <= top < 2**63:
        problems.append(("value-out-of-range", f"`top` must be at least 0 (0 means all), not {_given.shortened(top)}", None))
    if problems:
        _native.raise_problems(problems)
    return {
        "formula": formula,
        "axiom": axiom,
        "parameters": parameters,
        "top": top,
        "open": opened,
        "definition": definition,
        "features": [],
    }
