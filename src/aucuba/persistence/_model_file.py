"""Models on disk: a skops archive with a header of ours, never a pickle.

A model file is a zip archive as skops writes it, plus one entry ``aucuba.json`` that names the format
and holds the caller's metadata. The header is read, and the archive checked, before any object is
built; then only classes on a fixed list are built.
"""

from __future__ import annotations

import json
import platform
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sklearn

import aucuba
from aucuba._core._files import written_atomically
from aucuba.persistence._trees import BrokenTreeError, check_trees

FORMAT = 1
_HEADER = "aucuba.json"
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError)

# Classes beyond those that skops trusts by itself. Nothing here runs code that a file could choose: a
# partial is built only of functions on the list, and trees are checked before they are used.
_TRUSTED = (
    "aucuba.changepoint._detector.SupervisedChangepointDetector",
    "aucuba.changepoint._interval_regression.IntervalRegression",
    "aucuba.changepoint._interval_regression.IntervalRegressionCV",
    "aucuba._core._columns.LinearColumns",
    "aucuba._core._columns.NamedColumns",
    "aucuba._core._plain_columns.PlainColumns",
    "aucuba._core._splines.PortableSplines",
    "aucuba.ensemble._region_reweighted.RegionReweighted",
    "aucuba.ensemble._region_stack.RegionStack",
    "aucuba.linear._kernel.ColumnFeatures",
    "aucuba.linear._aum_classifier.AUMClassifier",
    "aucuba.linear._partial_auc.PartialAUCClassifier",
    "aucuba.linear._partial_auc_cv.PartialAUCClassifierCV",
    "aucuba.structured._label_ranker.StructuredLabelRanker",
    "aucuba.structured._measures.AUC",
    "aucuba.structured._measures.AUCAtK",
    "aucuba.structured._measures.BinnedAUC",
    "aucuba.structured._measures.UnnestedAUC",
    "aucuba.structured._ranker.StructuredRanker",
    "aucuba.threshold._fixed_fpr.FixedFPRClassifier",
    "functools.partial",
    "numpy.dtype",
    "sklearn._loss.link.Interval",
    "sklearn._loss.link.LogitLink",
    "sklearn._loss.loss.HalfBinomialLoss",
    "sklearn.compose._column_transformer._RemainderColsList",
    "sklearn.ensemble._hist_gradient_boosting.binning._BinMapper",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.model_selection._split.GroupKFold",
    "sklearn.model_selection._split.KFold",
    "sklearn.model_selection._split.RepeatedKFold",
    "sklearn.model_selection._split.RepeatedStratifiedKFold",
    "sklearn.model_selection._split.ShuffleSplit",
    "sklearn.model_selection._split.StratifiedGroupKFold",
    "sklearn.model_selection._split.StratifiedKFold",
    "sklearn.model_selection._split.StratifiedShuffleSplit",
    "sklearn.tree._tree.Tree",
    "sklearn.utils.validation.check_array",
)


@dataclass(frozen=True)
class SavedModel:
    """What a model file holds.

    Attributes
    ----------
    model : estimator
        As it was given to `save_model`.
    baseline : estimator or None
        A simpler model of the same rows to compare with.
    metadata : dict
        Whatever the writer wanted to keep, of JSON's types.
    versions : dict
        Versions of aucuba, scikit-learn and Python that wrote the file.
    """

    model: Any
    baseline: Any = None
    metadata: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)


def save_model(
    path: str | Path, model: Any, *, baseline: Any = None, metadata: Mapping[str, Any] | None = None
) -> None:
    """Write a fitted model; the file appears whole or not at all.

    Parameters
    ----------
    path : str or Path
        The file to write; one that exists is replaced.
    model : estimator
        A fitted estimator, or a scikit-learn pipeline that ends in one.
    baseline : estimator, default=None
        A model to compare with, kept in the same file.
    metadata : mapping, default=None
        Values of JSON's types.

    Raises
    ------
    ValueError
        Where the model holds something that cannot be stored safely, such as a function.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import make_classification
    >>> from aucuba import PartialAUCClassifier
    >>> from aucuba.persistence import load_model, save_model
    >>> X, y = make_classification(200, random_state=0)
    >>> model = PartialAUCClassifier((0.0, 0.2)).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(f"{folder}/model.aucuba", model, metadata={"about": "a test"})
    ...     saved = load_model(f"{folder}/model.aucuba")
    >>> bool((saved.model.coef_ == model.coef_).all())
    True
    >>> saved.metadata
    {'about': 'a test'}
    """
    from skops import io

    header = {
        "format": FORMAT,
        "versions": {
            "aucuba": aucuba.__version__,
            "scikit-learn": sklearn.__version__,
            "python": platform.python_version(),
        },
        "metadata": dict(metadata or {}),
    }
    with written_atomically(path) as draft:
        content = {"model": model, "baseline": baseline}
        io.dump(content, draft, compression=zipfile.ZIP_DEFLATED)
        refused = _refused_types(draft)
        if refused:
            raise ValueError(
                f"This model cannot be saved: it holds {', '.join(refused)}. Model files take this "
                "library's estimators and scikit-learn's; replace functions by named settings and set "
                "memory=None. For other libraries use skops itself and name the types you trust."
            )
        with zipfile.ZipFile(draft, "a") as archive:
            archive.writestr(_HEADER, json.dumps(header))


def load_model(path: str | Path) -> SavedModel:
    """Read a model file.

    Nothing from the file is executed: a file that is not ours, damaged, from a newer version or with
    foreign classes inside is refused before any object is built.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    SavedModel

    Raises
    ------
    ValueError
        One sentence on what is wrong with the file and what to do.
    """
    from skops import io

    header = _checked_header(Path(path))
    try:
        refused = _refused_types(path)
        if refused:
            raise ValueError(
                f"{path} holds objects that aucuba does not write ({', '.join(refused)}); it was not "
                "loaded. Do not use it unless you know where it comes from."
            )
        content = io.load(path, trusted=list(_TRUSTED))
        model, baseline = content["model"], content["baseline"]
        check_trees([model, baseline])
    except BrokenTreeError as error:
        raise ValueError(f"{path} is damaged or forged and was not loaded. {error}") from None
    except ValueError:
        raise
    # A crafted or half-understood archive can fail in any way inside skops; none is the user's concern.
    except Exception as error:
        raise ValueError(
            f"{path} is damaged, or was written by an incompatible release: "
            f"{type(error).__name__}. Fit the model again."
        ) from error
    return SavedModel(model, baseline, header["metadata"], header["versions"])


def _checked_header(path: Path) -> dict[str, Any]:
    """The header of an intact model file of a format that this version reads."""
    if not path.is_file():
        raise ValueError(f"There is no model file {path}.")
    foreign = (
        f"{path} is not a model file of aucuba, or only a part of one. Give a file written by "
        "`aucuba fit` or `save_model`; nothing was loaded."
    )
    try:
        with zipfile.ZipFile(path) as archive:
            broken = _first_broken(archive)
            header = {"metadata": {}, "versions": {}, **json.loads(archive.read(_HEADER))}
            wanted = header["format"]
    except (*_DAMAGE, KeyError, TypeError, ValueError, OSError):
        raise ValueError(foreign) from None
    tables = header["metadata"], header["versions"]
    if type(wanted) is not int or wanted < 1 or not all(isinstance(one, dict) for one in tables):
        raise ValueError(foreign)
    if broken is not None:
        raise ValueError(f"{path} is damaged (in {broken}). Copy it again or fit the model again.")
    if wanted > FORMAT:
        writer = header["versions"].get("aucuba", "a newer release")
        raise ValueError(
            f"{path} was written by aucuba {writer} in format {wanted}; this is aucuba "
            f"{aucuba.__version__}, which reads up to format {FORMAT}. Upgrade aucuba."
        )
    return header


def _first_broken(archive: zipfile.ZipFile) -> str | None:
    """The first entry whose content cannot be unpacked or does not match its checksum."""
    for name in archive.namelist():
        try:
            archive.read(name)
        except _DAMAGE:
            return name
    return None


def _refused_types(path: str | Path) -> list[str]:
    from skops import io

    return sorted(set(io.get_untrusted_types(file=path)) - set(_TRUSTED))
