"""The program: its commands, and how errors, warnings and interrupts are reported.

Nothing here or in the modules of the commands imports NumPy, pandas or scikit-learn before a command
runs, so that the help appears at once.
"""

from __future__ import annotations

import os
import signal
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import typer

from aucuba import __version__
from aucuba.cli._compare import compare
from aucuba.cli._console import print_errors, print_note
from aucuba.cli._errors import TableError
from aucuba.cli._evaluate import evaluate
from aucuba.cli._fit import fit
from aucuba.cli._info import demo_command, info
from aucuba.cli._monitor import monitor
from aucuba.cli._options import RENAMED
from aucuba.cli._predict import predict
from aucuba.cli._report import report
from aucuba.cli._wording import spelled_as_options, warning_text

app = typer.Typer(
    name="aucuba",
    help="Learn and measure scores where the ROC curve matters.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for command in (fit, predict, evaluate, compare, report, monitor, info):
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


def run(arguments: Sequence[str], demo: Callable[..., None] | None = None) -> int:
    """Run one command; every foreseeable failure is one line on stderr."""
    if demo is not None and not any(one.name == "demo" for one in app.registered_commands):
        app.command("demo")(demo_command(demo))
    with _orderly_termination(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        code = _guarded(list(arguments))
    if code == 0:
        for message in dict.fromkeys(map(warning_text, caught)):
            print_note(message)
    return code


def _guarded(arguments: list[str]) -> int:
    stop = partial(print_errors, as_json="--json" in arguments)
    interrupted = "Interrupted; nothing was written."
    try:
        code = int(app(arguments, prog_name="aucuba", standalone_mode=False) or 0)
        if not arguments:
            return _WRONG_INPUT
        # Typer itself turns an interrupt into this exit code.
        return stop([interrupted], code) if code == _INTERRUPTED else code
    except _UsageError as error:
        # Without arguments typer prints the help and raises an empty complaint.
        return stop([_usage(error)], _WRONG_INPUT) if arguments else _WRONG_INPUT
    except TableError as error:
        return stop(error.problems, _WRONG_INPUT)
    except (ValueError, OSError) as error:
        if os.environ.get("AUCUBA_DEBUG"):
            raise
        return stop([spelled_as_options(str(error))], _WRONG_INPUT)
    except (KeyboardInterrupt, typer.Abort):
        return stop([interrupted], _INTERRUPTED)
    except _Terminated as signalled:
        return stop(["Terminated; nothing was written."], 128 + int(signalled.code or 0))
    except MemoryError:
        return stop(["Out of memory; use fewer rows or columns."], _WRONG_INPUT)
    except Exception as error:
        if os.environ.get("AUCUBA_DEBUG"):
            raise
        reason = f"{type(error).__name__}: {error}"
        remedy = "This is a bug; set AUCUBA_DEBUG=1 for the traceback."
        return stop([f"{reason}. {remedy}"], _INTERNAL)


def _usage(error: Any) -> str:
    """Describe a wrong command line; an option of an earlier version is told its new name."""
    option = getattr(error, "option_name", None)
    if option in RENAMED:
        return f"{option} is called {RENAMED[option]} now, as in the library."
    return str(error.format_message())


class _Terminated(SystemExit):
    """Raised when the process is asked to end, so that drafts are removed on the way out."""


@contextmanager
def _orderly_termination() -> Iterator[None]:
    """Raise `_Terminated` for signals that would end the process at once."""

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
