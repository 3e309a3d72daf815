"""Save a model as skops describes its objects, with fixed names for the classes of this library."""

from __future__ import annotations

import io as streams
import json
import os
import platform
import sys
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np
import sklearn

import aucuba
from aucuba._base._files import written_atomically
from aucuba._base._warnings import warn_user
from aucuba.persistence._archive import FORMAT, HEADER, SCHEMA, packed, unpacked
from aucuba.persistence._names import NEVER
from aucuba.persistence._schema import Node, foreign_nodes, name_of, stored_form

# A cache of one machine.
_CACHE = "joblib.memory.Memory"


def save_model(
    model: Any,
    path: str | os.PathLike[str],
    *,
    baseline: Any = None,
    metadata: Mapping[str, Any] | None = None,
    labels: tuple[str, str] | tuple[int, int] | None = None,
) -> None:
    """Write a fitted model to a file; a failure leaves no partial file.

    Estimators of this library, and the classes of scikit-learn that they and the command line use,
    load without further ado. Other classes, such as your own base estimator, are stored too; a warning
    names those that `load_model` must be told to trust.

    Parameters
    ----------
    model : estimator
        A fitted estimator, or a scikit-learn pipeline that ends in one.
    path : str or Path
        The file to write; an existing file is replaced.
    baseline : estimator, default=None
        A model to compare with, kept in the same file.
    metadata : mapping, default=None
        Values of JSON's types.
    labels : (label, label), default=None
        For a model of the classes 0 and 1: two texts or two whole numbers that `SavedModel.predict`
        returns in their place.

    Raises
    ------
    TypeError
        If the path comes first.
    ValueError
        If the model holds something that cannot be stored safely, such as a function.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import make_classification
    >>> from aucuba import PartialAUCClassifier
    >>> from aucuba.persistence import load_model, save_model
    >>> X, y = make_classification(200, random_state=0)
    >>> model = PartialAUCClassifier((0.0, 0.2)).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(model, f"{folder}/model.aucuba", metadata={"about": "a test"})
    ...     saved = load_model(f"{folder}/model.aucuba")
    >>> bool((saved.model.coef_ == model.coef_).all())
    True
    >>> saved.metadata
    {'about': 'a test'}
    """
    if isinstance(model, str | os.PathLike) or not isinstance(path, str | os.PathLike):
        raise TypeError(
            f"save_model got a {type(model).__name__} as model and a {type(path).__name__} as path; "
            "write save_model(model, path), the model first."
        )
    from skops import io

    header = {
        "format": FORMAT,
        "versions": {
            "aucuba": aucuba.__version__,
            "scikit-learn": sklearn.__version__,
            "python": platform.python_version(),
        },
        "metadata": dict(metadata or {}),
        "labels": None if labels is None else list(labels),
    }
    described = io.dumps({"model": model, "baseline": baseline})
    with zipfile.ZipFile(streams.BytesIO(described)) as archive:
        entries = unpacked(archive)
    schema, files = stored_form(json.loads(entries[SCHEMA]))
    foreign = foreign_nodes(schema)
    _refuse_functions(foreign)
    content = {HEADER: json.dumps(header).encode(), SCHEMA: json.dumps(schema).encode()}
    content |= {name: entries[old] for old, name in files.items()}
    with written_atomically(path) as draft:
        draft.write_bytes(packed(content, zipfile.ZIP_DEFLATED))
    if foreign:
        warn_user(
            f"The model holds classes that aucuba does not load by itself. Load it with "
            f"load_model({str(path)!r}, trusted={sorted(foreign)}).",
        )


def _refuse_functions(foreign: Mapping[str, Node]) -> None:
    refused = sorted(name for name, node in foreign.items() if not _can_be_named(node))
    if refused:
        raise ValueError(
            f"This model cannot be saved: it holds {', '.join(refused)}. Model files take estimators; "
            "replace functions by named settings and set memory=None."
        )


def _can_be_named(node: Node) -> bool:
    """Tell whether a foreign node is a class, or a function of NumPy or SciPy, that can be trusted."""
    if node["__loader__"] in NEVER or name_of(node) == _CACHE:
        return False
    found = getattr(sys.modules.get(node["__module__"]), node["__class__"], None)
    return isinstance(found, type | np.ufunc)
