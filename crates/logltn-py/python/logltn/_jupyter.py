"""``%load_ext logltn``, then cells that begin with ``%%ltn``."""

from __future__ import annotations

import sys
from typing import Any

from ._errors import InputError
from ._theory import Theory


def load_ipython_extension(shell: Any) -> None:
    """What ``%load_ext logltn`` calls."""

    def ltn(line: str, cell: str) -> Theory | None:
        """A theory in a cell: checked, shown, and bound to the name after ``%%ltn``."""
        name = line.strip()
        if name and not name.isidentifier():
            print(f"%%ltn takes a name for the theory, not `{name}`", file=sys.stderr)
            return None
        try:
            theory = Theory(cell, name=name or "theory")
        except InputError as error:
            print(error, file=sys.stderr)
            return None
        if name:
            shell.user_ns[name] = theory
        return theory

    shell.register_magic_function(ltn, magic_kind="cell", magic_name="ltn")
