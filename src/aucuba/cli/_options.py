"""The interface of every command: one options class each, whose fields are its arguments and options.

Fields are named after the parameters of the library. Nothing here imports NumPy, pandas or
scikit-learn, so that the help appears at once.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

from typer import Argument, Context, Option

if TYPE_CHECKING:
    from aucuba.cli._table_file import TableFile

Range = tuple[float, float]
_MODEL_FILE = Argument(metavar="MODEL", help="A file written by `aucuba fit`.")
_POSITIVE = ("--pos-label", "--positive")
_LABELS = Option(
    metavar="TABLE", help="For a changepoint model: a table of sequence, start, end and kind."
)
_SEED = Option("--random-state", min=0, help="Seed of all random draws.")


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of every command.

    ``given`` holds the names of the options that are on the command line.
    """

    json: Annotated[bool, Option("--json", help="Print one JSON object, errors included.")] = False
    given: frozenset[str] = frozenset()

    def refuse(self, reason: str, *names: str) -> None:
        """Raise an error for the first of the options that was given, such as "is for ..."."""
        for name in names:
            if name in self.given:
                raise ValueError(f"{spelled_as_option(name)} {reason}; leave it out.")


@dataclass(frozen=True, kw_only=True)
class FileOptions(Options):
    """A data file and how to read it."""

    data: Annotated[
        Path, Argument(metavar="DATA", help="A csv, tsv, parquet, svmlight or npz file.")
    ]
    format: Annotated[
        str | None,
        Option(metavar="NAME", help="Format of DATA, if its name does not tell: csv, npz, ..."),
    ] = None
    delimiter: Annotated[
        str | None, Option(metavar="CHARACTER", help="Separator of csv and tsv files, or tab.")
    ] = None
    decimal: Annotated[
        str | None,
        Option(metavar="CHARACTER", help="Decimal point of csv and tsv files.", show_default="."),
    ] = None
    encoding: Annotated[
        str | None,
        Option(
            metavar="NAME",
            help="Encoding of csv and tsv files, such as latin-1.",
            show_default="utf-8",
        ),
    ] = None

    def file(self) -> TableFile:
        """Check the options of the file, and that it is there."""
        from aucuba.cli._table_file import TableFile

        return TableFile.from_options(
            self.data, self.format, self.delimiter, self.decimal, self.encoding
        )


@dataclass(frozen=True, kw_only=True)
class RangeOptions(Options):
    """The range of false positive rates."""

    fpr_range: Annotated[
        Range | None,
        Option(
            metavar="LOW HIGH",
            help="The false positive rates that matter.",
            show_default="0 0.05, or those of the model",
        ),
    ] = None
    max_fpr: Annotated[
        float | None, Option(metavar="HIGH", help="Short for --fpr-range 0 HIGH.")
    ] = None

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

    min_tpr: Annotated[
        float | None,
        Option(
            metavar="LOW",
            help="The lowest true positive rate that matters.",
            show_default="0, or that of the model",
        ),
    ] = None

    def lowest_tpr(self, default: float = 0.0) -> float:
        """Read the lowest true positive rate, else take the default."""
        from aucuba._base._validation import check_fraction

        lowest = default if self.min_tpr is None else self.min_tpr
        return check_fraction(lowest, "--min-tpr", high_open=True)


@dataclass(frozen=True, kw_only=True)
class RowOptions(Options):
    """The columns that are not features."""

    target: Annotated[
        str | None,
        Option(
            metavar="COLUMN",
            help="Column of labels.",
            show_default="y, or that of the model or svmlight file",
        ),
    ] = None
    qid: Annotated[
        str | None,
        Option(metavar="COLUMN", help="Queries: only rows of the same query are compared."),
    ] = None
    sample_weight: Annotated[
        str | None,
        Option(metavar="COLUMN", help="Weights: a row of weight 3 counts as three rows."),
    ] = None


@dataclass(frozen=True, kw_only=True)
class ScoringOptions(FileOptions):
    """A data file for a saved model."""

    unknown: Annotated[
        str, Option(help="Categories that were not seen in training: error, or ignore.")
    ] = "error"

    @property
    def refuses_unknown(self) -> bool:
        """Whether a category that was not seen in training is an error."""
        from aucuba._base._validation import check_choice

        return check_choice(self.unknown, "--unknown", ("error", "ignore")) == "error"


@dataclass(frozen=True, kw_only=True)
class LabelledOptions(RowOptions, ScoringOptions):
    """A labelled data file for a saved model."""


@dataclass(frozen=True, kw_only=True)
class FitOptions(RowOptions, RegionOptions, FileOptions):
    """Train a model for a range of false positive rates and save it.

    Text columns become categories, dates become parts of the calendar, and missing values are imputed;
    the preprocessing is saved with the model.

    For --model changepoint DATA has one row per sample, with the columns sequence, value and
    optionally position or time; --labels are in the same unit.
    """

    out: Annotated[Path, Option(metavar="MODEL", help="The model file to write.")]
    pos_label: Annotated[
        str | None,
        Option(
            *_POSITIVE,
            metavar="LABEL",
            help="The positive label; all others are negative.",
            show_default="the larger of two numbers, or yes, true, positive, fraud",
        ),
    ] = None
    model: Annotated[
        str,
        Option(help="linear; stack: several models combined, slow and strong; or changepoint."),
    ] = "linear"
    surrogate: Annotated[
        str | None,
        Option(
            help="Loss of a linear model: direct, tight, structural, or aum for the whole curve.",
            show_default="direct",
        ),
    ] = None
    cv: Annotated[
        int | None,
        Option(
            metavar="FOLDS",
            help="Folds by which everything is chosen; 0: one fit with --C.",
            show_default="5, and up to 10 halvings",
        ),
    ] = None
    C: Annotated[
        float | None,
        Option("--C", help="Weight of the loss against the penalty, for --cv 0.", show_default="1"),
    ] = None
    max_iter: Annotated[
        int | None,
        Option(
            help="Largest number of iterations of a fit.",
            show_default="1000; 100 for aum and a single direct fit",
        ),
    ] = None
    drop: Annotated[
        list[str] | None,
        Option(metavar="COLUMN", help="A column to leave out; several as a,b or repeated."),
    ] = None
    category: Annotated[
        list[str] | None,
        Option(metavar="COLUMN", help="A column of categories that look like numbers."),
    ] = None
    promise: Annotated[
        str | None,
        Option(
            metavar="NAME=LIMIT",
            help="Hold out half of the rows and set a threshold that keeps fpr, tpr, precision or "
            "alerts, such as fpr=0.01.",
        ),
    ] = None
    confidence: Annotated[float, Option(help="Confidence of --promise.")] = 0.95
    probe: Annotated[
        bool, Option(help="Check quickly whether boosted trees would beat a linear model.")
    ] = True
    labels: Annotated[Path | None, _LABELS] = None
    max_segments: Annotated[
        int | None,
        Option(
            help="Largest number of segments of a signal, for --model changepoint.",
            show_default="20",
        ),
    ] = None
    loss: Annotated[
        str | None,
        Option(help="Loss of --model changepoint: l2, poisson or variance.", show_default="l2"),
    ] = None
    random_state: Annotated[int, _SEED] = 0


@dataclass(frozen=True, kw_only=True)
class PredictOptions(ScoringOptions):
    """Score the rows of a file, in chunks, so that it may be larger than memory.

    Writes the score of every row, its probability if the model has one, and the class at the threshold
    of training (score > 0). For a changepoint model it writes the changes: the first samples of new
    segments.
    """

    model: Annotated[Path, _MODEL_FILE]
    out: Annotated[Path, Option(metavar="SCORES.csv", help="The csv file to write; - is stdout.")]
    id: Annotated[
        list[str] | None,
        Option(metavar="COLUMN", help="A column to carry along; several as a,b or repeated."),
    ] = None
    escape_formulas: Annotated[
        bool,
        Option(
            "--escape-formulas",
            help="Put ' before text that a spreadsheet would take for a formula (=, +, -, @).",
        ),
    ] = False


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions(RegionOptions, LabelledOptions):
    """Measure a model on labelled rows, against logistic regression on the same columns.

    The file is read in chunks, and only two scores per row are kept; with --region-only, only the
    highest rows.
    """

    model: Annotated[Path, _MODEL_FILE]
    at: Annotated[
        list[str] | None,
        Option(
            metavar="NAME=VALUE",
            help="An operating point: fpr=, tpr= (or recall=), precision= or k=; or a measure, such "
            "as auc_at_k:k=100. May be repeated.",
        ),
    ] = None
    region_only: Annotated[
        bool,
        Option(
            "--region-only",
            help="Measure the range alone, keeping only the highest rows in memory.",
        ),
    ] = False
    capacity: Annotated[
        int | None,
        Option(
            metavar="ROWS",
            min=1,
            help="How many negatives --region-only keeps.",
            show_default="4 million",
        ),
    ] = None
    random_state: Annotated[int, _SEED] = 0


@dataclass(frozen=True, kw_only=True)
class CompareOptions(RegionOptions, LabelledOptions):
    """Compare models on the same labelled rows; differences are paired, to the first model.

    All models must have been trained for the same target, positive label and queries.
    """

    models: Annotated[list[Path], Argument(metavar="MODEL...", help="Two or more model files.")]
    random_state: Annotated[int, _SEED] = 0


@dataclass(frozen=True, kw_only=True)
class ReportOptions(RangeOptions, LabelledOptions):
    """Write one self-contained HTML page about a model on labelled rows.

    For a changepoint model DATA has the columns sequence, value and optionally position or time. For a
    ranker of graphs saved from Python it has the columns node, the labels (--target, else label) and
    the node features, and graph if there are several graphs.
    """

    model: Annotated[Path, _MODEL_FILE]
    out: Annotated[Path, Option(metavar="report.html", help="The page to write.")]
    labels: Annotated[Path | None, _LABELS] = None
    edges: Annotated[
        Path | None,
        Option(help="For a ranker of graphs: a table of source, target and edge features."),
    ] = None
    random_state: Annotated[int, _SEED] = 0


@dataclass(frozen=True, kw_only=True)
class MonitorOptions(FileOptions):
    """Check a promised rate on labelled rows as they arrive, batch after batch.

    broken: the rate exceeded its limit (false in at most 5 % of all streams, over any number of looks).
    ok: a constant rate lies within it. changed: it has risen, after a good history.
    """

    limit: Annotated[
        float | None,
        Option(help="The promised limit, such as 0.05.", show_default="that of --state"),
    ] = None
    rate: Annotated[
        str | None,
        Option(help="What was promised: fpr, tpr, precision or alerts.", show_default="fpr"),
    ] = None
    target: Annotated[str, Option(metavar="COLUMN", help="Column of true labels.")] = "y"
    flag: Annotated[str, Option(metavar="COLUMN", help="Column of predicted labels.")] = "predicted"
    pos_label: Annotated[str, Option(*_POSITIVE, metavar="LABEL", help="The positive label.")] = "1"
    batch: Annotated[
        str | None,
        Option(metavar="COLUMN", help="Rows with the same value form a batch, such as a day."),
    ] = None
    groups: Annotated[
        str | None,
        Option(metavar="COLUMN", help="Groups, such as patients: each counts once per batch."),
    ] = None
    state: Annotated[
        Path | None,
        Option(metavar="FILE.json", help="Continue from this file if it exists, and write it."),
    ] = None
    confidence: Annotated[
        float | None,
        Option(help="One minus the probability of ever giving a false alarm.", show_default="0.95"),
    ] = None
    average_run_length: Annotated[
        float | None,
        Option(
            help="Least average number of counted rows between false signals of a change.",
            show_default="100000",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class InfoOptions(Options):
    """Print what a model file holds and which columns it needs, without data."""

    model: Annotated[Path, _MODEL_FILE]


@dataclass(frozen=True, kw_only=True)
class DemoOptions(Options):
    """Train models and rivals on generated rows, compare them, and write the reports."""

    output: Annotated[Path, Option(metavar="FOLDER", help="Folder for the reports.")] = Path(
        "demo_output"
    )
    open: Annotated[bool, Option("--open", help="Open the report in a browser.")] = False


def as_command(options: type[Options], run: Callable[[Any], None]) -> Callable[..., None]:
    """Make the function that typer calls: a parameter per field, those of the class itself first."""
    hints = get_type_hints(options, include_extras=True)
    default = {one.name: one.default for one in fields(options)}
    names = [name for one in options.__mro__ for name in inspect.get_annotations(one)]
    parameters = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if default[name] is MISSING else default[name],
            annotation=hints[name],
        )
        for name in names
        if name != "given"
    ]
    context = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=Context)

    def call(context: Context, **values: Any) -> None:
        sources = {name: context.get_parameter_source(name) for name in values}
        given = {name for name, one in sources.items() if one and one.name == "COMMANDLINE"}
        run(options(**values, given=frozenset(given)))

    command: Any = call
    command.__doc__ = options.__doc__
    command.__signature__ = inspect.Signature([context, *parameters])
    command.__annotations__ = {"context": Context, **hints}
    return call


def spelled_as_option(name: str) -> str:
    """Spell a parameter as an option: ``max_iter`` is ``--max-iter``."""
    return f"--{name.replace('_', '-')}"
