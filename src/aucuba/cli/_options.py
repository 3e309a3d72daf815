"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="A file written by `aucuba fit`.")]
DataFile = Annotated[
    Path, typer.Argument(metavar="DATA", help="csv, tsv, parquet, svmlight or npz.")
]
Target = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN", help="Labels.", show_default="y, or those of the model or svmlight file"
    ),
]
Positive = Annotated[
    str | None, typer.Option(metavar="LABEL", help="The positive label; all others are negative.")
]
FprRange = Annotated[
    tuple[float, float] | None,
    typer.Option(
        "--fpr",
        metavar="LOW HIGH",
        help="The false positive rates that matter.",
        show_default="0 0.1, or those of the model",
    ),
]
Group = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Queries: rows are compared within a query only."),
]
Weight = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Weights: a row of weight 3 is three rows.")
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format", metavar="NAME", help="Format of DATA, where its name does not say it."
    ),
]
Delimiter = Annotated[
    str | None, typer.Option(metavar="CHARACTER", help="Separator of csv and tsv files, or tab.")
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of everything random.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object, errors included.")]
Unknown = Annotated[
    str,
    typer.Option(help="Categories not seen in training: error, or ignore."),
]
