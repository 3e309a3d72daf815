"""Output of the program: results on stdout; errors, notes and progress on stderr.

Nothing here imports NumPy or pandas, so the help appears at once.
"""

from __future__ import annotations

import difflib
import json
import math
import os
import re
import shlex
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from aucuba._base._progress_bar import ProgressBar
from aucuba.cli._options import spelled_as_option

# Shorter work needs no progress bar.
_PATIENCE_S = 1.0
# Parameters that are also English words.
_WORDS = ("loss", "groups", "time")
# Parameters of the library that are options here, spelled alike.
PARAMETERS = (
    *("C", "cv", "fpr_range", "max_fdr", "max_fpr", "max_iter", "max_segments", "min_tpr"),
    *("pos_label", "qid", "random_state", "sample_weight", *_WORDS),
)
# With a value, a parameter cannot be a word.
_WITH_VALUE = re.compile(rf"\b({'|'.join(PARAMETERS)})=(['\"]?)([\w.+-]*\w)\2")
_ALONE = re.compile(rf"(?<![\w-])({'|'.join(set(PARAMETERS) - {*_WORDS})})\b(?!=)")


def print_errors(messages: list[str], code: int, *, as_json: bool) -> int:
    """Print one line per error on stderr, and with JSON one object on stdout; return the exit code."""
    lines = [" ".join(message.split()) for message in messages]
    for line in lines:
        sys.stderr.write(f"error: {line}\n")
    if as_json:
        emit({"error": " ".join(lines)}, as_json=True)
    return code


def print_note(message: str) -> None:
    """Print a warning or remark, one line on stderr."""
    sys.stderr.write(f"note: {' '.join(message.split())}\n")


def emit(result: Mapping[str, Any], *shown: Any, as_json: bool) -> None:
    """Print the result as one JSON object, or the lines and tables ``shown`` to a person."""
    with stdout_of_a_reader() as stdout:
        if as_json:
            stdout.write(json.dumps(_as_json_types(result), ensure_ascii=False) + "\n")
            return
        console = _Console(file=stdout, highlight=False)
        # A pipe has no width; a table cut at 80 columns would lose its numbers.
        console.width = max(console.width, 120)
        for item in shown:
            console.print(item, markup=False) if isinstance(item, str) else console.print(item)


@contextmanager
def stdout_of_a_reader() -> Iterator[TextIO]:
    """Yield stdout, and end the program quietly when its reader closes the pipe (``| head``)."""
    try:
        yield sys.stdout
        sys.stdout.flush()
    except BrokenPipeError:
        # The interpreter flushes stdout once more when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit from None


class _Console(Console):
    """A console that raises an error when its pipe is closed, instead of exiting."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


class Grid(Table):
    """A table with a column of names and right-aligned numbers; without a header, of text.

    Cells are printed as they are: square brackets in the name of a column are not markup.
    """

    def __init__(self, *header: str) -> None:
        super().__init__(box=None, pad_edge=False, header_style="bold", show_header=bool(header))
        for index, name in enumerate(header):
            justify: Any = "left" if index == 0 else "right"
            self.add_column(Text(name), justify=justify, overflow="fold")

    def add_line(self, *cells: Any) -> None:
        """Add a row; pass numbers with decimals as text."""
        self.add_row(*(Text(str(cell)) for cell in cells))


def with_interval(interval: Mapping[str, Any]) -> str:
    """Write a value with its confidence interval."""
    return f"{interval['value']:.4f} [{interval['low']:.4f}, {interval['high']:.4f}]"


def signed_with_interval(comparison: Mapping[str, Any]) -> str:
    """Write a difference with its confidence interval."""
    low, high = comparison["low"], comparison["high"]
    return f"{comparison['difference']:+.4f} [{low:+.4f}, {high:+.4f}]"


@contextmanager
def progress_bar(description: str, total: float | None = None) -> Iterator[ProgressBar]:
    """Show a bar in a terminal if the work takes over a second, and erase it at the end."""
    bar = ProgressBar(description, total, patience=_PATIENCE_S)
    try:
        yield bar
    finally:
        bar.close()


def fit_with_progress(bar: ProgressBar, estimator: Any, *rows: Any, **fit_params: Any) -> None:
    """Fit an estimator and show its iterations, where scikit-learn has callbacks."""
    from aucuba._base._callbacks import HAS_CALLBACKS

    if HAS_CALLBACKS:
        estimator.set_callbacks(FitProgress(bar))
    try:
        estimator.fit(*rows, **fit_params)
    finally:
        if HAS_CALLBACKS:
            estimator.set_callbacks()


class FitProgress:
    """Reports the iterations of a fit to a bar, through ``sklearn.callback``."""

    def __init__(self, bar: ProgressBar) -> None:
        self._bar = bar

    def setup(self, estimator: Any, context: Any) -> None:
        self._bar.total = context.max_subtasks

    def on_fit_task_begin(self, estimator: Any, context: Any, **rest: Any) -> None:
        """Do nothing: the bar moves when an iteration ends."""

    def on_fit_task_end(self, estimator: Any, context: Any, **rest: Any) -> bool:
        if context.parent is not None:
            # The number of steps may become known during the fit.
            self._bar.total = context.parent.max_subtasks
            self._bar.advance("" if context.task_name == "iteration" else context.task_name)
        return False

    def teardown(self, estimator: Any, context: Any) -> None:
        """Do nothing: whoever made the bar closes it."""


def _as_json_types(value: Any) -> Any:
    """Convert to JSON's types; numbers that are not finite become null."""
    if isinstance(value, Mapping):
        return {str(key): _as_json_types(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_as_json_types(entry) for entry in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def spelled_as_options(message: str) -> str:
    """Spell every parameter in a message as its option: ``max_iter`` is ``--max-iter``.

    Examples
    --------
    >>> from aucuba.cli._console import spelled_as_options
    >>> spelled_as_options("Use loss='tight' or PartialAUCClassifier, or widen fpr_range.")
    'Use --loss tight or --model linear, or widen --fpr-range.'
    """
    message = re.sub(r"\bPartialAUCClassifier\b", "--model linear", message)
    message = _WITH_VALUE.sub(lambda found: f"{spelled_as_option(found[1])} {found[3]}", message)
    return _ALONE.sub(lambda found: spelled_as_option(found[1]), message)


def warning_text(warning: warnings.WarningMessage) -> str:
    """Format a warning with the remedies that the command line offers."""
    from aucuba._base._warnings import Advice

    said = warning.message
    text = said.text({*PARAMETERS, "model"}) if isinstance(said, Advice) else str(said)
    return spelled_as_options(text)


class TableError(ValueError):
    """A data file that cannot be used: one sentence per problem.

    Parameters
    ----------
    *problems : str
    """

    def __init__(self, *problems: str) -> None:
        super().__init__(" ".join(problems))
        self.problems = list(problems)


class Problems:
    """Collects the problems of a file, so that one run names them all.

    Examples
    --------
    >>> from aucuba.cli._console import Problems, TableError
    >>> problems = Problems()
    >>> for name in ("a", "b"):
    ...     with problems.collected():
    ...         raise TableError(f"The column {name!r} is empty.")
    >>> problems.raise_any()
    Traceback (most recent call last):
        ...
    aucuba.cli._console.TableError: The column 'a' is empty. The column 'b' is empty.
    """

    def __init__(self) -> None:
        self._found: list[str] = []

    @contextmanager
    def collected(self) -> Iterator[None]:
        """Keep the table error of the block for later."""
        try:
            yield
        except TableError as error:
            self._found += error.problems

    def raise_any(self) -> None:
        """Raise one error for all collected problems, if there are any."""
        if self._found:
            raise TableError(*dict.fromkeys(self._found))


def pasted(option: str, value: str) -> str:
    """Write an option and its value so that they can be pasted into a shell.

    Examples
    --------
    >>> from aucuba.cli._console import pasted
    >>> print(pasted("--drop", "a b"), pasted("--drop", "-x"), pasted("--drop", "age"))
    --drop 'a b' --drop=-x --drop age
    """
    return f"{option}{'=' if value.startswith('-') else ' '}{shlex.quote(value)}"


def suggestion(name: str, names: Sequence[str]) -> str:
    """Suggest the column that was probably meant, or else list the columns."""
    folded = {one.casefold(): one for one in names}
    close = difflib.get_close_matches(str(name).casefold(), folded, n=1, cutoff=0.6)
    if close:
        return f"did you mean {folded[close[0]]!r}?"
    more = ", ..." if len(names) > 8 else ""
    return f"the columns are {', '.join(names[:8])}{more or '.'}"
