"""Errors and warnings about text, data and arguments."""

from __future__ import annotations

import os
import sys
import warnings
from dataclasses import dataclass


@dataclass(frozen=True)
class Diagnostic:
    """One error or warning.

    ``code`` is a short stable name such as ``"unknown-predicate"``; docs/diagnostics.md lists them all.
    """

    severity: str
    code: str
    message: str
    file: str | None
    line: int | None
    column: int | None
    help: str | None


class InputError(ValueError):
    """Text, data or arguments are wrong. Its text is what the command line prints.

    >>> import logltn
    >>> try:
    ...     logltn.Theory("sort Point  predicate P(Pont)")
    ... except logltn.InputError as error:
    ...     print(error.diagnostics[0].code)
    unknown-sort
    """

    diagnostics: list[Diagnostic]

    def __init__(self, text: str, diagnostics: list[Diagnostic] | None = None) -> None:
        super().__init__(text)
        self.diagnostics = diagnostics or []

    def __reduce__(self):
        return type(self), (str(self), self.diagnostics)


class InputWarning(UserWarning):
    """The input is valid, but probably not what was intended. ``diagnostic`` says why."""

    diagnostic: Diagnostic | None

    def __init__(self, text: str, diagnostic: Diagnostic | None = None) -> None:
        super().__init__(text)
        self.diagnostic = diagnostic


def input_error(text: str, diagnostics: list[tuple]) -> InputError:
    """The exception of the native part."""
    return InputError(text, [Diagnostic(*d) for d in diagnostics])


def warn(texts: list[str], diagnostics: list[tuple]) -> None:
    """The warning of the native part."""
    # It points at the caller of this package, at any depth.
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        level, frame = level + 1, frame.f_back
    for text, diagnostic in zip(texts, diagnostics):
        warnings.warn(InputWarning(text, Diagnostic(*diagnostic)), stacklevel=level)


_HERE = os.path.dirname(__file__) + os.sep
