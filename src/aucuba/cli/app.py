"""The program: its commands, and what becomes of errors, warnings and interrupts."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import Any

import typer

from aucuba import __version__
from aucuba.cli import measuring, scoring, showing, training
from aucuba.cli.console import complain, note

app = typer.Typer(
    name="aucuba",
    help="Learn and measure scores where the ROC curve matters.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for command in (
    training.fit,
    scoring.predict,
    measuring.evaluate,
    measuring.compare,
    showing.report,
    showing.info,
    showing.demo,
):
    app.command()(command)

# The base of all complaints about the command line itself, wherever typer keeps it.
_UsageError: Any = typer.BadParameter.__mro__[1]
_INTERNAL = 1
_WRONG_INPUT = 2
_INTERRUPTED = 130


@app.callback(invoke_without_command=True)
def _program(version: bool = typer.Option(False, "--version", help="Print the version.")) -> None:
    if version:
        typer.echo(f"aucuba {__version__}")
        raise typer.Exit


def run(arguments: Sequence[str]) -> int:
    """Run one command; every foreseeable failure is one line on stderr."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        code = _guarded(list(arguments))
    if code == 0:
        for message in dict.fromkeys(str(warning.message) for warning in caught):
            note(message)
    return code


def _guarded(arguments: list[str]) -> int:
    interrupted = "Interrupted; nothing was written."
    try:
        code = int(app(arguments, prog_name="aucuba", standalone_mode=False) or 0)
        if not arguments:
            return _WRONG_INPUT
        # Typer itself turns an interrupt into this exit code.
        return complain(interrupted, code) if code == _INTERRUPTED else code
    except _UsageError as error:
        # Without arguments typer prints the help and raises an empty complaint.
        return complain(error.format_message(), _WRONG_INPUT) if arguments else _WRONG_INPUT
    except (ValueError, OSError) as error:
        if os.environ.get("AUCUBA_DEBUG"):
            raise
        return complain(str(error), _WRONG_INPUT)
    except (KeyboardInterrupt, typer.Abort):
        return complain(interrupted, _INTERRUPTED)
    except MemoryError:
        return complain("Out of memory; use fewer rows or columns.", _WRONG_INPUT)
    except Exception as error:
        if os.environ.get("AUCUBA_DEBUG"):
            raise
        return complain(
            f"{type(error).__name__}: {error}. This is a bug; set AUCUBA_DEBUG=1 for the traceback.",
            _INTERNAL,
        )
