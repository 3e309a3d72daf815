"""Labelled changepoint problems: features, label errors and folds; annotated raw series."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from aucuba._base._typing import FloatArray, IntArray
from aucuba.changepoint import Label, LabelErrors
from reproductions.data._home import data_file, data_home, reading


@dataclass(frozen=True)
class LabelledSequences:
    """A supervised changepoint problem with features instead of signals.

    Attributes
    ----------
    name : list of str
        Sequences.
    features : ndarray of shape (n_sequences, n_features)
        As published: may contain NaN and infinite entries.
    feature_name : list of str
    errors : list of LabelErrors
    fold : ndarray of int
        Test fold of each sequence, from 1.
    """

    name: list[str]
    features: FloatArray
    feature_name: list[str]
    errors: list[LabelErrors]
    fold: IntArray

    def every(self, step: int) -> LabelledSequences:
        """Keep one sequence in ``step``."""
        rows = np.arange(0, len(self.name), step)
        return LabelledSequences(
            self.name[::step],
            self.features[rows],
            self.feature_name,
            self.subset(rows),
            self.fold[rows],
        )

    def subset(self, rows: Any) -> list[LabelErrors]:
        """Label errors of some rows (indices or a mask)."""
        return [self.errors[i] for i in np.arange(len(self.errors))[rows]]


@dataclass(frozen=True)
class AnnotatedSeries:
    """One raw series and the changes that several people marked in it.

    Attributes
    ----------
    name : str
    signal : ndarray of shape (n_samples,)
        Missing values are filled by linear interpolation.
    annotations : list of ndarray of int
        First samples of new segments, one array per person.
    """

    name: str
    signal: FloatArray
    annotations: list[IntArray]

    def labels(self, margin: int = 5, agreement: float = 0.5) -> list[Label]:
        """Make labels: "at_least_one" where people agree, "none" where nobody saw a change.

        Around a mark that at least the fraction ``agreement`` of the people put within ``margin``
        samples there is a label "at_least_one"; overlapping ones are joined. Stretches of more than
        ``2 * margin`` samples farther than ``margin`` from every mark are labels "none". What lies
        between has no label: people disagree there.
        """
        n = self.signal.size
        marks = np.unique(np.concatenate([*self.annotations, np.empty(0, dtype=np.intp)]))
        votes = np.array(
            [
                sum(np.any(np.abs(row - mark) <= margin) for row in self.annotations)
                for mark in marks
            ]
        )
        agreed = marks[votes >= agreement * len(self.annotations)] if marks.size else marks
        changes = _joined([(mark - margin, mark + margin) for mark in agreed], n)
        free = _gaps(_joined([(mark - margin, mark + margin) for mark in marks], n), n)
        found = [Label(low, high, "at_least_one") for low, high in changes]
        found += [Label(low, high, "none") for low, high in free if high - low > 2 * margin]
        return sorted(found, key=lambda label: label.start)


def load_chipseq(problem: str = "H3K4me3_TDH_immune") -> LabelledSequences:
    """Load a ChIP-seq peak problem of the UCI repository, with their folds of equal numbers of labels.

    ``problem`` is a folder of ``chipseq/`` in the data directory: H3K4me3_TDH_immune,
    H3K36me3_AM_immune or ATAC_JV_adipose.
    """
    folder = ("chipseq", problem)
    return _labelled_sequences(folder, (*folder, "cv", "equal_labels", "folds.csv"))


def load_neuroblastoma(folds: str = "sequenceID") -> LabelledSequences:
    """Load 3,418 labelled copy-number profiles with 117 features.

    ``folds`` names a scheme of ``neuroblastoma/systematic/cv``: sequenceID, profileID, profileSize or
    chrom.
    """
    folder = ("neuroblastoma", "systematic")
    return _labelled_sequences(folder, (*folder, "cv", folds, "folds.csv"))


def load_tcpd(*, univariate: bool = True) -> list[AnnotatedSeries]:
    """Series of the Turing change point dataset with at least one annotator, by name.

    With ``univariate``, only series of one dimension; otherwise the first dimension of each.
    """
    with reading(data_file("tcpd", "annotations.json")) as path:
        annotations = {
            name: [np.unique(np.array(row, dtype=np.intp)) for row in people.values()]
            for name, people in sorted(json.loads(path.read_text()).items())
        }
    # Some series may not be redistributed and are absent from the archive.
    folder = data_home() / "tcpd"
    present = [name for name in annotations if (folder / f"{name}.json").exists()]
    if not present:
        raise FileNotFoundError(
            f"{folder} has annotations.json but none of the series it names, such as "
            f"{next(iter(annotations), 'nile')}.json. Put their files there."
        )
    found = []
    for name in present:
        with reading(folder / f"{name}.json") as path:
            series = json.loads(path.read_text())["series"]
            if univariate and len(series) > 1:
                continue
            raw = np.array(series[0]["raw"], dtype=np.float64)
            found.append(AnnotatedSeries(name, _filled(raw), annotations[name]))
    return found


def _joined(regions: list[tuple[int, int]], n: int) -> list[tuple[float, float]]:
    """Union of increasing regions within the signal, as disjoint intervals."""
    union: list[tuple[float, float]] = []
    for low, high in regions:
        low, high = max(low, 0), min(high, n - 1)
        if union and low <= union[-1][1]:
            union[-1] = (union[-1][0], max(high, union[-1][1]))
        else:
            union.append((float(low), float(high)))
    return union


def _gaps(regions: list[tuple[float, float]], n: int) -> list[tuple[float, float]]:
    """What disjoint increasing regions leave of the signal."""
    edges = [0.0, *(edge for region in regions for edge in region), float(n - 1)]
    return [(low, high) for low, high in zip(edges[::2], edges[1::2], strict=True) if low < high]


def _filled(raw: FloatArray) -> FloatArray:
    known = np.isfinite(raw)
    where = np.arange(raw.size)
    return np.interp(where, where[known], raw[known])


def _labelled_sequences(folder: tuple[str, ...], folds: tuple[str, ...]) -> LabelledSequences:
    try:
        import pandas as pd
    except ImportError:
        raise ImportError("Reading these tables needs pandas: `pip install pandas`.") from None
    with reading(data_file(*folder, "inputs.csv.xz")) as path:
        inputs = pd.read_csv(path).set_index("sequenceID").astype(np.float64)
        names = [str(name) for name in inputs.index]
        if not names:
            raise ValueError("no rows")
    with reading(data_file(*folder, "evaluation.csv.xz")) as path:
        groups = dict(list(pd.read_csv(path).groupby("sequenceID", sort=False)))
        errors = [_label_errors(groups[name], name) for name in names]
    with reading(data_file(*folds)) as path:
        fold = pd.read_csv(path).set_index("sequenceID")["fold"].loc[names]
        number = fold.to_numpy().astype(np.intp)
    columns = [str(column) for column in inputs.columns]
    return LabelledSequences(names, inputs.to_numpy(), columns, errors, number)


def _label_errors(table: Any, name: str) -> LabelErrors:
    return LabelErrors.from_table(
        table["min.log.lambda"],
        table["max.log.lambda"],
        table["fp"],
        table["fn"],
        possible_fp=float(table["possible.fp"].iloc[0]),
        possible_fn=float(table["possible.fn"].iloc[0]),
        n_labels=float(table["labels"].iloc[0]),
        name=name,
    )
