"""``aucuba fit``."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aucuba.cli._console import Grid, emit, print_note, progress_bar
from aucuba.cli._options import (
    AsJson,
    DataFile,
    Decimal,
    Delimiter,
    Encoding,
    Format,
    FprRange,
    LabelFile,
    MaxFpr,
    MinTpr,
    PosLabel,
    Qid,
    RandomState,
    SampleWeight,
    Target,
    chance_level,
    chosen_range,
    refuse_given,
)
from aucuba.cli._wording import spelled_as_options

if TYPE_CHECKING:
    from aucuba.cli._probe import Probe
    from aucuba.cli._promise import PromiseOption
    from aucuba.cli._record import FitRecord
    from aucuba.cli._samples import LabelledTable
    from aucuba.cli._tables import TableFile
    from aucuba.cli._training import Plan

_Out = Annotated[Path, typer.Option(metavar="MODEL", help="The model file to write.")]
_Kind = Annotated[
    str,
    typer.Option(
        "--model",
        help="linear; stack: several models together, slow and strong; or changepoint, for signals.",
    ),
]
_Surrogate = Annotated[
    str | None,
    typer.Option(
        help="Loss of a linear model: direct, tight, structural, or aum for the whole curve.",
        show_default="direct",
    ),
]
_Folds = Annotated[
    int | None,
    typer.Option(
        metavar="FOLDS",
        help="Folds to choose everything by; 0: one fit with --C.",
        show_default="5, and up to 10 halvings",
    ),
]
_C = Annotated[
    float | None,
    typer.Option(
        "--C", help="Weight of the loss against the penalty, for --cv 0.", show_default="1"
    ),
]
_MaxIter = Annotated[
    int | None,
    typer.Option(
        help="Most iterations of a fit.", show_default="1000; 100 for aum and a single direct fit"
    ),
]
_Drop = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="A column to leave out; several as a,b or repeated."),
]
_Category = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="A column of categories that look like numbers."),
]
_Probe = Annotated[
    bool,
    typer.Option(
        "--probe/--no-probe",
        help="Look quickly whether boosted trees see more than a linear model.",
    ),
]
_Promise = Annotated[
    str | None,
    typer.Option(
        metavar="NAME=LIMIT",
        help="Hold half of the rows out and set a threshold that keeps fpr, tpr, precision or alerts, "
        "such as fpr=0.01.",
    ),
]
_MaxSegments = Annotated[
    int | None,
    typer.Option(help="Most segments of a signal, for --model changepoint.", show_default="20"),
]
_Loss = Annotated[
    str | None,
    typer.Option(help="Loss of --model changepoint: l2, poisson or variance.", show_default="l2"),
]
_Confidence = Annotated[float, typer.Option(help="How sure --promise is.")]
# Parameters of `fit` that --model changepoint knows.
_OF_SIGNALS = (
    *("data", "out", "kind", "labels", "max_segments", "loss", "cv", "max_iter", "random_state"),
    *("format", "delimiter", "decimal", "encoding", "as_json"),
)
# A probe may take this long, or a tenth of the training.
_PROBE_S = 5.0


def fit(
    context: typer.Context,
    data: DataFile,
    out: _Out,
    target: Target = None,
    pos_label: PosLabel = None,
    fpr_range: FprRange = None,
    max_fpr: MaxFpr = None,
    min_tpr: MinTpr = None,
    kind: _Kind = "linear",
    surrogate: _Surrogate = None,
    cv: _Folds = None,
    C: _C = None,
    max_iter: _MaxIter = None,
    qid: Qid = None,
    sample_weight: SampleWeight = None,
    drop: _Drop = None,
    category: _Category = None,
    format: Format = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    promise: _Promise = None,
    confidence: _Confidence = 0.95,
    probe_trees: _Probe = True,
    labels: LabelFile = None,
    max_segments: _MaxSegments = None,
    loss: _Loss = None,
    random_state: RandomState = 0,
    as_json: AsJson = False,
) -> None:
    """Train a model for a range of false positive rates and save it.

    Text columns become categories, dates become parts of the calendar, and missing values are imputed;
    the preprocessing is saved with the model.

    For --model changepoint DATA has one row per sample, with the columns sequence, value and, where
    there is one, position or time; --labels are in the same unit.
    """
    from aucuba._base._files import check_place
    from aucuba._base._validation import check_choice
    from aucuba.cli._promise import PromiseOption
    from aucuba.cli._samples import training_table
    from aucuba.cli._tables import TableFile
    from aucuba.cli._training import Plan

    check_choice(kind, "--model", ("linear", "stack", "changepoint"))
    if kind == "changepoint":
        _refuse_all_but(_OF_SIGNALS, context)
        check_place(out, data, labels)
        file = TableFile.from_options(data, format, delimiter, decimal, encoding)
        given = {"max_segments": max_segments, "loss": loss, "cv": cv, "max_iter": max_iter}
        _fit_signals(file, labels, out, {**given, "random_state": random_state}, as_json)
        return
    refuse_given("is for --model changepoint", labels=labels, max_segments=max_segments, loss=loss)
    region = chosen_range(fpr_range, max_fpr)
    plan = Plan.from_options(region, min_tpr, kind, surrogate, cv, C, max_iter, random_state)
    promised = (
        None if promise is None else PromiseOption.from_text(promise, confidence, random_state)
    )
    check_place(out, data)
    file = TableFile.from_options(data, format, delimiter, decimal, encoding)
    with progress_bar(f"Reading {data.name}"):
        table = training_table(
            file,
            target=target,
            pos_label=pos_label,
            sample_weight=sample_weight,
            qid=qid,
            dropped=drop or [],
            categories=category or [],
        )
    plan.check_table(table, cv)
    if not as_json:
        print_note(_positive_class(table))
    result, lines = _train_and_save(plan, table, promised, out, probe_trees, random_state)
    emit({"model": str(out), **result}, *lines, f"Model: {out}", as_json=as_json)


def _refuse_all_but(known: Sequence[str], context: typer.Context) -> None:
    """Raise an error for an option on the command line that changepoint models do not have."""
    for parameter in context.command.params:
        source = context.get_parameter_source(str(parameter.name))
        if source is not None and source.name == "COMMANDLINE" and parameter.name not in known:
            raise ValueError(
                f"{parameter.opts[0]} does not apply to --model changepoint; leave it out."
            )


def _fit_signals(
    file: TableFile, labels: Path | None, out: Path, settings: dict[str, Any], as_json: bool
) -> None:
    """Train and save a changepoint detector; settings that are None keep their defaults."""
    from aucuba.changepoint import SupervisedChangepointDetector
    from aucuba.cli._signals import SignalTable, described_training, train_detector
    from aucuba.persistence import save_model

    given = {name: value for name, value in settings.items() if value is not None}
    if given.get("cv", 2) < 2:
        raise ValueError(f"--cv must be at least 2 for --model changepoint, got {given['cv']}.")
    signals = SignalTable.read(file)
    detector = SupervisedChangepointDetector(**given)
    metadata = train_detector(detector, signals, signals.labels(labels))
    save_model(detector, out, metadata=metadata)
    emit(
        {"model": str(out), **metadata, "fit": {"status": detector.status_}},
        described_training(metadata),
        detector.status_,
        f"Model: {out}",
        as_json=as_json,
    )


def _train_and_save(
    plan: Plan,
    table: LabelledTable,
    promised: PromiseOption | None,
    out: Path,
    probe_trees: bool,
    random_state: int,
) -> tuple[dict[str, Any], list[Any]]:
    """Train, save and probe; return the result and lines for a person."""
    from aucuba.cli._leaks import find_leaks, warn_of_leaks
    from aucuba.cli._training import fit_facts
    from aucuba.persistence import save_model

    warn_of_leaks(find_leaks(table, random_state))
    started = time.monotonic()
    model, baseline = plan.train(table) if promised is None else promised.train(plan, table)
    took = time.monotonic() - started
    record = plan.record(table)
    labels, facts = record.labels.classes, fit_facts(model[-1])
    save_model(model, out, baseline=baseline, metadata=record.to_json(), labels=labels)
    budget = max(_PROBE_S, took / 10)
    probe = plan.probe(table, budget, random_state) if probe_trees else None
    result = {
        **record.to_json(),
        "chance": chance_level(record.fpr_range, record.min_tpr),
        "fit": facts,
        "probe": None if probe is None else probe.to_json(),
    }
    return result, _shown(record, facts, probe)


def _positive_class(table: LabelledTable) -> str:
    rows, positive = table.rows.n_rows, int(table.rows.positive.sum())
    label = f"{table.roles.target} = {table.labels.positive}"
    return f"The positive class is {label}: {positive} of {rows} rows ({positive / rows:.2%})."


def _shown(record: FitRecord, facts: dict[str, Any], probe: Probe | None) -> list[Any]:
    training = record.training
    low, high = record.fpr_range
    lines: list[Any] = [
        f"{training['rows']} rows, {training['positives']} positive "
        f"({record.target} = {record.labels.positive}), {record.schema.described()}"
    ]
    if record.surrogate == "aum":
        lines.append("Trained for the whole ROC curve (AUM)")
    else:
        # Not "trained on": with few negatives the loss covers more than this, and a note says so.
        rates = f"Meant for false positive rates in [{low:g}, {high:g}]"
        above = f" and true positive rates above {record.min_tpr:g}" if record.min_tpr else ""
        lines.append(rates + above)
    if "promise" in facts:
        lines.append(f"Promise: {facts['promise']}")
    if "status" in facts:
        lines.append(spelled_as_options(facts["status"]))
    if "partial_auc" in facts:
        grid = Grid("out-of-sample", "partial AUC", "chance")
        chance = f"{chance_level(record.fpr_range, record.min_tpr):.4f}"
        for name, value in facts["partial_auc"].items():
            grid.add_line(name, f"{value:.4f}", chance)
        lines.append(grid)
    if probe is not None and probe.is_clear:
        ahead = probe.boosting - probe.linear
        lines.append(
            f"Boosted trees, probed quickly, reach a partial AUC of {probe.boosting:.4f}, a linear "
            f"model {probe.linear:.4f} (out of fold; {ahead:+.4f} with standard error "
            f"{probe.standard_error:.4f}): try --model stack."
        )
    return lines
