"""Theories: sorts, symbols and axioms as text."""

from __future__ import annotations

import os
from pathlib import Path

from . import _native


class Theory:
    """Sorts, symbols and axioms, checked.

    >>> theory = Theory('''
    ...     sort Person
    ...     predicate happy(Person)
    ...     axiom all: forall x: Person. happy(x)
    ... ''')
    >>> theory.predicates, theory.axioms
    (['happy'], ['all'])
    >>> str(Theory(str(theory))) == str(theory)
    True

    Undeclared names may be labels of a sort that comes with the data; that is checked when a knowledge
    base is made.
    """

    __slots__ = ("_native", "_columns")

    def __init__(self, text: str, *, name: str = "theory") -> None:
        if not isinstance(text, str):
            _native.raise_problems([("wrong-type", f"a theory is text, not {type(text).__name__}", "Theory.read takes a file")])
        if not text.isascii():
            try:
                text.encode()
            except UnicodeEncodeError as error:
                message = f"the text has an unpaired surrogate at position {error.start}: {ascii(text[error.start])}"
                _native.raise_problems([("unexpected-character", message, None)])
        self._native = _native.Theory(text, name)
        self._columns = dict(self._native.tables)  # by table, for each call that brings rows

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Theory:
        """The theory in a file."""
        path = os.fspath(path)
        try:
            text = Path(path).read_text(encoding="utf-8")
        except FileNotFoundError:
            _native.raise_problems([("file-not-found", f"there is no file {path}", None)])
            raise
        except (OSError, UnicodeDecodeError) as error:
            _native.raise_problems([("file-unreadable", f"{path} cannot be read: {error}", None)])
            raise
        return cls(text, name=path)

    @property
    def sorts(self) -> list[str]:
        """Names of sorts, in the order of the text, as all lists below."""
        return [s[0] for s in self._native.sorts]

    @property
    def tables(self) -> list[str]:
        """Names of tables."""
        return [t[0] for t in self._native.tables]

    @property
    def predicates(self) -> list[str]:
        """Names of predicates."""
        return [p[0] for p in self._native.predicates]

    @property
    def functions(self) -> list[str]:
        """Names of functions."""
        return [f[0] for f in self._native.functions if "." not in f[0]]  # those are columns, `x.age`

    @property
    def constants(self) -> list[str]:
        """Names of constants."""
        return [c[0] for c in self._native.constants]

    @property
    def definitions(self) -> list[str]:
        """Names of definitions."""
        return self._native.definitions

    @property
    def params(self) -> list[str]:
        """Names of params."""
        return self._native.params

    @property
    def axioms(self) -> list[str]:
        """Names of axioms; a family is one."""
        return [a[0] for a in self._native.axioms]

    def __str__(self) -> str:
        return str(self._native)

    def __repr__(self) -> str:
        return f"Theory({', '.join(self.axioms)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Theory) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __reduce__(self):
        return _again, self._native.source

    def _repr_html_(self) -> str:
        from ._html import theory

        return theory(self._native.source[0])


def _again(text: str, name: str) -> Theory:
    return Theory(text, name=name)


