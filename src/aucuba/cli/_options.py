"""Options that several commands have, named after the parameters of the library."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

# Options of earlier versions, and what they are called now.
RENAMED = {
    "--fpr": "--fpr-range",
    "--range": "--fpr-range",
    "--group": "--qid",
    "--weight": "--sample-weight",
    "--seed": "--random-state",
}
DEFAULT_RANGE = (0.0, 0.05)

ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="A file written by `aucuba fit`.")]
DataFile = Annotated[
    Path, typer.Argument(metavar="DATA", help="A csv, tsv, parquet, svmlight or npz file.")
]
Target = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column of labels.",
        show_default="y, or that of the model or svmlight file",
    ),
]
PosLabel = Annotated[
    str | None,
    typer.Option(
        "--pos-label",
        "--positive",
        metavar="LABEL",
        help="The positive label; all others are negative.",
        show_default="the larger of two numbers, or yes, true, positive, fraud",
    ),
]
FprRange = Annotated[
    tuple[float, float] | None,
    typer.Option(
        "--fpr-range",
        metavar="LOW HIGH",
        help="The false positive rates that matter.",
        show_default="0 0.05, or those of the model",
    ),
]
MaxFpr = Annotated[
    float | None, typer.Option("--max-fpr", metavar="HIGH", help="Short for --fpr-range 0 HIGH.")
]
MinTpr = Annotated[
    float | None,
    typer.Option(
        "--min-tpr",
        metavar="LOW",
        help="The lowest true positive rate that matters.",
        show_default="0, or that of the model",
    ),
]
Qid = Annotated[
    str | None,
    typer.Option(
        "--qid", metavar="COLUMN", help="Queries: only rows of the same query are compared."
    ),
]
SampleWeight = Annotated[
    str | None,
    typer.Option(
        "--sample-weight", metavar="COLUMN", help="Weights: a row of weight 3 counts as three rows."
    ),
]
RandomState = Annotated[
    int, typer.Option("--random-state", min=0, help="Seed of everything that is random.")
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format", metavar="NAME", help="Format of DATA, if its name does not tell: csv, npz, ..."
    ),
]
Delimiter = Annotated[
    str | None, typer.Option(metavar="CHARACTER", help="Separator of csv and tsv files, or tab.")
]
Decimal = Annotated[
    str | None,
    typer.Option(metavar="CHARACTER", help="Decimal point of csv and tsv files.", show_default="."),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Encoding of csv and tsv files, such as latin-1.",
        show_default="utf-8",
    ),
]
At = Annotated[
    list[str] | None,
    typer.Option(
        "--at",
        metavar="NAME=VALUE",
        help="An operating point: fpr=, tpr= (or recall=), precision= or k=; or a measure, such as "
        "auc_at_k:k=100. May be repeated.",
    ),
]
RegionOnly = Annotated[
    bool,
    typer.Option(
        "--region-only",
        help="Measure the range alone; of the rows only the highest are kept in memory.",
    ),
]
Capacity = Annotated[
    int | None,
    typer.Option(
        metavar="ROWS",
        min=1,
        help="How many negatives --region-only keeps.",
        show_default="4 million",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object, errors included.")]
Unknown = Annotated[
    str, typer.Option(help="Categories that training has not seen: error, or ignore.")
]

LabelFile = Annotated[
    Path | None,
    typer.Option(
        metavar="TABLE", help="For a changepoint model: a table of sequence, start, end and kind."
    ),
]


def refuse_given(reason: str, **options: object) -> None:
    """Raise an error for the first option that is not None, for a reason such as "is for ..."."""
    for name, value in options.items():
        if value is not None:
            raise ValueError(f"--{name.replace('_', '-')} {reason}; leave it out.")


def chosen_range(
    fpr_range: tuple[float, float] | None,
    max_fpr: float | None,
    default: tuple[float, float] = DEFAULT_RANGE,
) -> tuple[float, float]:
    """Read the range from either option, else take the default."""
    from aucuba._base._validation import check_fpr_range, check_fraction

    if fpr_range is not None and max_fpr is not None:
        raise ValueError("--max-fpr is short for --fpr-range 0 HIGH; give one of the two.")
    if max_fpr is not None:
        return 0.0, check_fraction(max_fpr, "--max-fpr", low_open=True)
    return check_fpr_range(default if fpr_range is None else fpr_range, "--fpr-range")


def lowest_tpr(min_tpr: float | None, default: float = 0.0) -> float:
    """Read the lowest true positive rate that counts, else take the default."""
    from aucuba._base._validation import check_fraction

    return check_fraction(default if min_tpr is None else min_tpr, "--min-tpr", high_open=True)


def chance_level(fpr_range: tuple[float, float], min_tpr: float = 0.0) -> float:
    """Compute the partial AUC of scores without information, whose ROC curve is the diagonal.

    Examples
    --------
    >>> from aucuba.cli._options import chance_level
    >>> print(f"{chance_level((0.0, 0.05)):.3f} {chance_level((0.0, 1.0), min_tpr=0.5):.3f}")
    0.025 0.250
    """
    low, high = fpr_range
    start = min(max(low, min_tpr), high)
    height = (high - min_tpr) ** 2 - (start - min_tpr) ** 2 if high > min_tpr else 0.0
    return height / 2 / (high - low) / (1 - min_tpr)
