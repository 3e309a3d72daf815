"""Choose the members of a stack: from a preset, a list, or the plan of an earlier fit."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from scipy import sparse
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.utils.validation import _num_samples

from aucuba._base._validation import check_choice, check_positive_number
from aucuba._columns._table_columns import Columns
from aucuba._roc._region import Region
from aucuba.ensemble._members import (
    BoostingMember,
    ForestMember,
    Member,
    PlainMember,
    ReweightedMember,
    as_member,
)
from aucuba.ensemble._region_reweighted import RegionReweighted
from aucuba.linear import PartialAUCClassifier

# Members with their settings. The cheapest comes first, because the first is always fitted.
PRESETS: dict[str, dict[str, dict[str, int]]] = {
    "fast": {
        "splines_logistic": {},
        "forest": {},
        "extra_trees_bagged": {},
        "boosting_tuned": {"max_rounds": 80},
    },
    "default": {
        "splines_logistic": {},
        "nystroem_logistic": {},
        "forest": {},
        "extra_trees": {},
        "boosting": {},
        "network": {},
        "linear": {},
    },
    "best": {
        "splines_logistic": {},
        "nystroem_logistic": {"n_landmarks": 300},
        "forest": {"n_trees": 300},
        "extra_trees": {"n_trees": 500},
        "boosting": {"max_rounds": 240},
        "network": {"n_steps": 600},
        "linear": {},
    },
}
# For sparse tables; LightGBM is added if it is installed.
SPARSE_PRESETS: dict[str, dict[str, dict[str, int]]] = {
    "fast": {"linear_logistic": {}, "forest": {}},
    "default": {"linear": {}, "forest": {}, "extra_trees": {}},
    "best": {"linear": {}, "forest": {"n_trees": 500}, "extra_trees": {"n_trees": 500}},
}
SPARSE_MEMBERS = (
    *("linear", "linear_logistic", "forest", "extra_trees", "extra_trees_bagged", "lightgbm"),
    "xgboost",
)
_FOREST_TREES, _EXTRA_TREES = 100, 150
# Below this many rows overhead dominates; smaller members keep the cost in proportion to one booster.
_FEW_ROWS = 2_000
_ROUNDS, _ROUNDS_OF_FEW_ROWS = 240, 120
_LANDMARKS, _LANDMARKS_OF_FEW_ROWS = 300, 200
_STEPS, _STEPS_OF_FEW_ROWS = 400, 150
# Nystroem features are many and small, and need a weaker penalty than columns of variance 1.
_NYSTROEM_C = 10.0
# A small network needs a few hundred steps; on large tables, five epochs are more.
_HIDDEN, _FEWEST_EPOCHS = 32, 5
# Batch size of scikit-learn's networks.
_ROWS_PER_STEP = 200


@dataclass(frozen=True)
class NamedMembers:
    """The members that a stack knows by name, for one table and region.

    Without a region every member is trained by log-loss.
    """

    X: Any
    region: Region | None
    strength: float

    @cached_property
    def columns(self) -> Columns:
        """Kinds of the columns, found in one scan of the table."""
        return Columns.from_table(self.X)

    def member(self, name: str, **settings: Any) -> Member:
        """Make one of `MEMBERS` with settings from a plan."""
        if name not in MEMBERS:
            raise ValueError(
                f"Unknown member {name!r}; the names are {', '.join(map(repr, MEMBERS))}. Give any "
                "other classifier as a pair (name, estimator)."
            )
        if sparse.issparse(self.X) and name not in SPARSE_MEMBERS:
            raise ValueError(
                f"The member {name!r} needs a dense table, got a sparse one of shape {self.X.shape}. "
                f"The members {', '.join(SPARSE_MEMBERS)} take sparse ones, as do pairs (name, "
                "estimator) of classifiers that do; or pass X.toarray() if it fits into memory."
            )
        unknown = sorted(set(settings) - set(inspect.signature(MEMBERS[name]).parameters))
        if unknown:
            raise ValueError(
                f"The member {name!r} has no setting {unknown[0]!r}; leave it out of plan."
            )
        for key, value in settings.items():
            check_positive_number(value, f"{key} of {name!r}", integer=True)
        return MEMBERS[name](self, **settings)

    def boosting(self, max_rounds: int | None = None) -> Member:
        """Gradient boosting, its rounds chosen in the region, then re-weighted for the region."""
        return self._boosting(max_rounds, strength=self.strength if self.region else 1.0)

    def boosting_tuned(self, max_rounds: int | None = None) -> Member:
        """Gradient boosting, its rounds chosen in the region."""
        return self._boosting(max_rounds)

    def boosting_log_loss(self, max_rounds: int | None = None) -> Member:
        """Gradient boosting, its rounds chosen by log-loss."""
        return self._boosting(max_rounds, by_log_loss=True)

    def _boosting(self, max_rounds: int | None, **kind: Any) -> Member:
        rounds = max_rounds or self._by_rows(_ROUNDS_OF_FEW_ROWS, _ROUNDS)
        if self.region is None:
            kind["by_log_loss"] = True
        return BoostingMember(self.columns, rounds, **kind)

    def lightgbm(self) -> Member:
        """LightGBM, re-weighted for the region."""
        model = _imported("lightgbm", "LGBMClassifier", "LightGBM")
        return self._reweighted(model(n_estimators=200, learning_rate=0.05, n_jobs=1, verbose=-1))

    def xgboost(self) -> Member:
        """XGBoost, re-weighted for the region."""
        model = _imported("xgboost", "XGBClassifier", "XGBoost")
        return self._reweighted(model(n_estimators=200, learning_rate=0.05, n_jobs=1))

    def catboost(self) -> Member:
        """CatBoost, re-weighted for the region."""
        model = _imported("catboost", "CatBoostClassifier", "CatBoost")
        return self._reweighted(
            model(iterations=300, thread_count=1, verbose=False, allow_writing_files=False)
        )

    def _reweighted(self, booster: Any) -> Member:
        model = self._for_trees(booster)
        if self.region is None:
            return PlainMember(model)
        return ReweightedMember(
            RegionReweighted(model, **self.region.params, strength=self.strength)
        )

    def forest(self, n_trees: int = _FOREST_TREES) -> Member:
        """A random forest."""
        return ForestMember(self._for_trees(RandomForestClassifier(n_trees)))

    def extra_trees(self, n_trees: int = _EXTRA_TREES) -> Member:
        """Extremely randomised trees."""
        # Entropy rewards pure leaves, ranks rare positives better than Gini and costs no more here.
        trees = ExtraTreesClassifier(n_trees, criterion="entropy")
        return ForestMember(self._for_trees(trees))

    def extra_trees_bagged(self, n_trees: int = _EXTRA_TREES) -> Member:
        """Extremely randomised trees on bootstrap samples, which need no folds."""
        trees = ExtraTreesClassifier(n_trees, bootstrap=True)
        return ForestMember(self._for_trees(trees))

    def nystroem_logistic(self, n_landmarks: int | None = None) -> Member:
        """Logistic regression on Nystroem features of a Gaussian kernel."""
        n_landmarks = n_landmarks or self._by_rows(_LANDMARKS_OF_FEW_ROWS, _LANDMARKS)
        # At most half of the rows, so that a training fold has enough of them for the landmarks.
        features = Nystroem(n_components=min(n_landmarks, max(_num_samples(self.X) // 2, 1)))
        model = make_pipeline(features, LogisticRegression(C=_NYSTROEM_C, max_iter=300))
        return PlainMember(self.columns.for_linear(model), plan={"n_landmarks": n_landmarks})

    def network(self, n_steps: int | None = None) -> Member:
        """A network of one hidden layer."""
        n_steps = n_steps or self._by_rows(_STEPS_OF_FEW_ROWS, _STEPS)
        n_rows = max(_num_samples(self.X), 1)
        epochs = max(_FEWEST_EPOCHS, math.ceil(n_steps * _ROWS_PER_STEP / n_rows))
        model = MLPClassifier(
            (_HIDDEN,),
            alpha=0.01,
            learning_rate_init=0.01,
            max_iter=epochs,
            n_iter_no_change=epochs,
        )
        return PlainMember(self.columns.for_linear(model), plan={"n_steps": n_steps})

    def splines_logistic(self) -> Member:
        """Logistic regression on splines of the columns."""
        return PlainMember(self.columns.for_splines(LogisticRegression(max_iter=300)))

    def linear(self) -> Member:
        """A linear model of the columns, trained for the region."""
        if self.region is None:
            return self.linear_logistic()
        model = PartialAUCClassifier(**self.region.params)
        return PlainMember(self._for_linear(model), for_region=True)

    def linear_logistic(self) -> Member:
        """Logistic regression."""
        return PlainMember(self._for_linear(LogisticRegression(max_iter=300)))

    def _by_rows(self, few: int, many: int) -> int:
        return few if _num_samples(self.X) < _FEW_ROWS else many

    def _for_trees(self, model: Any) -> Any:
        return model if sparse.issparse(self.X) else self.columns.for_trees(model)

    def _for_linear(self, model: Any) -> Any:
        if sparse.issparse(self.X):
            # Scaling without centring keeps zeros.
            return make_pipeline(MaxAbsScaler(), model)
        return self.columns.for_linear(model)


MEMBERS: dict[str, Callable[..., Member]] = {
    name: getattr(NamedMembers, name)
    for name in (
        *("boosting", "boosting_tuned", "boosting_log_loss", "forest", "extra_trees"),
        *("extra_trees_bagged", "nystroem_logistic", "splines_logistic", "network", "linear"),
        *("linear_logistic", "lightgbm", "xgboost", "catboost"),
    )
}


def preset_members(preset: str, *, is_sparse: bool) -> dict[str, dict[str, int]]:
    """Return the names and settings of a preset's members for a dense or a sparse table."""
    if not is_sparse:
        return PRESETS[preset]
    installed = importlib.util.find_spec("lightgbm") is not None
    return SPARSE_PRESETS[preset] | ({"lightgbm": {}} if installed else {})


def _imported(module: str, name: str, title: str) -> Any:
    try:
        return getattr(importlib.import_module(module), name)
    except ImportError as error:
        remedy = f"{title}: pip install {module}"
        raise ImportError(f"The member {module!r} needs {remedy}.") from error


# A name or a pair (name, classifier), and the settings of a named member.
Entry = tuple[Any, dict[str, Any]]


def chosen_members(
    estimators: Any, preset: str, plan: Any, named: NamedMembers, *, weighted: bool
) -> list[tuple[str, Member]]:
    """Make every member of ``plan``, else of ``estimators``, else of ``preset``.

    All members are checked before the first is fitted. ``weighted`` says whether rows have weights.
    """
    check_choice(preset, "preset", list(PRESETS))
    if estimators is not None and (not isinstance(estimators, list | tuple) or not estimators):
        raise ValueError(
            "estimators must be a list of names of members and pairs (name, classifier), or None for "
            f"the members of preset; got {estimators!r}."
        )
    if plan is not None:
        given = _read(plan, pairs_of(estimators))
    elif estimators is None:
        given = list(preset_members(preset, is_sparse=sparse.issparse(named.X)).items())
    else:
        given = [(entry, {}) for entry in estimators]
    members = [_member(entry, settings, named, weighted=weighted) for entry, settings in given]
    names = [name for name, _ in members]
    if len(set(names)) < len(names):
        raise ValueError(f"The members of estimators need different names, got {names}.")
    return members


def pairs_of(estimators: Any) -> dict[str, Any]:
    """Return the classifiers of the pairs (name, classifier) in ``estimators``."""
    given = estimators if isinstance(estimators, list | tuple) else ()
    return {entry[0]: entry[1] for entry in given if is_pair(entry)}


def is_pair(entry: Any) -> bool:
    """Return whether an entry is a pair (name, classifier) and not the name of a member."""
    return isinstance(entry, list | tuple) and len(entry) == 2 and isinstance(entry[0], str)


def checked_limit(time_limit: Any, plan: Any) -> float | None:
    """Check the seconds that a fit may take; None means no limit."""
    if time_limit is None:
        return None
    if plan is not None:
        raise ValueError(
            "plan always fits the same members, however long they take; leave time_limit out."
        )
    return check_positive_number(time_limit, "time_limit")


def _read(plan: Any, pairs: dict[str, Any]) -> list[Entry]:
    entries = list(plan) if isinstance(plan, list | tuple) else []
    if not entries or not all(isinstance(one, dict) and "member" in one for one in entries):
        raise ValueError(
            f"plan must be plan_ of a fitted stack, a list of dicts with 'member', got {plan!r}."
        )
    listed: list[Entry] = []
    for one in entries:
        name, settings = one["member"], {key: one[key] for key in one if key != "member"}
        listed.append(((name, pairs[name]) if name in pairs else name, settings))
    return listed


def _member(
    entry: Any, settings: dict[str, Any], named: NamedMembers, *, weighted: bool
) -> tuple[str, Member]:
    if isinstance(entry, str):
        return entry, named.member(entry, **settings)
    if is_pair(entry):
        return entry[0], as_member(*entry, weighted=weighted)
    raise ValueError(
        f"estimators must hold names of members and pairs (name, classifier), got {entry!r}."
    )
