"""The program: its commands, and how errors, warnings and interrupts are reported.

A command's module, and with it NumPy, pandas and scikit-learn, is imported only when the command runs,
so the help appears at once.
"""

from __future__ import annotations

import os
import signal
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand

from aucuba import __version__
from aucuba._base._files import noting_what_is_written
from aucuba.cli import _command_options, _options
from aucuba.cli._console import (
    TableError,
    print_errors,
    print_note,
    spelled_as_options,
    warning_text,
)

app = typer.Typer(
    name="aucuba",
    help="Learn and measure scores where the ROC curve matters.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    # Panels would leave a third of 80 columns for the text of an option.
    rich_markup_mode=None,
)
# Each has an options class, such as `FitOptions`, and a module, such as `_fit_command`.
_COMMANDS = ("fit", "predict", "evaluate", "compare", "report", "monitor", "info", "export")
# The base class of all usage errors, in whichever module typer keeps it.
_UsageError: Any = typer.BadParameter.__mro__[1]
_INTERNAL = 1
_WRONG_INPUT = 2
_INTERRUPTED = 130


def _run_command(name: str, options: _options.Options) -> None:
    import_module(f"aucuba.cli._{name}_command").run(options)


class _GroupedHelp(TyperCommand):
    """A command whose help lists options by group, and examples last, in plain text."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        groups: dict[str, list[Any]] = {"Arguments": [], **{name: [] for name in _options.GROUPS}}
        for one in self.get_params(ctx):
            argument = one.param_type_name == "argument"
            group = "Arguments" if argument else getattr(one, "rich_help_panel", None) or "Options"
            groups[group].append(one.get_help_record(ctx))
        for name, records in groups.items():
            if records:
                with formatter.section(name):
                    formatter.write_dl(records)


def _add(name: str, options: type[_options.Options], run: Callable[[Any], None]) -> None:
    # \b at the start of a paragraph keeps its line breaks.
    lines = "\n".join(f"  {line}" for line in options.examples)
    examples = f"\b\nExamples:\n{lines}" if lines else None
    app.command(name, cls=_GroupedHelp, epilog=examples)(_options.as_command(options, run))


for command in _COMMANDS:
    _add(
        command,
        getattr(_command_options, f"{command.title()}Options"),
        partial(_run_command, command),
    )


@app.callback(invoke_without_command=True)
def _program(version: bool = typer.Option(False, "--version", help="Print the version.")) -> None:
    if version:
        typer.echo(f"aucuba {__version__}")
        raise typer.Exit


def run(arguments: Sequence[str], demo: Callable[[Path, bool, bool], None] | None = None) -> int:
    """Run one command; every foreseeable failure is one line on stderr."""
    if demo is not None and not any(one.name == "demo" for one in app.registered_commands):
        _add(
            "demo",
            _command_options.DemoOptions,
            lambda given: demo(given.output, given.json, given.open),
        )
    words, stop = list(arguments), partial(print_errors, as_json="--json" in arguments)
    with _orderly_termination() as signals, noting_what_is_written() as written:

        def stop_unless_signalled(messages: list[str], code: int) -> int:
            # Compiled code may turn the exception of a signal into another error.
            if signals:
                raise signals[0]
            return stop(messages, code)

        try:
            code = _guarded(words, stop_unless_signalled)
        except (KeyboardInterrupt, typer.Abort):
            code = _INTERRUPTED
        except _Terminated as signalled:
            return stop([f"Terminated; {written}."], 128 + int(signalled.code or 0))
        # Typer itself turns an interrupt into this exit code.
        return stop([f"Interrupted; {written}."], code) if code == _INTERRUPTED else code


def _guarded(arguments: list[str], stop: Callable[[list[str], int], int]) -> int:
    debug = bool(os.environ.get("AUCUBA_DEBUG"))
    try:
        return _noting_warnings(arguments)
    except _UsageError as error:
        return stop([error.format_message()], _WRONG_INPUT)
    except TableError as error:
        return stop(error.problems, _WRONG_INPUT)
    except (ValueError, OSError) as error:
        if debug:
            raise
        return stop([spelled_as_options(str(error))], _WRONG_INPUT)
    except typer.Abort:
        # It is a RuntimeError.
        raise
    except MemoryError:
        return stop(["Out of memory; use fewer rows or columns."], _WRONG_INPUT)
    except Exception as error:
        if debug:
            raise
        reason = f"{type(error).__name__}: {error}"
        remedy = "This is a bug; set AUCUBA_DEBUG=1 for the traceback."
        return stop([f"{reason}. {remedy}"], _INTERNAL)


def _noting_warnings(arguments: list[str]) -> int:
    """Run the command, and print its warnings if it ends well."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        # Releases of typer differ in what they do without arguments.
        code = int(app(arguments or ["--help"], prog_name="aucuba", standalone_mode=False) or 0)
    if code == 0:
        for message in dict.fromkeys(map(warning_text, caught)):
            print_note(message)
    return code if arguments else _WRONG_INPUT


class _Terminated(SystemExit):
    """Raised when the process is asked to end, so that drafts are removed on the way out."""


@contextmanager
def _orderly_termination() -> Iterator[list[BaseException]]:
    """Raise `_Terminated` for signals that would end the process at once; yield what was raised."""
    raised: list[BaseException] = []

    def terminate(number: int, frame: Any) -> None:
        is_interrupt = number == signal.SIGINT
        raised.append(KeyboardInterrupt() if is_interrupt else _Terminated(number))
        raise raised[-1]

    wanted = [getattr(signal, name, None) for name in ("SIGTERM", "SIGHUP", "SIGINT")]
    usual = (signal.SIG_DFL, signal.default_int_handler)
    # Only the main thread may set handlers, and those of a surrounding program stay.
    in_charge = threading.current_thread() is threading.main_thread()
    ours = {one: signal.getsignal(one) for one in wanted if in_charge and one}
    ours = {one: before for one, before in ours.items() if before in usual}
    for one in ours:
        signal.signal(one, terminate)
    try:
        yield raised
    finally:
        for one, before in ours.items():
            signal.signal(one, before)
