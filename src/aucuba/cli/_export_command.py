"""The command ``aucuba export``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from aucuba._base._files import check_place, written_atomically
from aucuba.cli._command_options import ExportOptions
from aucuba.cli._console import Grid, emit
from aucuba.cli._fit_record import FitRecord, fit_record
from aucuba.cli._formats import Kept
from aucuba.cli._table_file import TableFile
from aucuba.export import to_sql
from aucuba.persistence import SavedModel, load_model


def run(options: ExportOptions) -> None:
    """Write the files and compare the graph with the model."""
    if options.onnx is None and options.sql is None:
        raise ValueError("Nothing to write: give --onnx FILE, --sql FILE, or both.")
    if options.onnx is None:
        options.refuse("is for --onnx", "calibration", "check")
    for out in (options.onnx, options.sql):
        if out is not None:
            check_place(out, options.model, options.calibration, options.check)
    if options.onnx is not None and options.sql is not None and _are_one(options.onnx, options.sql):
        raise ValueError(f"--onnx and --sql both name {options.sql}; one would replace the other.")
    saved = load_model(options.model)
    record, grid = fit_record(saved, options.model), Grid()
    names = list(record.schema.kinds)
    result: dict[str, Any] = {"model": str(options.model)}
    # Both are made before either is written, so a model without SQL leaves no graph behind.
    contents = dict[Path, bytes]()
    if options.onnx is not None:
        contents[options.onnx], facts = _graph(options, saved, record)
        result |= {"onnx": str(options.onnx), **facts}
    if options.sql is not None:
        text = to_sql(saved.model, options.table, columns=names)
        contents[options.sql] = f"{text};\n".encode()
        result["sql"] = str(options.sql)
    for out, content in contents.items():
        with written_atomically(out) as draft:
            draft.write_bytes(content)
    for name, value in result.items():
        if value != "":
            grid.add_line(name.replace("_", " "), str(value))
    emit(result, grid, as_json=options.json)


def _are_one(first: Path, second: Path) -> bool:
    return os.path.realpath(first) == os.path.realpath(second)


def _graph(
    options: ExportOptions, saved: SavedModel, record: FitRecord
) -> tuple[bytes, dict[str, Any]]:
    """Make the graph; return its bytes, its promise and how it compares with the model."""
    try:
        from aucuba.export import check_onnx, to_onnx
    except ImportError as error:
        raise ValueError("--onnx needs more packages: pip install 'aucuba[export]'.") from error
    calibration = None if options.calibration is None else _rows(options.calibration, record)
    # The model predicts 0 and 1 for the labels of the file.
    labels = record.labels.negative, record.labels.positive
    made = to_onnx(saved.model, calibration=calibration, labels=labels)
    facts = {one.key: one.value for one in made.metadata_props}
    shown: dict[str, Any] = {
        "promise": facts.get("aucuba.promise", ""),
        "promise_kept_by": facts.get("aucuba.promise_kept_by", ""),
    }
    for name, path in (("calibration", options.calibration), ("check", options.check)):
        if path is not None:
            X = calibration[0] if name == "calibration" and calibration else _rows(path, record)[0]
            shown[f"compared_on_{path.name}"] = str(check_onnx(made, saved.model, X))
    return made.SerializeToString(), shown


def _rows(path: Path, record: FitRecord) -> tuple[Any, Any]:
    """Read features and classes; a file to compare on needs no target."""
    schema = record.schema
    table = TableFile.from_options(path).read(
        Kept(schema.text, (record.target,), schema.first_index)
    )
    X = schema.features(table)
    if record.target not in table.frame.columns:
        return X, None
    return X, record.labels.is_positive(table.column(record.target, "--target")).astype(int)
