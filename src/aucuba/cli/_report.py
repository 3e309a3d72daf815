"""``aucuba report``, ``aucuba info`` and ``aucuba demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from aucuba._core._files import check_place
from aucuba._core._validation import check_fpr_range
from aucuba.changepoint import SupervisedChangepointDetector
from aucuba.cli._console import emit, grid, progress_bar
from aucuba.cli._evaluate import baseline_scores
from aucuba.cli._fit import fit_facts
from aucuba.cli._options import (
    AsJson,
    DataFile,
    Delimiter,
    Format,
    FprRange,
    Group,
    ModelFile,
    Seed,
    Target,
    Unknown,
    Weight,
)
from aucuba.cli._pages import changepoint_page, ranking_page
from aucuba.cli._record import record_of, was_fitted_here
from aucuba.cli._samples import evaluation_sample
from aucuba.cli._schema import feature_names
from aucuba.cli._tables import TableFile
from aucuba.cli._wording import in_options
from aucuba.persistence import load_model
from aucuba.report import ScoredSample, classifier_report, write_page
from aucuba.structured import StructuredRanker


def report(
    model: ModelFile,
    data: DataFile,
    out: Annotated[Path, typer.Option(metavar="report.html", help="The page to write.")],
    target: Target = None,
    fpr: FprRange = None,
    group: Group = None,
    weight: Weight = None,
    unknown: Unknown = "error",
    format: Format = None,
    delimiter: Delimiter = None,
    labels: Annotated[
        Path | None,
        typer.Option(help="For a changepoint model: a table of sequence, start, end and kind."),
    ] = None,
    edges: Annotated[
        Path | None,
        typer.Option(help="For a ranker of graphs: a table of source, target and edge features."),
    ] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Write one self-contained HTML page about a model on labelled rows.

    Models saved from Python: for a changepoint detector DATA has the columns sequence and value; for a
    ranker of graphs the columns node, the labels (--target, else label) and the node features, and
    graph where there are several graphs.
    """
    check_place(out, model, data, labels, edges)
    saved = load_model(model)
    if isinstance(saved.model, SupervisedChangepointDetector | StructuredRanker):
        with progress_bar(f"Writing {out.name}"):
            file = TableFile.of(data, format, delimiter)
            if isinstance(saved.model, StructuredRanker):
                page = ranking_page(saved.model, file, edges, target)
            else:
                page = changepoint_page(saved.model, file, labels)
            write_page(page, out)
        emit({"report": str(out)}, f"Report: {out}", as_json=as_json)
        return
    record = record_of(saved, model)
    fpr_range = check_fpr_range(record.fpr_range if fpr is None else fpr, "--fpr")
    file = TableFile.of(data, format, delimiter)
    with progress_bar(f"Writing {out.name}"):
        sample = evaluation_sample(
            saved, record, file, target=target, weight=weight, group=group, unknown=unknown
        )
        scored = ScoredSample(
            y=sample.y,
            score=saved.model.decision_function(sample.X),
            baseline=baseline_scores(saved, sample),
            sample_weight=sample.weight,
            qid=sample.group,
        )
        page = classifier_report(
            saved.model[-1],
            scored,
            fpr_range=fpr_range,
            X=saved.model[:-1].transform(sample.X),
            feature_names=feature_names(saved.model),
            table=sample.X if record.schema.n_features is None else None,
            title=f"{model.name} on {data.name}",
            labels=(sample.labels.negative, sample.labels.positive),
            random_state=seed,
        )
        write_page(page, out)
    emit({"report": str(out), "data": sample.summary()}, f"Report: {out}", as_json=as_json)


def info(model: ModelFile, as_json: AsJson = False) -> None:
    """Say what a model file holds and which columns it needs, without data."""
    saved = load_model(model)
    record = record_of(saved, model) if was_fitted_here(saved) else None
    result: dict[str, Any] = {
        "model": str(model),
        "versions": saved.versions,
        "metadata": saved.metadata,
        "fit": fit_facts(saved.model if record is None else saved.model[-1]),
    }
    table = grid()
    if record is not None:
        training = record.training
        table.add_row("target", f"{record.target} = {record.labels.positive}")
        table.add_row("FPR range", "[{:g}, {:g}]".format(*record.fpr_range))
        table.add_row("trained on", f"{training['file']}, {training['rows']} rows")
        table.add_row("columns", record.schema.described())
        for kind, names in (
            ("numeric", record.schema.numeric),
            ("categorical", record.schema.category),
        ):
            if names:
                table.add_row(kind, Text(", ".join(names)))
    for name, value in result["fit"].items():
        if name != "partial_auc":
            shown = f"{value:.6g}" if isinstance(value, float) else in_options(str(value))
            table.add_row(name, shown)
    for name, version in saved.versions.items():
        table.add_row(f"written with {name}", str(version))
    emit(result, table, as_json=as_json)


def demo(
    output: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder for the reports.")] = Path(
        "demo_output"
    ),
    as_json: AsJson = False,
) -> None:
    """Train on a data set that ships with scikit-learn, compare, and write the reports."""
    from aucuba.demo import main

    main(output, as_json=as_json)
