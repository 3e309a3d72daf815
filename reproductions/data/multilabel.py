"""Multi-label sets of the Mulan collection: yeast (14 labels) and scene (6 labels)."""

from __future__ import annotations

import gzip
import re
from dataclasses import dataclass

import numpy as np

from aucuba._base._typing import FloatArray, IntArray
from aucuba._base._validation import check_choice
from reproductions.data._home import data_file, reading


@dataclass(frozen=True)
class MultilabelSplit:
    """Features and label indicators of the published training and test parts."""

    X_train: FloatArray
    Y_train: IntArray
    X_test: FloatArray
    Y_test: IntArray
    label_names: list[str]


def load_multilabel(name: str) -> MultilabelSplit:
    """Load "yeast" or "scene"."""
    check_choice(name, "name", ("yeast", "scene"))
    with reading(data_file("multilabel", f"{name}.xml")) as path:
        text = path.read_text()
        labels = re.findall(r'<label name="([^"]+)"', text)
        if not labels or "</labels>" not in text:
            raise ValueError("no whole list of labels")
    X_train, Y_train = _read(name, "train", labels)
    X_test, Y_test = _read(name, "test", labels)
    return MultilabelSplit(X_train, Y_train, X_test, Y_test, labels)


def _read(name: str, part: str, labels: list[str]) -> tuple[FloatArray, IntArray]:
    """Features and labels of one dense ARFF file."""
    path = data_file("multilabel", f"{name}-{part}.arff.gz")
    with reading(path), gzip.open(path, "rt") as file:
        columns = []
        for line in file:
            words = line.split()
            if words and words[0].lower() == "@attribute":
                columns.append(words[1].strip("'\""))
            elif words and words[0].lower() == "@data":
                break
        rows = [line for line in file if line.strip()]
        if not rows:
            raise ValueError("no rows")
        values = np.loadtxt(rows, delimiter=",", ndmin=2)
        if values.shape[1] != len(columns):
            raise ValueError(f"{values.shape[1]} columns, its header names {len(columns)}")
        chosen = np.array([columns.index(label) for label in labels])
        features = np.setdiff1d(np.arange(len(columns)), chosen)
        return values[:, features], values[:, chosen].astype(np.intp)
