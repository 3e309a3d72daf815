"""The command ``aucuba fit``."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any

from aucuba._base._files import check_place
from aucuba._base._validation import check_choice
from aucuba.changepoint import SupervisedChangepointDetector
from aucuba.cli._command_options import FitOptions
from aucuba.cli._console import (
    Grid,
    emit,
    fit_with_progress,
    print_note,
    progress_bar,
    spelled_as_options,
)
from aucuba.cli._fit_hints import Probe, run_probe, warn_of_leaks
from aucuba.cli._fit_models import Plan, fit_facts
from aucuba.cli._fit_record import SIGNAL_WRITER, FitRecord, described_signals
from aucuba.cli._labelled_rows import LabelledTable
from aucuba.cli._signal_table import SignalTable
from aucuba.cli._table_schema import FarRows
from aucuba.persistence import save_model

# A probe may take this long, or a tenth of the training.
_PROBE_S = 5.0
_OF_SIGNALS = ("labels", "max_segments")
_MODELS = ("linear", "svc", "aum", "scorecard", "stack", "outliers", "changepoint")
# The other options that --model changepoint has.
_OF_ALL = (
    *("data", "out", "model", "loss", "cv", "max_iter", "random_state"),
    *("format", "delimiter", "decimal", "encoding", "json"),
)


def run(options: FitOptions) -> None:
    """Train a model on a file and save it."""
    if check_choice(options.model, "--model", _MODELS) == "changepoint":
        known = {*_OF_SIGNALS, *_OF_ALL}
        options.refuse("does not apply to --model changepoint", *sorted(options.given - known))
        _fit_signals(options)
        return
    options.refuse("is for --model changepoint", *_OF_SIGNALS)
    plan = Plan.from_options(options)
    check_place(options.out, options.data)
    with progress_bar(f"Reading {options.data.name}"):
        table = LabelledTable.read(options)
    plan.check_table(table, options.cv)
    n_rows, n_positive = table.rows.n_rows, int(table.rows.positive.sum())
    if not options.json:
        print_note(
            f"The positive class is {table.roles.target} = {table.labels.positive}: {n_positive} of "
            f"{n_rows} rows ({n_positive / n_rows:.2%})."
        )
    warn_of_leaks(table, options.random_state)
    started = time.monotonic()
    model, baseline = plan.train(table)
    took = time.monotonic() - started
    far = FarRows(baseline)
    # Rows that trained are within their own range; held-out rows need not be.
    far.update(table.X)
    far.warn()
    record = plan.record(table, far.n_rows)
    metadata, labels = record.to_json(), record.labels.classes
    save_model(model, options.out, baseline=baseline, metadata=metadata, labels=labels)
    probe = None
    if options.probe:
        probe = run_probe(plan, table, max(_PROBE_S, took / 10), options.random_state)
    facts = fit_facts(model[-1])
    result = {
        "model": str(options.out),
        **metadata,
        "chance": record.chance,
        "fit": facts,
        "probe": None if probe is None else asdict(probe),
    }
    shown = _shown(record, facts, probe)
    emit(result, *shown, f"Model: {options.out}", as_json=options.json)


def _fit_signals(options: FitOptions) -> None:
    """Train and save a changepoint detector; options that are None keep its defaults."""
    check_place(options.out, options.data, options.labels)
    names = ("max_segments", "loss", "cv", "max_iter", "random_state")
    asked = {name: getattr(options, name) for name in names}
    params = {name: value for name, value in asked.items() if value is not None}
    if params.get("cv", 2) < 2:
        raise ValueError(f"--cv must be at least 2 for --model changepoint, got {params['cv']}.")
    signals = SignalTable.read(options.file())
    labels = signals.labels(options.labels)
    detector = SupervisedChangepointDetector(**params)
    with progress_bar("Training on signals") as bar:
        fit_with_progress(bar, detector, signals.frame, labels)
    training = {
        "file": options.data.name,
        "sequences": len(signals.names),
        "samples": len(signals.frame),
        "labels": len(labels),
    }
    metadata = {"writer": SIGNAL_WRITER, "unit": signals.unit, "training": training}
    save_model(detector, options.out, metadata=metadata)
    emit(
        {"model": str(options.out), **metadata, "fit": {"status": detector.status_}},
        described_signals(metadata),
        detector.status_,
        f"Model: {options.out}",
        as_json=options.json,
    )


def _shown(record: FitRecord, facts: dict[str, Any], probe: Probe | None) -> list[Any]:
    training = record.training
    low, high = record.fpr_range
    lines: list[Any] = [
        f"{training['rows']} rows, {training['positives']} positive "
        f"({record.target} = {record.labels.positive}), {record.schema.described()}"
    ]
    if record.kind == "aum":
        lines.append("Trained for the whole ROC curve (AUM)")
    else:
        # Not "trained on": with few negatives the loss covers a wider range, and a note says so.
        rates = f"Meant for false positive rates in [{low:g}, {high:g}]"
        above = f" and true positive rates above {record.min_tpr:g}" if record.min_tpr else ""
        lines.append(rates + above)
    if "promise" in facts:
        lines.append(f"Promise: {facts['promise']}")
    if "status" in facts:
        lines.append(spelled_as_options(facts["status"]))
    if "card" in facts:
        lines.append(facts["card"])
    if "partial_auc" in facts:
        grid = Grid("out-of-sample", "partial AUC", "chance")
        for name, value in facts["partial_auc"].items():
            grid.add_line(name, f"{value:.4f}", f"{record.chance:.4f}")
        lines.append(grid)
    if probe is not None and probe.is_clear:
        ahead = probe.boosting - probe.linear
        lines.append(
            f"Boosted trees, probed quickly, reach a partial AUC of {probe.boosting:.4f}, a linear "
            f"model {probe.linear:.4f} (out of fold; {ahead:+.4f} with standard error "
            f"{probe.standard_error:.4f}): try --model stack."
        )
    return lines
