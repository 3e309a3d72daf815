"""The members that a stack has without being told."""

from __future__ import annotations

from typing import Any

from scipy import sparse
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from aucuba._core._columns import Columns
from aucuba.ensemble._members import BoostingMember, Member, PlainMember, ReweightedMember
from aucuba.ensemble._region_reweighted import RegionReweighted
from aucuba.linear import PartialAUCClassifier

DEFAULT_MEMBERS = ("boosting", "forest", "extra_trees", "nystroem", "splines", "linear")
# More trees tell rates near the ends apart, where ranges lie; those of extra trees are cheap.
_N_TREES, _N_EXTRA_TREES = 100, 300


def named_member(name: str, X: Any, fpr_range: tuple[float, float], strength: float) -> Member:
    """One of `MEMBERS` for the columns of X."""
    if name not in MEMBERS:
        raise ValueError(
            f"Unknown member {name!r}; the names are {', '.join(map(repr, MEMBERS))}. Give any other "
            "classifier as a pair (name, estimator)."
        )
    if sparse.issparse(X):
        raise ValueError(
            f"The member {name!r} needs a dense table, got a sparse one of shape {X.shape}. Pass "
            "X.toarray() where it fits into memory, else give pairs (name, estimator) of classifiers "
            "that take sparse input."
        )
    return MEMBERS[name](Columns.from_table(X), fpr_range, strength)


def _boosting(columns: Columns, fpr_range: tuple[float, float], strength: float) -> Member:
    return BoostingMember(columns, strength)


def _lightgbm(columns: Columns, fpr_range: tuple[float, float], strength: float) -> Member:
    try:
        from lightgbm import LGBMClassifier
    except ImportError as error:
        raise ImportError(
            "The member 'lightgbm' needs LightGBM: pip install 'aucuba[boosting]'."
        ) from error
    booster = LGBMClassifier(n_estimators=200, learning_rate=0.05, n_jobs=1, verbose=-1)
    model = columns.for_trees(booster)
    return ReweightedMember(RegionReweighted(model, fpr_range, strength=strength))


def _forest(columns: Columns, fpr_range: tuple[float, float], strength: float) -> Member:
    return PlainMember(columns.for_trees(RandomForestClassifier(_N_TREES)))


def _extra_trees(columns: Columns, fpr_range: tuple[float, float], strength: float) -> Member:
    return PlainMember(columns.for_trees(ExtraTreesClassifier(_N_EXTRA_TREES)))


def _nystroem(columns: Columns, fpr_range: tuple[float, float], strength: float) -> Member:
    return PlainMember(columns.for_linear(PartialAUCClassifier(fpr_range, kernel="rbf")))


def _splines(columns: Columns, fpr_range: tuple[float, float], strength: float) -> Member:
    return PlainMember(columns.for_splines(PartialAUCClassifier(fpr_range)))


def _linear(columns: Columns, fpr_range: tuple[float, float], strength: float) -> Member:
    return PlainMember(columns.for_linear(PartialAUCClassifier(fpr_range)))


MEMBERS = {
    "boosting": _boosting,
    "lightgbm": _lightgbm,
    "forest": _forest,
    "extra_trees": _extra_trees,
    "nystroem": _nystroem,
    "splines": _splines,
    "linear": _linear,
}
