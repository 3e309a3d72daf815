"""Scores of rows held out from a base estimator, on which thresholds are set."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import Bunch, _safe_indexing, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import _check_method_params, _num_samples, has_fit_parameter

from aucuba._base._callbacks import CallbackSupport, Progress, fit_monitor
from aucuba._base._estimator import (
    OfTwoClasses,
    positive_class,
    positive_scores,
    response_of,
    two_classes,
)
from aucuba._base._parallel import map_parallel
from aucuba._base._typing import AnyArray, FloatArray, IntArray
from aucuba._base._validation import (
    as_table,
    finite_scores,
    is_of_dask,
    labels_of_rows,
    query_index,
    row_weights,
    time_index,
)
from aucuba._columns._row_digest import is_single, row_digest
from aucuba._rows._sample import RankingSample, Sample
from aucuba._rows._splits import Split, require_both_classes
from aucuba.threshold._held_out import (
    detector_classes,
    fitted_classes,
    flagged_end,
    held_out_splits,
    require_fitted,
    require_known,
    require_own_scores,
    stratum_index,
    stratum_labels,
)


class HeldOutCalibration(OfTwoClasses, MetaEstimatorMixin, CallbackSupport, BaseEstimator, ABC):
    """An estimator around a base classifier that is scored on rows held out from it.

    ``_needs_labels`` says whether rows for a fitted base need labels, ``_takes_normal_rows`` whether an
    outlier detector takes rows without labels for normal ones.
    """

    estimator: Any
    cv: Any
    strata: Any
    pos_label: Any
    response_method: str
    n_jobs: int | None
    random_state: Any
    score_direction: str = "auto"
    score_direction_: str
    _needs_labels = True
    _takes_normal_rows = False
    _remedy_for_weights = ""

    @property
    def _stratified(self) -> bool:
        """Whether held-out rows are drawn with both classes in proportion."""
        return True

    @property
    @abstractmethod
    def _counts_weights(self) -> bool:
        """Whether weights are used beyond the fit of the base."""

    def get_metadata_routing(self) -> MetadataRouter:
        """Collect the metadata requests of this ``fit``, the base estimator and the splitter.

        Returns
        -------
        MetadataRouter
            Requests of all three.
        """
        to_fit = MethodMapping().add(caller="fit", callee="fit")
        to_split = MethodMapping().add(caller="fit", callee="split")
        router = MetadataRouter(owner=self).add_self_request(self)
        router.add(estimator=self.estimator, method_mapping=to_fit)
        return router.add(splitter=self.cv, method_mapping=to_split)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        base = get_tags(self.estimator).input_tags
        tags.input_tags.sparse = base.sparse
        tags.input_tags.allow_nan = base.allow_nan
        tags.input_tags.string = base.string
        tags.input_tags.categorical = base.categorical
        return tags

    def _hold_out(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        groups: Any,
        time: Any,
        params: dict[str, Any],
        enough: Callable[[Sample], None],
    ) -> tuple[RankingSample, IntArray]:
        """Fit the base estimator, unless it is fitted; return the held-out rows and their indices.

        ``enough`` raises an error, before any model is fitted, if the held-out rows are too few.
        """
        self.score_direction_, is_detector = flagged_end(self.estimator, self.score_direction)
        response_of(self.estimator, self.response_method)
        has_labels = y is not None or not is_detector
        X, y, sample = self._checked_rows(X, y, sample_weight, groups, time, is_detector)
        if is_detector and self._is_prefit:
            require_fitted(self.estimator)
        self.strata_ = np.array([])
        if self.strata is not None:
            labels = stratum_labels(self.strata, X)
            self.strata_ = np.unique(labels)
            sample = replace(sample, stratum=stratum_index(labels, self.strata_))
        if self._is_prefit:
            self._refuse_useless(sample, params)
            self.guarantee_ = True
            enough(sample)
            self.estimator_ = self.estimator
            rows = np.arange(sample.n_rows)
            scored = sample.with_scores(self._positive_scores(self.estimator, X))
        else:
            routed = self._route(sample.weight, groups, time, params)
            target = y if has_labels else None
            scored, rows = self._fit_and_score_splits(X, target, sample, enough, routed)
        if is_detector and self.guarantee_ and not is_of_dask(X):
            score = partial(self._positive_scores, self.estimator_)
            require_own_scores(score, X, rows, scored.score, type(self.estimator_).__name__)
        for name in ("n_features_in_", "feature_names_in_"):
            # Not every base has these, so remove those of an earlier fit.
            self.__dict__.pop(name, None)
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        # An export recognises the rows by this digest; rows of folds, or with groups or weights, do not
        # set the threshold alone.
        alone = self.guarantee_ and sample.group is None and sample.weight is None
        alone = alone and not is_of_dask(X)
        self.held_out_digest_ = row_digest(_safe_indexing(X, rows), y[rows]) if alone else None
        self.held_out_single_ = not is_of_dask(X) and is_single(_safe_indexing(X, rows))
        return scored, rows

    @property
    def _is_prefit(self) -> bool:
        return isinstance(self.cv, str) and self.cv == "prefit"

    def _checked_rows(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, time: Any, is_detector: bool
    ) -> tuple[Any, AnyArray, Sample]:
        """Return rows that can be indexed, checked labels and the sample; set the classes."""
        if is_of_dask(X):
            y, sample_weight, groups, time = self._gathered(X, y, sample_weight, groups, time)
        (X,) = indexable(as_table(X))
        n_rows = _num_samples(X)
        may_lack_labels = not self._needs_labels or self._takes_normal_rows
        if y is None and is_detector and may_lack_labels:
            target = np.zeros(n_rows, dtype=np.intp)
        elif y is None and not self._needs_labels and self._is_prefit:
            target = np.full(n_rows, fitted_classes(self.estimator)[0])
        else:
            target = labels_of_rows(y, n_rows, type(self).__name__)
        weight = row_weights(sample_weight, n_rows)
        if is_detector or self._is_prefit:
            if is_detector:
                self.classes_ = detector_classes(target, self.pos_label)
            else:
                self.classes_ = fitted_classes(self.estimator)
                require_known(target, self.classes_)
            label, positive = positive_class(self.classes_, target, weight, self.pos_label)
            self.pos_label_ = label
        else:
            classes, positive, _ = two_classes(target, weight, self.pos_label)
            self.classes_, self.pos_label_ = classes
        group, ranks = query_index(groups, n_rows, "groups"), time_index(time, n_rows)
        label = self.pos_label_
        return X, target, Sample(positive, weight, group=group, time=ranks, label=label)

    def _route(self, sample_weight: Any, groups: Any, time: Any, params: dict[str, Any]) -> Bunch:
        given = {"sample_weight": sample_weight, "groups": groups, "time": time}
        given = {name: value for name, value in given.items() if value is not None}
        if get_config()["enable_metadata_routing"]:
            return process_routing(self, "fit", **given, **params)
        given.pop("time", None)
        to_split = {name: given.pop(name) for name in ("groups",) if name in given}
        if self._counts_weights and not has_fit_parameter(self.estimator, "sample_weight"):
            # A pipeline takes weights under the name of a step, the promise under their own.
            given.pop("sample_weight", None)
        return Bunch(estimator=Bunch(fit=given | params), splitter=Bunch(split=to_split))

    def _refuse_useless(self, sample: Sample, params: dict[str, Any]) -> None:
        useless = sorted(params) + ["time"] * (sample.time is not None)
        if sample.weight is not None and not self._counts_weights:
            useless.append("sample_weight")
        if useless:
            raise ValueError(
                f"cv='prefit' fits nothing and counts every row once, so {useless} would have no "
                f"effect; leave them out{self._remedy_for_weights}."
            )

    def _fit_and_score_splits(
        self,
        X: Any,
        y: AnyArray | None,
        sample: Sample,
        enough: Callable[[Sample], None],
        routed: Bunch,
    ) -> tuple[RankingSample, IntArray]:
        """Fit the base on the training rows of every split and score the rows held out."""
        fit_params, groups = routed.estimator.fit, routed.splitter.split.get("groups")
        labels = sample.y if y is None else y
        stratified = self._stratified and y is not None
        splits = held_out_splits(self.cv, X, labels, sample, stratified, self.random_state, groups)
        if y is not None:
            require_both_classes(splits, y, fit_params.get("sample_weight"))
        rows = np.concatenate([test for _, test in splits])
        held_out = sample.take(rows)
        self.guarantee_ = len(splits) == 1
        # Report too few rows before any model is fitted.
        enough(held_out)
        with fit_monitor(self, X, y, max_iter=len(splits) + 1) as monitor:
            progress = Progress(monitor)
            fitted = map_parallel(
                self._fit_and_score, splits, X, y, fit_params, n_jobs=self.n_jobs, progress=progress
            )
            if self.guarantee_:
                self.estimator_ = fitted[0][0]
            else:
                self.estimator_ = clone(self.estimator).fit(X, y, **fit_params)
        return held_out.with_scores(np.concatenate([scores for _, scores in fitted])), rows

    def _fit_and_score(
        self, split: Split, X: Any, y: AnyArray | None, fit_params: dict[str, Any]
    ) -> tuple[Any, AnyArray]:
        train, test = split
        part = _check_method_params(X, fit_params, train)
        target = None if y is None else y[train]
        model = clone(self.estimator).fit(_safe_indexing(X, train), target, **part)
        return model, self._positive_scores(model, _safe_indexing(X, test))

    def _strata_of(self, X: Any) -> Any:
        """Return the number of every row's stratum; 0 for all rows without strata."""
        if not self.strata_.size:
            return 0
        return stratum_index(stratum_labels(self.strata, X), self.strata_)

    def _gathered(self, X: Any, *vectors: Any) -> tuple[Any, ...]:
        """Gather the columns that come with a Dask collection; X stays in its blocks."""
        if hasattr(X, "dtypes") and not self._is_prefit:
            raise ValueError(
                f"cv={self.cv!r} draws rows, which a Dask DataFrame does not allow. Fit the base on "
                "other rows and give cv='prefit', or give X as a Dask array, "
                "X.to_dask_array(lengths=True)."
            )
        if self.strata is not None:
            raise ValueError(
                "strata need a table in memory, got a Dask collection; leave strata out."
            )
        from aucuba.design import DaskBlocks

        return DaskBlocks.gather(*vectors)

    def _positive_scores(self, estimator: Any, X: Any) -> AnyArray:
        """Score rows towards the flagged end; the blocks of a Dask collection one by one."""
        if is_of_dask(X):
            from aucuba.design import DaskBlocks

            lazy = DaskBlocks.scored(X, partial(self._positive_scores, estimator))
            (scores,) = DaskBlocks.gather(lazy)
            return np.asarray(scores)
        is_detector = flagged_end(self.estimator, self.score_direction)[1]
        towards = 1 if is_detector else self._positive_index
        scores = positive_scores(estimator, X, towards, self.response_method)[0]
        return scores if self.score_direction_ == "high" else -scores

    def _checked_scores(self, X: Any) -> FloatArray:
        return finite_scores(self._positive_scores(self.estimator_, X), "The base score")
