"""The interface of every command: one options class each, whose fields are its arguments and options.

Like `aucuba.cli._options`, this imports nothing slow.
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import Any

from aucuba.cli._options import (
    FileOptions,
    LabelledOptions,
    Options,
    PrevalenceOptions,
    RangeOptions,
    RegionOptions,
    RowOptions,
    ScoringOptions,
    SegmentOptions,
    argument,
    of_columns,
    of_model,
    of_promise,
    of_signals,
    option,
    switch,
)


def _model_file() -> Any:
    return argument("A file written by `aucuba fit`.", "MODEL")


def _labels() -> Any:
    return of_signals("For a changepoint model: a table of sequence, start, end and kind.", "TABLE")


def _points() -> Any:
    return option(
        "An operating point: fpr=, tpr= (or recall=), precision= or k=; or a measure, such as "
        "auc_at_k:k=100. May be repeated.",
        "NAME=VALUE",
    )


def _seed() -> Any:
    return option("Seed of all random draws.", "NUMBER", default=0, min=0)


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
        "aucuba fit train.csv --target fraud --max-fdr 0.1 --out s",
    )
    out: Path = option("The model file to write.", "MODEL", default=MISSING)
    pos_label: str | None = of_columns(
        "The positive label; all others are negative.",
        "LABEL",
        names=("--pos-label", "--positive"),
        shown="the larger of two numbers, or yes, true, positive, fraud",
    )
    model: str = of_model(
        "linear; svc: convex losses; aum: for the whole curve; scorecard: a few conditions with whole "
        "points; stack: several models combined, slow and strong; outliers: an isolation forest of the "
        "negative rows, which may be all, with --promise; or changepoint.",
        "NAME",
        default="linear",
    )
    loss: str | None = of_model(
        "Loss of --model svc: structural, tight or tight_dc; of --model changepoint: l2, poisson or "
        "variance.",
        "NAME",
        shown="structural; l2",
    )
    cv: int | None = of_model(
        "Number of cross-validation folds; 0 fits once, with --C.",
        "FOLDS",
        shown="5, and up to 10 halvings",
    )
    C: float | None = of_model(
        "Weight of the loss against the penalty, for --cv 0.", "NUMBER", names=("--C",), shown="1"
    )
    max_iter: int | None = of_model(
        "Largest number of iterations of a fit.",
        "NUMBER",
        shown="1000 for svc; 100 for aum and, with --cv 0, linear",
    )
    max_items: int = of_model(
        "Most conditions on the card of --model scorecard.", "COUNT", default=5, min=1
    )
    drop: list[str] | None = of_columns(
        "A column to leave out; several as a,b or repeated.", "COLUMN"
    )
    category: list[str] | None = of_columns(
        "A column of categories that look like numbers.", "COLUMN"
    )
    promise: str | None = of_promise(
        "Hold out half of the rows and set a threshold that keeps fpr, tpr, precision or "
        "alerts, such as fpr=0.01.",
        "NAME=LIMIT",
    )
    triage: str | None = of_promise(
        "Hold out half of the rows and set two thresholds: block (limit fpr or ppv), clear (limit tpr "
        "or npv), review between; such as fpr=0.01,tpr=0.95.",
        "LIMITS",
    )
    max_fdr: float | None = of_promise(
        "Hold out half of the rows; predict then takes each file as one batch and selects rows of "
        "which at most this fraction is false on average.",
        "FRACTION",
    )
    confidence: float | None = of_promise(
        "Confidence of the promise; with --max-fdr, for all later batches.",
        "NUMBER",
        shown="0.95; for --max-fdr on average",
    )
    target_prevalence: str | None = of_promise(
        "For --promise precision= and --triage with ppv or npv: the share of positives at which it is "
        "promised, such as 0.005 or 0.002-0.01.",
        "SHARE",
        shown="that of DATA",
    )
    groups: str | None = of_columns(
        "Groups, such as patients; no split separates the rows of a group.", "COLUMN"
    )
    time: str | None = of_columns(
        "Times, as numbers or dates; models are tested on later rows than they learned from.",
        "COLUMN",
    )
    probe: bool = of_model(
        "Check quickly whether boosted trees would beat a linear model.", default=True
    )
    labels: Path | None = _labels()
    max_segments: int | None = of_signals(
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
    out: Path = option("The csv file to write; - is stdout.", "SCORES.csv", default=MISSING)
    id: list[str] | None = option("A column to copy; several as a,b or repeated.", "COLUMN")
    top: int | None = option(
        "Write only this many rows: those with the highest scores, highest first.", "ROWS", min=1
    )
    sort: bool = switch("Write all rows, highest score first; keeps them in memory.")
    reasons: int | None = option(
        "Write this many reasons per row: the columns that raise its score most, compared with a "
        "typical row of training. Exact and quick for linear models; for others use it with --top.",
        "COUNT",
        min=1,
    )
    escape_formulas: bool = switch(
        "Put ' before text that a spreadsheet would take for a formula (=, +, -, @)."
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
    region_only: bool = switch("Measure the range alone, keeping only the highest rows in memory.")
    capacity: int | None = option(
        "How many negatives --region-only keeps.", "ROWS", shown="4 million", min=1
    )
    random_state: int = _seed()


@dataclass(frozen=True, kw_only=True)
class CompareOptions(PrevalenceOptions, RegionOptions, SegmentOptions, LabelledOptions):
    """Compare models with the first of them, in pairs, on the same labelled rows.

    All models must have been trained for the same target, positive label and queries.
    """

    examples = ("aucuba compare linear.aucuba stack.aucuba test.csv --at fpr=0.01",)
    models: list[Path] = argument("Two or more model files.", "MODEL...")
    at: list[str] | None = _points()
    random_state: int = _seed()


@dataclass(frozen=True, kw_only=True)
class ReportOptions(PrevalenceOptions, RangeOptions, SegmentOptions, LabelledOptions):
    """Write one self-contained HTML page about a model on labelled rows.

    For a changepoint model DATA has the columns sequence, value and optionally position or time. For a
    ranker of graphs saved from Python it has the columns node, the labels (--target, else label) and
    the node features, and graph if there are several graphs.
    """

    examples = (
        "aucuba report model.aucuba test.csv --out report.html",
        "aucuba report model.aucuba test.csv --by customer --out by.html",
    )
    model: Path = _model_file()
    out: Path = option("The page to write.", "report.html", default=MISSING)
    ledger: Path | None = option(
        "Show the calibrations of this PromiseLedger over time.", "FILE.json"
    )
    labels: Path | None = _labels()
    edges: Path | None = option(
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

    examples = (
        "aucuba predict m new.csv --id fraud,date --out scored.csv",
        "aucuba monitor scored.csv --model m --time date --every week",
        "aucuba monitor scored.csv --model m --state state.json",
    )
    limit: float | None = option(
        "The promised limit, such as 0.05.", shown="that of --state or --model"
    )
    rate: str | None = option(
        "What was promised: fpr, tpr, precision or alerts.", shown="fpr, or that of --model"
    )
    target: str = option("Column of true labels.", "COLUMN", default="y")
    flag: str = option("Column of predicted labels.", "COLUMN", default="predicted")
    labels: tuple[str, str] | None = option(
        "The negative label (several as a,b) and the positive one, in both columns.",
        "NEGATIVE POSITIVE",
        shown="0 1, false true, or an unmistakable word such as fraud",
    )
    model: Path | None = option(
        "Take labels, target and promise from this file of `aucuba fit`.", "MODEL"
    )
    batch: str | None = option("Rows with the same value form a batch, such as a day.", "COLUMN")
    groups: str | None = option("Groups, such as patients: each counts once per batch.", "COLUMN")
    state: Path | None = option("Keep the state here between runs.", "FILE.json")
    confidence: float | None = option(
        "One minus the probability of ever giving a false alarm.", shown="0.95"
    )
    average_run_length: str | None = option(
        "Least average number of counted rows, or of days as '730 days', between false signals of a "
        "change.",
        shown="100000",
    )
    label_horizon: float | None = option("Days to wait for a label.", "DAYS", min=0)
    time: str | None = option(
        "When rows were scored: batches by --every, in the order of time, or for --label-horizon.",
        "COLUMN",
    )
    label_time: str | None = option("With --label-horizon: when labels arrived.", "COLUMN")
    as_of: str | None = option("With --label-horizon: today's date.", "DATE")
    every: str | None = option(
        "With --time: count rows by day (UTC) or by ISO week.", "day|week", shown="day"
    )
    unlabelled: str | None = option(
        "A row without a label at the horizon: worst, negative or drop.", shown="worst"
    )
    ok_window: float | None = option(
        "Restart the evidence for ok after this many days (counted rows without --label-horizon)."
    )
    late_labels: bool = switch("DATA holds labels of rows that were registered earlier.")
    acknowledge: bool = switch("Clear the signal of a change first.")


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
    onnx: Path | None = option("The ONNX file to write.", "FILE")
    sql: Path | None = option("The SQL file to write, for linear models.", "FILE")
    calibration: Path | None = option(
        "The training file: set the promised threshold again from the scores of the graph.", "ROWS"
    )
    check: Path | None = option("Rows to compare the graph and the model on.", "ROWS")
    table: str = option("Name of the table in the SQL.", "NAME", default="rows")


@dataclass(frozen=True, kw_only=True)
class DemoOptions(Options):
    """Train models and rivals on generated rows, compare them, and write the reports."""

    output: Path = option("Folder for the reports.", "FOLDER", default=Path("demo_output"))
    open: bool = switch("Open the report in a browser.")
