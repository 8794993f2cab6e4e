"""The program: ``python -m logltn`` and the command ``logltn``."""

import signal
import sys

from . import _native


def main() -> int:
    """Runs the command line."""
    # Python would only record the signal, and never get back to handling it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.main(["logltn", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
