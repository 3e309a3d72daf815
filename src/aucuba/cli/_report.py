"""``aucuba report``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aucuba.cli._console import emit, progress_bar
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
    ModelFile,
    Qid,
    RandomState,
    SampleWeight,
    Target,
    Unknown,
    chosen_range,
)

if TYPE_CHECKING:
    from aucuba.cli._record import FitRecord
    from aucuba.cli._samples import LabelledTable
    from aucuba.persistence import SavedModel
    from aucuba.report import Page

_Out = Annotated[Path, typer.Option(metavar="report.html", help="The page to write.")]
_EdgeFile = Annotated[
    Path | None,
    typer.Option(help="For a ranker of graphs: a table of source, target and edge features."),
]


def report(
    model: ModelFile,
    data: DataFile,
    out: _Out,
    target: Target = None,
    fpr_range: FprRange = None,
    max_fpr: MaxFpr = None,
    qid: Qid = None,
    sample_weight: SampleWeight = None,
    unknown: Unknown = "error",
    format: Format = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    labels: LabelFile = None,
    edges: _EdgeFile = None,
    random_state: RandomState = 0,
    as_json: AsJson = False,
) -> None:
    """Write one self-contained HTML page about a model on labelled rows.

    For a changepoint model DATA has the columns sequence, value and, where there is one, position or
    time. For a ranker of graphs saved from Python it has the columns node, the labels (--target, else
    label) and the node features, and graph if there are several graphs.
    """
    from aucuba._base._files import check_place
    from aucuba.cli._long_tables import page_of_long_tables
    from aucuba.cli._record import fit_record
    from aucuba.cli._samples import evaluation_table
    from aucuba.cli._tables import TableFile
    from aucuba.persistence import load_model
    from aucuba.report import write_page

    check_place(out, model, data, labels, edges)
    saved = load_model(model)
    file = TableFile.from_options(data, format, delimiter, decimal, encoding)
    result: dict[str, Any] = {"report": str(out)}
    with progress_bar(f"Writing {out.name}"):
        page = page_of_long_tables(saved.model, file, labels=labels, edges=edges, target=target)
        if page is None:
            record = fit_record(saved, model)
            region = chosen_range(fpr_range, max_fpr, record.fpr_range)
            roles: dict[str, Any] = {"target": target, "sample_weight": sample_weight, "qid": qid}
            table = evaluation_table(saved, record, file, **roles, unknown=unknown)
            title = f"{model.name} on {data.name}"
            page = _classifier_page(saved, record, table, region, title, random_state)
            result["data"] = table.summary()
        write_page(page, out)
    emit(result, f"Report: {out}", as_json=as_json)


def _classifier_page(
    saved: SavedModel,
    record: FitRecord,
    table: LabelledTable,
    fpr_range: tuple[float, float],
    title: str,
    random_state: int,
) -> Page:
    from aucuba.report import ScoredSample, classifier_report

    scored = ScoredSample(
        table.y,
        saved.model.decision_function(table.X),
        baseline=saved.baseline.decision_function(table.X),
        **table.weight_and_query,
    )
    prepare = saved.model[:-1]
    return classifier_report(
        saved.model[-1],
        scored,
        fpr_range=fpr_range,
        X=prepare.transform(table.X),
        feature_names=[str(name) for name in prepare.get_feature_names_out()],
        table=table.X if record.schema.n_features is None else None,
        title=title,
        labels=(table.labels.negative, table.labels.positive),
        random_state=random_state,
    )
