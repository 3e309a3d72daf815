"""A small sample of queries with graded documents: 251 queries, 300 sparse features, grades 0 to 4."""

from __future__ import annotations

import numpy as np

from reproductions.data._home import data_file, reading
from reproductions.data._svmlight import read_svmlight
from reproductions.data.ohsumed import Queries

N_FEATURES = 300


def load_letor_sample() -> Queries:
    """Read training and test queries together; a ``.query`` file has the number of rows of each."""
    tables, grades, sizes = [], [], []
    for part in ("train", "test"):
        X, grade = read_svmlight(data_file("letor_sample", f"rank.{part}.gz"), N_FEATURES)
        with reading(data_file("letor_sample", f"rank.{part}.query")) as path:
            counts = np.array(path.read_text().split(), dtype=np.intp)
            if counts.sum() != len(grade):
                raise ValueError(f"queries of {counts.sum()} rows for {len(grade)} documents")
        tables.append(X.toarray())
        grades.append(grade)
        sizes.append(counts)
    size = np.concatenate(sizes)
    return Queries(
        np.concatenate(tables),
        np.concatenate(grades).astype(np.intp),
        np.repeat(np.arange(size.size), size),
    )
