"""Default members of RegionStack, and the others that it knows by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from scipy import sparse
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from aucuba._core._columns import Columns
from aucuba._roc._region import Region
from aucuba.ensemble._members import BoostingMember, Member, PlainMember, ReweightedMember
from aucuba.ensemble._region_reweighted import RegionReweighted
from aucuba.linear import PartialAUCClassifier

DEFAULT_MEMBERS = ("boosting", "forest", "extra_trees", "nystroem", "splines", "linear")
# More trees tell rates near the ends apart, where ranges lie; those of extra trees are cheap.
_N_TREES, _N_EXTRA_TREES = 100, 300


@dataclass(frozen=True)
class NamedMembers:
    """The members that a stack knows by name, for the columns of a table and a region."""

    X: Any
    region: Region
    strength: float

    @cached_property
    def columns(self) -> Columns:
        """Kinds of the columns, found by one scan of the table."""
        return Columns.from_table(self.X)

    def member(self, name: str) -> Member:
        """Make one of `MEMBERS`."""
        if name not in MEMBERS:
            raise ValueError(
                f"Unknown member {name!r}; the names are {', '.join(map(repr, MEMBERS))}. Give any "
                "other classifier as a pair (name, estimator)."
            )
        if sparse.issparse(self.X):
            raise ValueError(
                f"The member {name!r} needs a dense table, got a sparse one of shape {self.X.shape}. "
                "Pass X.toarray() if it fits into memory, else pairs (name, estimator) of classifiers "
                "that take sparse input."
            )
        return MEMBERS[name](self)

    def boosting(self) -> Member:
        """Gradient boosting, tuned and re-weighted for the region."""
        return BoostingMember(self.columns, self.strength)

    def lightgbm(self) -> Member:
        """LightGBM, re-weighted for the region."""
        try:
            from lightgbm import LGBMClassifier
        except ImportError as error:
            raise ImportError(
                "The member 'lightgbm' needs LightGBM: pip install lightgbm."
            ) from error
        booster = LGBMClassifier(n_estimators=200, learning_rate=0.05, n_jobs=1, verbose=-1)
        model = self.columns.for_trees(booster)
        return ReweightedMember(
            RegionReweighted(model, **self.region.params, strength=self.strength)
        )

    def forest(self) -> Member:
        """A random forest."""
        return PlainMember(self.columns.for_trees(RandomForestClassifier(_N_TREES)))

    def extra_trees(self) -> Member:
        """Extremely randomised trees."""
        return PlainMember(self.columns.for_trees(ExtraTreesClassifier(_N_EXTRA_TREES)))

    def nystroem(self) -> Member:
        """Nystroem features of a Gaussian kernel, trained for the region."""
        model = PartialAUCClassifier(**self.region.params, kernel="rbf")
        return PlainMember(self.columns.for_linear(model))

    def splines(self) -> Member:
        """Splines of the columns, trained for the region."""
        return PlainMember(self.columns.for_splines(PartialAUCClassifier(**self.region.params)))

    def linear(self) -> Member:
        """The columns themselves, trained for the region."""
        return PlainMember(self.columns.for_linear(PartialAUCClassifier(**self.region.params)))


MEMBERS: dict[str, Callable[[NamedMembers], Member]] = {
    "boosting": NamedMembers.boosting,
    "lightgbm": NamedMembers.lightgbm,
    "forest": NamedMembers.forest,
    "extra_trees": NamedMembers.extra_trees,
    "nystroem": NamedMembers.nystroem,
    "splines": NamedMembers.splines,
    "linear": NamedMembers.linear,
}
