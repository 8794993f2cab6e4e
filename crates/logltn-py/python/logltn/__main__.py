"""The program: ``python -m logltn`` and the command ``logltn``."""

import signal
import sys

from . import _native


def main() -> int:
    """Runs the command line."""
    # Python would only take note of it, and continue with what it never comes back to.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.main(["logltn", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
