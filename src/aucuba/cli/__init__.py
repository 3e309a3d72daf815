"""The program ``aucuba``, with commands such as fit, predict, evaluate, report and monitor."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

__all__ = ["main"]


def main(
    arguments: Sequence[str] | None = None,
    *,
    demo: Callable[[Path, bool, bool], None] | None = None,
) -> int:
    """Run one command and return its exit code: 0 done, 2 wrong input, 130 interrupted.

    Parameters
    ----------
    arguments : sequence of str, default=None
        The words after the program's name; those of this process by default.
    demo : callable, default=None
        What ``aucuba demo`` runs, given the folder, whether to print JSON and whether to open the
        report; without it there is no such command.
    """
    try:
        # The first import is slow, so an interrupt may well come here.
        from aucuba.cli._app import run
    except ModuleNotFoundError as error:
        sys.stderr.write(
            f"error: the command line needs {error.name}; install all of it with `pip install "
            '".[cli]"` in a checkout of aucuba.\n'
        )
        return 2
    except KeyboardInterrupt:
        sys.stderr.write("error: Interrupted; nothing was written.\n")
        return 130
    return run(sys.argv[1:] if arguments is None else list(arguments), demo)
