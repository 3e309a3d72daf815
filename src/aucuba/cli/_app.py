"""The program: its commands, and what becomes of errors, warnings and interrupts."""

from __future__ import annotations

import os
import signal
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import typer

from aucuba import __version__
from aucuba.cli import _evaluate, _fit, _predict, _report
from aucuba.cli._console import complain, note
from aucuba.cli._tables import TableError
from aucuba.cli._wording import in_options

app = typer.Typer(
    name="aucuba",
    help="Learn and measure scores where the ROC curve matters.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for command in (
    _fit.fit,
    _predict.predict,
    _evaluate.evaluate,
    _evaluate.compare,
    _report.report,
    _report.info,
    _report.demo,
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
    with _orderly_termination(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        code = _guarded(list(arguments))
    if code == 0:
        for message in dict.fromkeys(str(warning.message) for warning in caught):
            note(in_options(message))
    return code


def _guarded(arguments: list[str]) -> int:
    stop = partial(complain, as_json="--json" in arguments)
    interrupted = "Interrupted; nothing was written."
    try:
        code = int(app(arguments, prog_name="aucuba", standalone_mode=False) or 0)
        if not arguments:
            return _WRONG_INPUT
        # Typer itself turns an interrupt into this exit code.
        return stop(interrupted, code) if code == _INTERRUPTED else code
    except _UsageError as error:
        # Without arguments typer prints the help and raises an empty complaint.
        return stop(error.format_message(), _WRONG_INPUT) if arguments else _WRONG_INPUT
    except (ValueError, OSError) as error:
        if os.environ.get("AUCUBA_DEBUG"):
            raise
        message = str(error) if isinstance(error, TableError) else in_options(str(error))
        return stop(message, _WRONG_INPUT)
    except (KeyboardInterrupt, typer.Abort):
        return stop(interrupted, _INTERRUPTED)
    except _Terminated as signalled:
        return stop("Terminated; nothing was written.", 128 + int(signalled.code or 0))
    except MemoryError:
        return stop("Out of memory; use fewer rows or columns.", _WRONG_INPUT)
    except Exception as error:
        if os.environ.get("AUCUBA_DEBUG"):
            raise
        return stop(
            f"{type(error).__name__}: {error}. This is a bug; set AUCUBA_DEBUG=1 for the traceback.",
            _INTERNAL,
        )


class _Terminated(SystemExit):
    """The process was asked to end; raised so that drafts are removed on the way out."""


@contextmanager
def _orderly_termination() -> Iterator[None]:
    """Signals that would end the process at once raise `_Terminated` instead."""

    def terminate(number: int, frame: Any) -> None:
        raise _Terminated(number)

    wanted = [getattr(signal, name, None) for name in ("SIGTERM", "SIGHUP")]
    # Only the main thread may set handlers, and those of a surrounding program stay.
    in_charge = threading.current_thread() is threading.main_thread()
    ours = [one for one in wanted if in_charge and one and signal.getsignal(one) == signal.SIG_DFL]
    for one in ours:
        signal.signal(one, terminate)
    try:
        yield
    finally:
        for one in ours:
            signal.signal(one, signal.SIG_DFL)
