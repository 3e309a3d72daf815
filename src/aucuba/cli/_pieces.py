"""Labelled rows of a file for a saved model, piece by piece."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pandas as pd
from scipy import sparse

from aucuba._base._typing import BoolArray, FloatArray
from aucuba._base._validation import check_choice
from aucuba._base._warnings import warn_user
from aucuba._rows._sample import Sample
from aucuba.cli._record import FitRecord
from aucuba.cli._role_columns import (
    check_rows,
    joined_rows,
    read_queries,
    read_target,
    read_weights,
)
from aucuba.cli._roles import Roles
from aucuba.cli._schema import Schema
from aucuba.cli._tables import Kept, TableFile
from aucuba.persistence import SavedModel

# Rows by which a table is recognised.
DIGESTED = 1000


class HasRows(Protocol):
    """What is left of a piece when its features are gone."""

    @property
    def positive(self) -> BoolArray: ...
    @property
    def weight(self) -> FloatArray | None: ...
    @property
    def query(self) -> pd.Series | None: ...
    @property
    def roles(self) -> Roles: ...


@dataclass(frozen=True)
class LabelledPiece:
    """Some rows of a file: features, class, weight and query, as the model knows them."""

    X: Any
    positive: BoolArray
    weight: FloatArray | None
    query: pd.Series | None
    roles: Roles
    progress: float


def labelled_pieces(
    saved: SavedModel,
    record: FitRecord,
    file: TableFile,
    *,
    target: str | None,
    sample_weight: str | None,
    qid: str | None,
    unknown: str,
) -> Iterator[LabelledPiece]:
    """Read a file in pieces with the model's own columns and labels."""
    check_choice(unknown, "--unknown", ("error", "ignore"))
    schema, roles, first_row = record.schema, None, 0
    target = record.target if target is None else target
    qid = record.qid if qid is None else qid
    for table in file.chunks(Kept(schema.text, (target,), schema.first_index)):
        X = schema.features(table, first_row)
        if unknown == "error":
            schema.refuse_unknown(saved.baseline, X)
        if roles is None:
            roles = Roles.from_options(table, target, sample_weight, qid)
        yield LabelledPiece(
            X,
            record.labels.is_positive(read_target(table, roles, first_row), first_row),
            read_weights(table, roles, first_row),
            read_queries(table, roles, first_row),
            roles,
            table.progress,
        )
        first_row += table.n_rows


def rows_of_pieces(pieces: Sequence[HasRows], record: FitRecord) -> Sample:
    """Join the rows of all pieces, which must have both classes."""
    rows = joined_rows(
        [one.positive for one in pieces],
        [one.weight for one in pieces],
        [one.query for one in pieces],
    )
    check_rows(rows, record.labels, pieces[0].roles)
    return rows


def fingerprint(X: Any, n_rows: int) -> str:
    """Digest the first rows of a table of so many, so that training data are recognised in any file."""
    if sparse.issparse(X):
        part = X[:DIGESTED]
        content = part.indices.tobytes() + part.data.tobytes()
    else:
        # Readers of csv may round the last digit.
        content = X.iloc[:DIGESTED].to_csv(index=False, float_format="%.9g").encode()
    return hashlib.sha256(f"{n_rows} rows ".encode() + content).hexdigest()[:32]


def summary_of_rows(rows: Sample, file: TableFile, schema: Schema, digest: str) -> dict[str, Any]:
    """Count rows, classes and queries, for messages and metadata."""
    return {
        "file": file.path.name,
        "fingerprint": digest,
        "rows": rows.n_rows,
        "positives": int(rows.positive.sum()),
        "features": schema.width,
        "queries": None if rows.query is None else int(rows.query.max()) + 1,
    }


def warn_if_trained_on(digest: str, file: TableFile, record: FitRecord) -> None:
    """Warn if a file has the rows of the training."""
    if digest == record.training["fingerprint"]:
        warn_user(
            f"{file.path.name} has the rows that the model was trained on, so its values flatter. "
            "Measure it on other rows.",
        )
