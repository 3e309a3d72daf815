"""Base of the commands' options classes: groups of options, and how a class becomes a command.

Fields are named after the parameters of the library. Nothing here imports NumPy, pandas or
scikit-learn, so that the help appears at once.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, get_type_hints

from typer import Argument, Context, Option

if TYPE_CHECKING:
    from aucuba.cli._table_file import TableFile

Range = tuple[float, float]
_NUMBER = r"(\d*\.?\d+(?:e[-+]?\d+)?)"
_SHARES = re.compile(f"{_NUMBER}(?:-{_NUMBER})?")
# Groups of options in the order of the help.
GROUPS = ("Options", "Columns", "Region", "Model", "Promise", "Signals", "File")


def option(
    help: str,
    metavar: str | None = None,
    *,
    names: tuple[str, ...] = (),
    default: Any = None,
    shown: str | bool = True,
    min: float | None = None,
    group: str = "Options",
) -> Any:
    """Declare an option in a ``group`` of the help, which shows ``shown`` if the default is None."""
    declared = Option(
        *names, help=help, metavar=metavar, show_default=shown, min=min, rich_help_panel=group
    )
    return field(default=default, metadata={"typer": declared})


def argument(help: str, metavar: str) -> Any:
    return field(metadata={"typer": Argument(metavar=metavar, help=help)})


switch = partial(option, default=False)
of_columns, of_region, of_model, of_promise, of_signals, of_file = (
    partial(option, group=name) for name in GROUPS[1:]
)


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of every command.

    ``given`` holds the names of the options on the command line.
    """

    json: bool = switch("Print one JSON object, errors included.")
    given: frozenset[str] = frozenset()
    # Command lines at the end of the help.
    examples: ClassVar[tuple[str, ...]] = ()

    def refuse(self, reason: str, *names: str) -> None:
        """Raise an error for the first of these options that was given; ``reason`` follows its name."""
        for name in names:
            if name in self.given:
                raise ValueError(f"{spelled_as_option(name)} {reason}; leave it out.")


@dataclass(frozen=True, kw_only=True)
class FileOptions(Options):
    """A data file and how to read it."""

    data: Path = argument("A csv, tsv, parquet, svmlight or npz file.", "DATA")
    format: str | None = of_file(
        "Format of DATA if the file name does not show it: csv, npz, ...", "NAME"
    )
    delimiter: str | None = of_file("Separator of csv and tsv files, or tab.", "CHARACTER")
    decimal: str | None = of_file("Decimal point of csv and tsv files.", "CHARACTER", shown=".")
    encoding: str | None = of_file(
        "Encoding of csv and tsv files, such as latin-1.", "NAME", shown="utf-8"
    )

    def file(self) -> TableFile:
        """Check the options of the file, and that it is there."""
        from aucuba.cli._table_file import TableFile

        return TableFile.from_options(
            self.data, self.format, self.delimiter, self.decimal, self.encoding
        )


@dataclass(frozen=True, kw_only=True)
class RangeOptions(Options):
    """The range of false positive rates."""

    fpr_range: Range | None = of_region(
        "The false positive rates that matter.", "LOW HIGH", shown="0 0.05, or those of the model"
    )
    max_fpr: float | None = of_region("Short for --fpr-range 0 HIGH.", "HIGH")

    def chosen_range(self, default: Range = (0.0, 0.05)) -> Range:
        """Read the range from either option, else take the default."""
        from aucuba._base._validation import check_fpr_range, check_fraction

        if self.fpr_range is not None and self.max_fpr is not None:
            raise ValueError("--max-fpr is short for --fpr-range 0 HIGH; give one of the two.")
        if self.max_fpr is not None:
            return 0.0, check_fraction(self.max_fpr, "--max-fpr", low_open=True)
        chosen = default if self.fpr_range is None else self.fpr_range
        return check_fpr_range(chosen, "--fpr-range")


@dataclass(frozen=True, kw_only=True)
class RegionOptions(RangeOptions):
    """The region of the ROC curve."""

    min_tpr: float | None = of_region(
        "The lowest true positive rate that matters.", "LOW", shown="0, or that of the model"
    )

    def lowest_tpr(self, default: float = 0.0) -> float:
        """Read the lowest true positive rate, else take the default."""
        from aucuba._base._validation import check_fraction

        lowest = default if self.min_tpr is None else self.min_tpr
        return check_fraction(lowest, "--min-tpr", high_open=True)


@dataclass(frozen=True, kw_only=True)
class PrevalenceOptions(Options):
    """The prevalence for which rates are computed, or promised."""

    target_prevalence: str | None = of_region(
        "Share of positives at which precision and flagged rows are shown, such as 0.005 or "
        "0.002-0.01. Within each class, scores are assumed to be distributed as in DATA.",
        "SHARE",
        shown="that of DATA",
    )

    @property
    def prevalence(self) -> Range | None:
        """The prevalence, or its ends; None for that of the rows."""
        return read_shares(self.target_prevalence)


@dataclass(frozen=True, kw_only=True)
class RowOptions(Options):
    """The columns that are not features."""

    target: str | None = of_columns(
        "Column of labels.", "COLUMN", shown="y, or that of the model or svmlight file"
    )
    qid: str | None = of_columns("Queries: only rows of the same query are compared.", "COLUMN")
    sample_weight: str | None = of_columns(
        "Weights: a row of weight 3 counts as three rows.", "COLUMN"
    )


@dataclass(frozen=True, kw_only=True)
class ScoringOptions(FileOptions):
    """A data file for a saved model."""

    unknown: str = of_file(
        "What to do with categories not seen in training: error or ignore.", "NAME", default="error"
    )

    @property
    def refuses_unknown(self) -> bool:
        """Whether a category that was not seen in training is an error."""
        from aucuba._base._validation import check_choice

        return check_choice(self.unknown, "--unknown", ("error", "ignore")) == "error"


@dataclass(frozen=True, kw_only=True)
class LabelledOptions(RowOptions, ScoringOptions):
    """A labelled data file for a saved model."""


@dataclass(frozen=True, kw_only=True)
class SegmentOptions(Options):
    """The column of segments."""

    by: str | None = of_columns(
        "Segments, such as countries: measure the range in each of them too, with intervals that hold "
        "jointly. The column may be a feature.",
        "COLUMN",
    )


def as_command(options: type[Options], run: Callable[[Any], None]) -> Callable[..., None]:
    """Make the function that typer calls, with a parameter per field.

    Within a group, the help lists required options, rows and region, and then the command's own.
    """
    types = get_type_hints(options)
    declared = {one.name: one for one in fields(options) if "typer" in one.metadata}
    for option in declared.values():
        if option.default is False:
            # By default typer would add a --no- form.
            option.metadata["typer"].param_decls = (spelled_as_option(option.name),)
    first = (RowOptions, RangeOptions, RegionOptions)
    parameters = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if one.default is MISSING else one.default,
            annotation=Annotated[types[name], one.metadata["typer"]],
        )
        for cls in sorted(options.__mro__, key=lambda cls: first.index(cls) if cls in first else 3)
        for name in inspect.get_annotations(cls)
        if (one := declared.get(name)) is not None
    ]
    parameters.sort(key=lambda one: one.default is not inspect.Parameter.empty)
    context = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=Context)

    def call(context: Context, **values: Any) -> None:
        sources = {name: context.get_parameter_source(name) for name in values}
        given = {name for name, one in sources.items() if one and one.name == "COMMANDLINE"}
        run(options(**values, given=frozenset(given)))

    command: Any = call
    command.__doc__ = options.__doc__
    command.__signature__ = inspect.Signature([context, *parameters])
    command.__annotations__ = {"context": Context, **types}
    return call


def read_shares(text: str | None) -> Range | None:
    """Read ``--target-prevalence``: a share, or two joined by a hyphen."""
    from aucuba._roc._prevalence import target_range

    if text is None:
        return None
    found = _SHARES.fullmatch(text)
    if found is None:
        raise ValueError(
            "--target-prevalence must read SHARE or LOW-HIGH, such as 0.005 or 0.002-0.01, got "
            f"{text!r}."
        )
    return target_range([float(one) for one in found.groups(default=found[1])])


def spelled_as_option(name: str) -> str:
    """Spell a parameter as an option: ``max_iter`` is ``--max-iter``."""
    return f"--{name.replace('_', '-')}"
