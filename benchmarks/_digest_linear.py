"""Fits of the linear and kernel classifiers for ``benchmarks.digests``."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.kernel_approximation import Nystroem
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from aucuba import AUMClassifier, PartialAUCClassifier, PartialAUCClassifierCV, PartialAUCSVC
from aucuba.linear._kernel import scale_gamma
from aucuba.metrics import make_metric_scorer
from benchmarks._digest_tables import (
    Arrays,
    digested,
    fixed_rows,
    of_model,
    row_groups,
    row_times,
    row_weights,
    rows,
    training,
)

RANGE, BAND = (0.0, 0.3), (0.1, 0.4)


def linear(**params: Any) -> PartialAUCClassifier:
    """The linear model of a region, trained by the smooth ramp."""
    return PartialAUCClassifier(**{"fpr_range": RANGE} | params)


def svc(loss: str, **params: Any) -> PartialAUCSVC:
    """The linear or kernel model of a region, trained by a hinge loss."""
    return PartialAUCSVC(**{"fpr_range": RANGE, "loss": loss, "random_state": 0} | params)


def chosen(**params: Any) -> PartialAUCClassifierCV:
    """The linear model of a region, its penalty chosen by cross-validation."""
    return PartialAUCClassifierCV(**{"fpr_range": RANGE, "Cs": 3, "random_state": 0} | params)


def dask_array(X: np.ndarray) -> Any:
    import dask.array as da

    return da.from_array(X, chunks=(90, -1))


def dask_csr(X: np.ndarray) -> Any:
    return dask_array(X).map_blocks(sparse.csr_matrix)


def dask_frame(X: np.ndarray) -> Any:
    import dask.dataframe as dd
    import pandas as pd

    return dd.from_pandas(pd.DataFrame(X, columns=list("abcdef")), npartitions=4)


def tensor(X: np.ndarray) -> Any:
    import torch

    return torch.tensor(X)


def fitted(model: Any, convert: Any = np.asarray, **given: Any) -> Arrays:
    """Fit a model on the rows of training in a container, and score rows in the same one."""
    X, y = training()
    model.fit(convert(X), y, **given)
    return of_model(model, convert(fixed_rows()))


@digested
def linear_direct_dense() -> Arrays:
    return fitted(linear())


@digested
def linear_direct_band() -> Arrays:
    return fitted(linear(fpr_range=BAND))


@digested
def linear_direct_weighted() -> Arrays:
    return fitted(linear(), sample_weight=row_weights())


@digested
def linear_direct_queries() -> Arrays:
    return fitted(linear(fpr_range=(0.0, 0.5)), qid=row_groups(40))


@digested
def linear_direct_two_way() -> Arrays:
    return fitted(linear(min_tpr=0.4))


@digested
def linear_direct_fpr_weight() -> Arrays:
    return fitted(linear(fpr_weight=("exponential", 5.0)))


@digested
def linear_direct_csr() -> Arrays:
    return fitted(linear(), sparse.csr_matrix)


@digested
def linear_direct_float32() -> Arrays:
    return fitted(linear(), np.float32)


@digested
def linear_direct_pandas() -> Arrays:
    import pandas as pd

    X, y = training()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = linear(pos_label="ill").fit(frame, np.where(y == 1, "ill", "well"))
    return of_model(model, pd.DataFrame(fixed_rows(), columns=list("abcdef")))


@digested
def linear_direct_polars() -> Arrays:
    import polars

    return fitted(linear(), lambda X: polars.DataFrame(X, schema=list("abcdef")))


@digested
def linear_direct_tensor() -> Arrays:
    return fitted(linear(), tensor)


@digested
def linear_direct_dask_array() -> Arrays:
    return fitted(linear(), dask_array)


@digested
def linear_direct_dask_csr() -> Arrays:
    return fitted(linear(), dask_csr)


@digested
def linear_direct_dask_frame() -> Arrays:
    return fitted(linear(), dask_frame)


@digested
def linear_direct_kernel() -> Arrays:
    X, y = training()
    gamma = scale_gamma(X, None)
    features = Nystroem(gamma=gamma, n_components=50, random_state=0).fit(X)
    model = linear(tol=1e-3).fit(features.transform(X), y)
    return of_model(model, features.transform(fixed_rows()))


@digested
def linear_direct_few_rows() -> Arrays:
    X, y = training()
    return of_model(linear(fpr_range=(0.0, 0.05)).fit(X[:60], y[:60]), fixed_rows())


@digested
def svc_structural_dense() -> Arrays:
    return fitted(svc("structural"))


@digested
def svc_structural_csr() -> Arrays:
    return fitted(svc("structural", fpr_range=BAND), sparse.csr_matrix)


@digested
def svc_structural_kernel() -> Arrays:
    return fitted(svc("structural", kernel="rbf"))


@digested
def svc_structural_queries() -> Arrays:
    return fitted(svc("structural", fpr_range=(0.0, 0.5)), qid=row_groups(40))


@digested
def svc_structural_cutting_planes() -> Arrays:
    return fitted(svc("structural", solver="cutting_plane"))


@digested
def svc_tight_dense() -> Arrays:
    return fitted(svc("tight"))


@digested
def svc_tight_weighted_two_way() -> Arrays:
    return fitted(svc("tight", min_tpr=0.3), sample_weight=row_weights())


@digested
def svc_tight_kernel_poly() -> Arrays:
    return fitted(svc("tight", kernel="poly", degree=2))


@digested
def svc_tight_tensor() -> Arrays:
    return fitted(svc("tight", fpr_range=BAND), tensor)


@digested
def svc_tight_dask_array() -> Arrays:
    return fitted(svc("tight"), dask_array)


@digested
def svc_tight_dc_dense() -> Arrays:
    return fitted(svc("tight_dc", fpr_range=BAND))


@digested
def cv_direct_dense() -> Arrays:
    return fitted(chosen())


@digested
def cv_direct_weighted() -> Arrays:
    return fitted(chosen(), sample_weight=row_weights())


@digested
def cv_direct_queries() -> Arrays:
    return fitted(chosen(fpr_range=(0.0, 0.5)), qid=row_groups(40))


@digested
def cv_direct_groups() -> Arrays:
    return fitted(chosen(), groups=row_groups())


@digested
def cv_direct_time() -> Arrays:
    return fitted(chosen(), time=row_times())


@digested
def cv_direct_dask() -> Arrays:
    return fitted(chosen(), dask_array)


@digested
def cv_direct_dask_groups_time() -> Arrays:
    X, y = training()
    model = chosen().fit(dask_frame(X), y, groups=row_groups(), time=row_times())
    return of_model(model, dask_frame(fixed_rows()).compute())


@digested
def cv_direct_tensor() -> Arrays:
    return fitted(chosen(), tensor)


@digested
def cv_tight_dense() -> Arrays:
    X, y = training()
    search = GridSearchCV(
        svc("tight"),
        {"C": np.logspace(-3, 3, 3)},
        scoring=make_metric_scorer("partial_auc", fpr_range=RANGE),
        cv=StratifiedKFold(5, shuffle=True, random_state=0),
    )
    return of_model(search.fit(X, y).best_estimator_, fixed_rows())


@digested
def aum_dense() -> Arrays:
    return fitted(AUMClassifier(random_state=0))


@digested
def aum_held_out_weighted() -> Arrays:
    model = AUMClassifier(validation_fraction=0.3, random_state=0)
    return fitted(model, sample_weight=row_weights())


@digested
def aum_all_steps_csr() -> Arrays:
    return fitted(AUMClassifier("all", max_iter=5, random_state=0), sparse.csr_matrix)


@digested
def aum_tensor() -> Arrays:
    return fitted(AUMClassifier(random_state=0), tensor)


@digested
def aum_dask() -> Arrays:
    return fitted(AUMClassifier(random_state=0), dask_array)


@digested
def aum_line_searches() -> Arrays:
    from aucuba.aum import ErrorFunctions, maximize_auc, minimize_aum

    X, y = rows()
    errors = ErrorFunctions.from_labels(y)
    highest = maximize_auc(errors, X[:, 0], X[:, 1], max_step=5.0)
    lowest = minimize_aum(errors, X[:, 0], X[:, 1])
    return {"auc": highest.auc, "auc_step": highest.step, "aum": lowest.aum, "step": lowest.step}
