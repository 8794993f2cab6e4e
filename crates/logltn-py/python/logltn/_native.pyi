"""The native part, for type checkers. What its functions take is said once, in Rust (``crates/logltn-py/src``)."""

from typing import Any, ClassVar

class Holds:
    """Which numbers an array holds: for each tuple of individuals of a predicate, for each row that it is asked about, or for
    each row of a request."""

    GRID: ClassVar[Holds]
    ROWS: ClassVar[Holds]
    REQUEST: ClassVar[Holds]

def __getattr__(name: str) -> Any: ...
