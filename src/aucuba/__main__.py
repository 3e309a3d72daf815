"""``python -m aucuba`` is the command ``aucuba``: those of `aucuba.cli`, and the demo."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from aucuba import cli


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code, as `aucuba.cli.main` does.

    Parameters
    ----------
    arguments : sequence of str, default=None
        Words after the program's name; the process's own by default.
    """
    return cli.main(arguments, demo=_demo)


def _demo(output: Path, as_json: bool, open_report: bool) -> None:
    from aucuba import demo

    demo.main(output, as_json=as_json, open_report=open_report)


if __name__ == "__main__":
    sys.exit(main())
