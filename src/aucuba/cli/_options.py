"""The interface of every command: one options class each, whose fields are its arguments and options.

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


def _option(
    help: str,
    metavar: str | None = None,
    *,
    names: tuple[str, ...] = (),
    default: Any = None,
    shown: str | bool = True,
    min: float | None = None,
    group: str = "Options",
) -> Any:
    """Declare an option of a ``group`` of the help, which shows ``shown`` for a default of None."""
    declared = Option(
        *names, help=help, metavar=metavar, show_default=shown, min=min, rich_help_panel=group
    )
    return field(default=default, metadata={"typer": declared})


def _argument(help: str, metavar: str) -> Any:
    return field(metadata={"typer": Argument(metavar=metavar, help=help)})


_switch = partial(_option, default=False)
_of_columns, _of_region, _of_model, _of_promise, _of_signals, _of_file = (
    partial(_option, group=name) for name in GROUPS[1:]
)


def _model_file() -> Any:
    return _argument("A file written by `aucuba fit`.", "MODEL")


def _labels() -> Any:
    return _of_signals(
        "For a changepoint model: a table of sequence, start, end and kind.", "TABLE"
    )


def _points() -> Any:
    return _option(
        "An operating point: fpr=, tpr= (or recall=), precision= or k=; or a measure, such as "
        "auc_at_k:k=100. May be repeated.",
        "NAME=VALUE",
    )


def _seed() -> Any:
    return _option("Seed of all random draws.", "NUMBER", default=0, min=0)


_POSITIVE = ("--pos-label", "--positive")


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of every command.

    ``given`` holds the names of the options that are on the command line.
    """

    json: bool = _switch("Print one JSON object, errors included.")
    given: frozenset[str] = frozenset()
    # Command lines at the end of the help.
    examples: ClassVar[tuple[str, ...]] = ()

    def refuse(self, reason: str, *names: str) -> None:
        """Raise an error for the first of the options that was given, such as "is for ..."."""
        for name in names:
            if name in self.given:
                raise ValueError(f"{spelled_as_option(name)} {reason}; leave it out.")


@dataclass(frozen=True, kw_only=True)
class FileOptions(Options):
    """A data file and how to read it."""

    data: Path = _argument("A csv, tsv, parquet, svmlight or npz file.", "DATA")
    format: str | None = _of_file(
        "Format of DATA if the file name does not show it: csv, npz, ...", "NAME"
    )
    delimiter: str | None = _of_file("Separator of csv and tsv files, or tab.", "CHARACTER")
    decimal: str | None = _of_file("Decimal point of csv and tsv files.", "CHARACTER", shown=".")
    encoding: str | None = _of_file(
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

    fpr_range: Range | None = _of_region(
        "The false positive rates that matter.", "LOW HIGH", shown="0 0.05, or those of the model"
    )
    max_fpr: float | None = _of_region("Short for --fpr-range 0 HIGH.", "HIGH")

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

    min_tpr: float | None = _of_region(
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

    target_prevalence: str | None = _of_region(
        "Share of positives for precision and flagged rows, such as 0.005 or 0.002-0.01, if not that "
        "of DATA; scores within each class are taken to be as in DATA.",
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

    target: str | None = _of_columns(
        "Column of labels.", "COLUMN", shown="y, or that of the model or svmlight file"
    )
    qid: str | None = _of_columns("Queries: only rows of the same query are compared.", "COLUMN")
    sample_weight: str | None = _of_columns(
        "Weights: a row of weight 3 counts as three rows.", "COLUMN"
    )


@dataclass(frozen=True, kw_only=True)
class ScoringOptions(FileOptions):
    """A data file for a saved model."""

    unknown: str = _of_file(
        "What to do with categories not seen in training: error or ignore.", default="error"
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
class FitOptions(RowOptions, RegionOptions, FileOptions):
    """Train a model for a range of false positive rates and save it.

    Text columns become categories, dates become parts of the calendar, and missing values are imputed;
    the preprocessing is saved with the model.

    For --model changepoint DATA has one row per sample, with the columns sequence, value and
    optionally position or time; --labels are in the same unit.
    """

    examples = (
        "aucuba fit train.csv --target fraud --max-fpr 0.01 --out model.aucuba",
        "aucuba fit train.csv --target fraud --model stack --drop id --out m.aucuba",
        "aucuba fit train.csv --target fraud --promise fpr=0.01 --time date --out m",
        "aucuba fit train.csv --target fraud --max-fdr 0.1 --out m",
    )
    out: Path = _option("The model file to write.", "MODEL", default=MISSING)
    pos_label: str | None = _of_columns(
        "The positive label; all others are negative.",
        "LABEL",
        names=_POSITIVE,
        shown="the larger of two numbers, or yes, true, positive, fraud",
    )
    model: str = _of_model(
        "linear; svc: convex losses; aum: for the whole curve; scorecard: a few conditions with whole "
        "points; stack: several models combined, slow and strong; outliers: an isolation forest of the "
        "negative rows, with --promise; or changepoint.",
        "NAME",
        default="linear",
    )
    loss: str | None = _of_model(
        "Loss of --model svc: structural, tight or tight_dc; of --model changepoint: l2, poisson or "
        "variance.",
        "NAME",
        shown="structural; l2",
    )
    cv: int | None = _of_model(
        "Number of cross-validation folds; 0 fits once, with --C.",
        "FOLDS",
        shown="5, and up to 10 halvings",
    )
    C: float | None = _of_model(
        "Weight of the loss against the penalty, for --cv 0.", "NUMBER", names=("--C",), shown="1"
    )
    max_iter: int | None = _of_model(
        "Largest number of iterations of a fit.",
        "NUMBER",
        shown="1000 for svc; 100 for aum and, with --cv 0, linear",
    )
    max_items: int = _of_model(
        "Most conditions on the card of --model scorecard.", "COUNT", default=5, min=1
    )
    drop: list[str] | None = _of_columns(
        "A column to leave out; several as a,b or repeated.", "COLUMN"
    )
    category: list[str] | None = _of_columns(
        "A column of categories that look like numbers.", "COLUMN"
    )
    promise: str | None = _of_promise(
        "Hold out half of the rows and set a threshold that keeps fpr, tpr, precision or "
        "alerts, such as fpr=0.01.",
        "NAME=LIMIT",
    )
    triage: str | None = _of_promise(
        "Hold out half of the rows and set two thresholds: block (limit fpr or ppv), clear (limit tpr "
        "or npv), review between; such as fpr=0.01,tpr=0.95.",
        "LIMITS",
    )
    max_fdr: float | None = _of_promise(
        "Hold out half of the rows; predict then takes each file as one batch and selects rows of "
        "which at most this fraction is false on average.",
        "FRACTION",
    )
    confidence: float | None = _of_promise(
        "Confidence of the promise; with --max-fdr, for all later batches.",
        "NUMBER",
        shown="0.95; for --max-fdr on average",
    )
    target_prevalence: str | None = _of_promise(
        "For --promise precision= and --triage with ppv or npv: the share of positives at which it is "
        "promised, such as 0.005 or 0.002-0.01.",
        "SHARE",
        shown="that of DATA",
    )
    groups: str | None = _of_columns(
        "Groups, such as patients; no split separates the rows of a group.", "COLUMN"
    )
    time: str | None = _of_columns(
        "Times, as numbers or dates; models are tested on later rows than they learned from.",
        "COLUMN",
    )
    probe: bool = _of_model(
        "Check quickly whether boosted trees would beat a linear model.", default=True
    )
    labels: Path | None = _labels()
    max_segments: int | None = _of_signals(
        "Largest number of segments of a signal, for --model changepoint.", "NUMBER", shown="20"
    )
    random_state: int = _seed()


@dataclass(frozen=True, kw_only=True)
class PredictOptions(ScoringOptions):
    """Score the rows of a file, which may be larger than memory.

    Writes the score of every row, its probability if the model has one, and the class predicted at the
    threshold set in training (score > 0). A model of --triage adds the action: block, clear or review.
    A model of --max-fdr reads the file twice and adds p-values; its score has no threshold, and it
    selects rows by comparing them with the others of the file. For a changepoint model it writes the
    changes: the first samples of new segments.
    """

    examples = (
        "aucuba predict model.aucuba new.csv --id customer --out scores.csv",
        "aucuba predict model.aucuba new.parquet --id customer --top 100 --out -",
        "aucuba predict model.aucuba new.csv --top 20 --reasons 3 --out why.csv",
    )
    model: Path = _model_file()
    out: Path = _option("The csv file to write; - is stdout.", "SCORES.csv", default=MISSING)
    id: list[str] | None = _option("A column to copy; several as a,b or repeated.", "COLUMN")
    top: int | None = _option(
        "Write only this many rows: those with the highest scores, highest first.", "ROWS", min=1
    )
    sort: bool = _switch("Write all rows, highest score first; keeps them in memory.")
    reasons: int | None = _option(
        "Write this many reasons per row: the columns that raise its score most, compared with a "
        "typical row of training. Exact and quick for linear models; for others use it with --top.",
        "COUNT",
        min=1,
    )
    escape_formulas: bool = _switch(
        "Put ' before text that a spreadsheet would take for a formula (=, +, -, @)."
    )


@dataclass(frozen=True, kw_only=True)
class SegmentOptions(Options):
    """The column of segments."""

    by: str | None = _of_columns(
        "Segments, such as regions: the range is also measured in each, with intervals that hold "
        "jointly. The column may be a feature.",
        "COLUMN",
    )


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions(PrevalenceOptions, RegionOptions, SegmentOptions, LabelledOptions):
    """Measure a model on labelled rows, against logistic regression on the same columns.

    The file is read in chunks, and only two scores per row are kept; with --region-only, only the
    highest rows.
    """

    examples = (
        "aucuba evaluate model.aucuba test.csv",
        "aucuba evaluate model.aucuba test.csv --at fpr=0.001 --at k=100",
    )
    model: Path = _model_file()
    at: list[str] | None = _points()
    region_only: bool = _switch("Measure the range alone, keeping only the highest rows in memory.")
    capacity: int | None = _option(
        "How many negatives --region-only keeps.", "ROWS", shown="4 million", min=1
    )
    random_state: int = _seed()


@dataclass(frozen=True, kw_only=True)
class CompareOptions(PrevalenceOptions, RegionOptions, SegmentOptions, LabelledOptions):
    """Compare models with the first of them, in pairs, on the same labelled rows.

    All models must have been trained for the same target, positive label and queries.
    """

    examples = ("aucuba compare linear.aucuba stack.aucuba test.csv --at fpr=0.01",)
    models: list[Path] = _argument("Two or more model files.", "MODEL...")
    at: list[str] | None = _points()
    random_state: int = _seed()


@dataclass(frozen=True, kw_only=True)
class ReportOptions(PrevalenceOptions, RangeOptions, SegmentOptions, LabelledOptions):
    """Write one self-contained HTML page about a model on labelled rows.

    For a changepoint model DATA has the columns sequence, value and optionally position or time. For a
    ranker of graphs saved from Python it has the columns node, the labels (--target, else label) and
    the node features, and graph if there are several graphs.
    """

    model: Path = _model_file()
    out: Path = _option("The page to write.", "report.html", default=MISSING)
    ledger: Path | None = _option(
        "Show the calibrations of this PromiseLedger over time.", "FILE.json"
    )
    labels: Path | None = _labels()
    edges: Path | None = _option(
        "For a ranker of graphs: a table of source, target and edge features."
    )
    random_state: int = _seed()


@dataclass(frozen=True, kw_only=True)
class MonitorOptions(FileOptions):
    """Check a promised rate on labelled rows as they arrive, batch after batch.

    The status is "broken" if the mean rate has exceeded its limit and "ok" if it has kept to it since
    the last restart; either is wrong in at most 5 % of all streams, however often you look. A rate that
    has risen after a good history is reported as changed.

    If labels arrive late, --label-horizon and --time register rows without a label, and a later file
    with --late-labels adds the labels.
    """

    limit: float | None = _option("The promised limit, such as 0.05.", shown="that of --state")
    rate: str | None = _option("What was promised: fpr, tpr, precision or alerts.", shown="fpr")
    target: str = _option("Column of true labels.", "COLUMN", default="y")
    flag: str = _option("Column of predicted labels.", "COLUMN", default="predicted")
    labels: tuple[str, str] | None = _option(
        "The negative label (several as a,b) and the positive one, in both columns.",
        "NEGATIVE POSITIVE",
        shown="0 1, false true, or an unmistakable word such as fraud",
    )
    model: Path | None = _option("Take the labels from this file of `aucuba fit`.", "MODEL")
    batch: str | None = _option("Rows with the same value form a batch, such as a day.", "COLUMN")
    groups: str | None = _option("Groups, such as patients: each counts once per batch.", "COLUMN")
    state: Path | None = _option("Keep the state here between runs.", "FILE.json")
    confidence: float | None = _option(
        "One minus the probability of ever giving a false alarm.", shown="0.95"
    )
    average_run_length: str | None = _option(
        "Least average number of counted rows, or of days as '730 days', between false signals of a "
        "change.",
        shown="100000",
    )
    label_horizon: float | None = _option("Days to wait for a label.", "DAYS", min=0)
    time: str | None = _option(
        "When rows were scored: batches by --every, in the order of time, or for --label-horizon.",
        "COLUMN",
    )
    label_time: str | None = _option("With --label-horizon: when labels arrived.", "COLUMN")
    as_of: str | None = _option("With --label-horizon: today's date.", "DATE")
    every: str | None = _option(
        "With --time: count rows by day (UTC) or by ISO week.", "day|week", shown="day"
    )
    unlabelled: str | None = _option(
        "A row without a label at the horizon: worst, negative or drop.", shown="worst"
    )
    ok_window: float | None = _option(
        "Restart the evidence for ok after this many days (counted rows without --label-horizon)."
    )
    late_labels: bool = _switch("DATA holds labels of rows that were registered earlier.")
    acknowledge: bool = _switch("Clear the signal of a change first.")


@dataclass(frozen=True, kw_only=True)
class InfoOptions(Options):
    """Print what a model file holds and which columns it needs, or what a ledger has spent."""

    model: Path = _model_file()


@dataclass(frozen=True, kw_only=True)
class ExportOptions(Options):
    """Write a model as an ONNX graph or as SQL, with its threshold inside.

    The graph takes the model's columns of numbers as one matrix of single precision. Rows given by
    --calibration or --check are scored by the graph and by the model, and the two compared.
    """

    model: Path = _model_file()
    onnx: Path | None = _option("The ONNX file to write.", "FILE")
    sql: Path | None = _option("The SQL file to write, for linear models.", "FILE")
    calibration: Path | None = _option(
        "The training file: set the promised threshold again from the scores of the graph.", "ROWS"
    )
    check: Path | None = _option("Rows to compare the graph and the model on.", "ROWS")
    table: str = _option("Name of the table in the SQL.", "NAME", default="rows")


@dataclass(frozen=True, kw_only=True)
class DemoOptions(Options):
    """Train models and rivals on generated rows, compare them, and write the reports."""

    output: Path = _option("Folder for the reports.", "FOLDER", default=Path("demo_output"))
    open: bool = _switch("Open the report in a browser.")


def as_command(options: type[Options], run: Callable[[Any], None]) -> Callable[..., None]:
    """Make the function that typer calls, with a parameter per field.

    Inside its groups the help lists what is required, rows and region, and the command's own options.
    """
    types = get_type_hints(options)
    declared = {one.name: one for one in fields(options) if "typer" in one.metadata}
    for switch in (one for one in declared.values() if one.default is False):
        # Left to itself, typer would add a --no- form.
        switch.metadata["typer"].param_decls = (spelled_as_option(switch.name),)
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
