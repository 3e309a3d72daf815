"""The command ``aucuba info``."""

from __future__ import annotations

from typing import Any

from aucuba.cli._command_options import InfoOptions
from aucuba.cli._console import Grid, emit, spelled_as_options
from aucuba.cli._fit_models import fit_facts
from aucuba.cli._fit_record import SIGNAL_WRITER, described_signals, fit_record, was_fitted_here
from aucuba.cli._table_schema import FarRows
from aucuba.persistence import load_model
from aucuba.threshold import PromiseLedger

_KIND_NAMES = {"number": "numeric", "category": "categorical", "date": "dates"}


def run(options: InfoOptions) -> None:
    """Print what a model file, or a ledger of promises, holds."""
    if options.model.suffix == ".json":
        _print_ledger(options)
        return
    saved = load_model(options.model)
    record = fit_record(saved, options.model) if was_fitted_here(saved) else None
    facts = fit_facts(saved.model if record is None else saved.model[-1])
    grid, ranges = Grid(), dict[str, str]()
    if record is not None:
        training = record.training
        grid.add_line("target", f"{record.target} = {record.labels.positive}")
        grid.add_line("FPR range", "[{:g}, {:g}]".format(*record.fpr_range))
        if record.min_tpr:
            grid.add_line("lowest TPR", f"{record.min_tpr:g}")
        grid.add_line("trained on", f"{training['file']}, {training['rows']} rows")
        grid.add_line("columns", record.schema.described())
        ranges |= FarRows(saved.baseline).ranges()
        if training["outside"]:
            counted = f"{training['outside']} of {training['rows']} rows"
            grid.add_line("held out", f"{counted} lie far outside the ranges below")
        for kind, title in _KIND_NAMES.items():
            names = record.schema.of_kind(kind)
            known = [f"{name} ({ranges[name]})" if name in ranges else name for name in names]
            if names:
                grid.add_line(title, ", ".join(known))
    if saved.metadata.get("writer") == SIGNAL_WRITER:
        grid.add_line("trained on", described_signals(saved.metadata))
    for name, value in facts.items():
        if name != "partial_auc":
            number = isinstance(value, float)
            grid.add_line(name, f"{value:.6g}" if number else spelled_as_options(str(value)))
    for name, version in saved.versions.items():
        grid.add_line(f"written with {name}", str(version))
    result: dict[str, Any] = {"model": str(options.model), "versions": saved.versions}
    result["ranges"] = ranges
    emit({**result, "metadata": saved.metadata, "fit": facts}, grid, as_json=options.json)


def _print_ledger(options: InfoOptions) -> None:
    """Recompute what a ledger has spent of its error."""
    ledger = PromiseLedger.from_json(options.model.read_text(encoding="utf-8"))
    result = {
        "confidence": ledger.confidence,
        "spent": ledger.spent,
        "is_guaranteed": ledger.is_guaranteed,
        "entries": [{**entry, "monitor": None} for entry in ledger.entries],
    }
    emit(result, Grid(), ledger.summary(), as_json=options.json)
