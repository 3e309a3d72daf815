"""``aucuba info`` and ``aucuba demo``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from aucuba.cli._console import Grid, emit
from aucuba.cli._options import AsJson, ModelFile
from aucuba.cli._wording import spelled_as_options

_KIND_NAMES = {"number": "numeric", "category": "categorical", "date": "dates"}


def info(model: ModelFile, as_json: AsJson = False) -> None:
    """Print what a model file holds and which columns it needs, without data."""
    from aucuba.cli._record import fit_record, was_fitted_here
    from aucuba.cli._signals import SIGNAL_WRITER, described_training
    from aucuba.cli._training import fit_facts
    from aucuba.persistence import load_model

    saved = load_model(model)
    record = fit_record(saved, model) if was_fitted_here(saved) else None
    result: dict[str, Any] = {
        "model": str(model),
        "versions": saved.versions,
        "metadata": saved.metadata,
        "fit": fit_facts(saved.model if record is None else saved.model[-1]),
    }
    grid = Grid()
    if record is not None:
        training = record.training
        grid.add_line("target", f"{record.target} = {record.labels.positive}")
        grid.add_line("FPR range", "[{:g}, {:g}]".format(*record.fpr_range))
        if record.min_tpr:
            grid.add_line("lowest TPR", f"{record.min_tpr:g}")
        grid.add_line("trained on", f"{training['file']}, {training['rows']} rows")
        grid.add_line("columns", record.schema.described())
        for kind, title in _KIND_NAMES.items():
            names = record.schema.of_kind(kind)
            if names:
                grid.add_line(title, ", ".join(names))
    if saved.metadata.get("writer") == SIGNAL_WRITER:
        grid.add_line("trained on", described_training(saved.metadata))
    for name, value in result["fit"].items():
        if name != "partial_auc":
            number = isinstance(value, float)
            grid.add_line(name, f"{value:.6g}" if number else spelled_as_options(str(value)))
    for name, version in saved.versions.items():
        grid.add_line(f"written with {name}", str(version))
    emit(result, grid, as_json=as_json)


def demo_command(run: Callable[[Path, bool, bool], None]) -> Callable[..., None]:
    """Make the command ``aucuba demo`` of the program that it runs."""

    def demo(
        output: Annotated[
            Path, typer.Option(metavar="FOLDER", help="Folder for the reports.")
        ] = Path("demo_output"),
        open_report: Annotated[
            bool, typer.Option("--open", help="Open the report in a browser.")
        ] = False,
        as_json: AsJson = False,
    ) -> None:
        """Train models and rivals on generated rows, compare them, and write the reports."""
        run(output, as_json, open_report)

    return demo
