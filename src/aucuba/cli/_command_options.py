"""The interface of every command: an options class whose fields are its arguments and options.

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
        "auc_at_k:k=100. Repeat the option for several.",
        "NAME=VALUE",
    )


def _seed() -> Any:
    return option("Seed of all random draws.", "NUMBER", default=0, min=0)


@dataclass(frozen=True, kw_only=True)
class FitOptions(RowOptions, RegionOptions, FileOptions):
    """Train a model for a range of false positive rates and save it.

    Text columns become categories, dates become calendar parts, and missing values are imputed; the
    preprocessing is saved with the model.

    With --model changepoint, DATA has one row per sample, with the columns sequence, value and
    optionally position or time, and --labels uses the same unit.
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
        "linear; svc: convex losses; aum: the whole ROC curve; scorecard: a few conditions with "
        "integer points; stack: several models combined, slow but strong; outliers: an isolation "
        "forest of the negative rows (or of all rows, without labels), with --promise; or changepoint.",
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
        "Largest number of conditions of --model scorecard.", "COUNT", default=5, min=1
    )
    drop: list[str] | None = of_columns(
        "A column to leave out. For several, write a,b or repeat the option.", "COLUMN"
    )
    category: list[str] | None = of_columns(
        "A column whose numbers are categories, such as codes.", "COLUMN"
    )
    promise: str | None = of_promise(
        "Hold out half of the rows and set a threshold that keeps a limit on fpr, tpr, precision or "
        "alerts, such as fpr=0.01.",
        "NAME=LIMIT",
    )
    triage: str | None = of_promise(
        "Hold out half of the rows and set two thresholds: block above one (limit fpr or ppv), clear "
        "below the other (limit tpr or npv), review between, such as fpr=0.01,tpr=0.95.",
        "LIMITS",
    )
    max_fdr: float | None = of_promise(
        "Hold out half of the rows; predict then treats each file as one batch and selects rows, on "
        "average at most this fraction of them false.",
        "FRACTION",
    )
    confidence: float | None = of_promise(
        "Confidence of the promise; with --max-fdr, for all later batches.",
        "NUMBER",
        shown="0.95; with --max-fdr none, for a promise on average",
    )
    target_prevalence: str | None = of_promise(
        "For --promise precision= and --triage with ppv or npv: the share of positives for which they "
        "are promised, such as 0.005 or 0.002-0.01.",
        "SHARE",
        shown="that of DATA",
    )
    groups: str | None = of_columns(
        "Groups, such as patients; every split keeps the rows of a group together.", "COLUMN"
    )
    time: str | None = of_columns(
        "Times, as numbers or dates; models are tested on rows later than their training rows.",
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
    threshold set in training (score > 0). A scorecard adds the total of its points; a model of --triage
    the action: block, clear or review. A model of --max-fdr reads the file twice and adds p-values; it
    has no threshold and selects rows by comparing them with the other rows of the file. A changepoint
    model writes the changes: the first samples of new segments.
    """

    examples = (
        "aucuba predict model.aucuba new.csv --id customer --out scores.csv",
        "aucuba predict model.aucuba new.parquet --id customer --top 100 --out -",
        "aucuba predict model.aucuba new.csv --top 20 --reasons 3 --out why.csv",
    )
    model: Path = _model_file()
    out: Path = option("The csv file to write; - is stdout.", "SCORES.csv", default=MISSING)
    id: list[str] | None = option(
        "A column to copy. For several, write a,b or repeat the option.", "COLUMN"
    )
    top: int | None = option(
        "Write only this many rows: the highest scores, highest first.", "ROWS", min=1
    )
    sort: bool = switch("Write all rows, highest score first; holds them in memory.")
    reasons: int | None = option(
        "Write this many reasons per row: the columns that raise its score most, compared with a "
        "typical training row. Exact and fast for linear models; for others use it with --top.",
        "COUNT",
        min=1,
    )
    escape_formulas: bool = switch(
        "Put ' before text that a spreadsheet would read as a formula (=, +, -, @)."
    )


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions(PrevalenceOptions, RegionOptions, SegmentOptions, LabelledOptions):
    """Measure a model on labelled rows, compared with logistic regression on the same columns.

    The file is read in chunks, and only two scores per row are kept; with --region-only, only those of
    the top rows.
    """

    examples = (
        "aucuba evaluate model.aucuba test.csv",
        "aucuba evaluate model.aucuba test.csv --at fpr=0.001 --at k=100",
    )
    model: Path = _model_file()
    at: list[str] | None = _points()
    region_only: bool = switch("Measure only the range, holding only the top rows in memory.")
    capacity: int | None = option(
        "How many negatives --region-only keeps.", "ROWS", shown="4 million", min=1
    )
    random_state: int = _seed()


@dataclass(frozen=True, kw_only=True)
class CompareOptions(PrevalenceOptions, RegionOptions, SegmentOptions, LabelledOptions):
    """Compare each model with the first one, on the same labelled rows.

    All models must have been trained for the same target, positive label and queries.
    """

    examples = ("aucuba compare linear.aucuba stack.aucuba test.csv --at fpr=0.01",)
    models: list[Path] = argument("Two or more model files.", "MODEL...")
    at: list[str] | None = _points()
    random_state: int = _seed()


@dataclass(frozen=True, kw_only=True)
class ReportOptions(PrevalenceOptions, RangeOptions, SegmentOptions, LabelledOptions):
    """Write one self-contained HTML page about a model on labelled rows.

    For a changepoint model, DATA has the columns sequence, value and optionally position or time. For a
    ranker of graphs saved from Python, it has the columns node, the labels (--target, else label) and
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
    """Check a promised rate on labelled rows as they arrive, batch by batch.

    The status is "broken" if the mean rate has exceeded its limit and "ok" if it has kept the limit
    since the last restart; each is wrong in at most 5 % of all streams, however often you look. A rate
    that rises after a good history is reported as changed.

    If labels arrive late, --label-horizon and --time register rows without a label, and a later file
    with --late-labels adds the labels.
    """

    examples = (
        "aucuba predict m new.csv --id fraud,date --out scored.csv",
        "aucuba monitor scored.csv --model m --time date --every week",
        "aucuba monitor scored.csv --model m --state state.json",
    )
    limit: float | None = option(
        "The promised limit, such as 0.05.", "RATE", shown="that of --state or --model"
    )
    rate: str | None = option(
        "What was promised: fpr, tpr, precision or alerts.", "NAME", shown="fpr, or that of --model"
    )
    target: str = option("Column of true labels.", "COLUMN", default="y")
    flag: str = option("Column of predicted labels.", "COLUMN", default="predicted")
    labels: tuple[str, str] | None = option(
        "The negative label (several as a,b) and the positive one, in both columns.",
        "NEGATIVE POSITIVE",
        shown="0 1, false true, or an unmistakable word such as fraud",
    )
    model: Path | None = option("Take labels, target and promise from this model file.", "MODEL")
    batch: str | None = option("Rows with the same value form a batch, such as a day.", "COLUMN")
    groups: str | None = option("Groups, such as patients: each counts once per batch.", "COLUMN")
    state: Path | None = option("Keep the state here between runs.", "FILE.json")
    confidence: float | None = option(
        "One minus the probability of ever giving a false alarm.", "NUMBER", shown="0.95"
    )
    average_run_length: str | None = option(
        "Smallest mean number of counted rows between false signals of a change; or of days, written "
        "'730 days'.",
        "LENGTH",
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
        "How a row without a label at the horizon counts: worst, negative or drop.",
        "NAME",
        shown="worst",
    )
    ok_window: float | None = option(
        "Restart the evidence for ok after this many days (or counted rows, without --label-horizon).",
        "NUMBER",
    )
    late_labels: bool = switch("DATA holds labels of rows that were registered earlier.")
    acknowledge: bool = switch("First clear the signal of a change.")


@dataclass(frozen=True, kw_only=True)
class InfoOptions(Options):
    """Print what a model file contains and which columns it needs, or what a ledger has spent."""

    model: Path = _model_file()


@dataclass(frozen=True, kw_only=True)
class ExportOptions(Options):
    """Write a model as an ONNX graph or as SQL, with its threshold inside.

    The graph takes the model's numeric columns as one matrix in single precision. The command scores
    the rows of --calibration or --check by the graph and by the model, and compares the two.
    """

    model: Path = _model_file()
    onnx: Path | None = option("The ONNX file to write.", "FILE")
    sql: Path | None = option("The SQL file to write, for linear models and scorecards.", "FILE")
    calibration: Path | None = option(
        "The training file, to set the promised threshold again from the graph's scores.", "ROWS"
    )
    check: Path | None = option("Rows to compare the graph and the model on.", "ROWS")
    table: str = option("Name of the table in the SQL.", "NAME", default="rows")


@dataclass(frozen=True, kw_only=True)
class DemoOptions(Options):
    """Train models and rivals on generated rows, compare them, and write the reports."""

    output: Path = option("Folder for the reports.", "FOLDER", default=Path("demo_output"))
    open: bool = switch("Open the report in a browser.")
