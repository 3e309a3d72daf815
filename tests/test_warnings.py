"""Every warning of the library points at the line of the user's own file."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import check_cv, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC

import aucuba
from aucuba import FewRowsWarning
from aucuba._base import _warnings
from aucuba._base._warnings import Advice, ConvergenceAdvice, FewRowsAdvice, ScaleAdvice
from aucuba.changepoint import IntervalRegression, IntervalRegressionCV, segment
from aucuba.changepoint import SupervisedChangepointDetector as Detector
from aucuba.metrics import RocSketch, partial_auc_score, score_interval
from aucuba.persistence import load_model, save_model
from aucuba.structured import StructuredRanker
from aucuba.threshold import RateMonitor
from tests.estimators import graphs, intervals, rows, signals

RANGE = (0.0, 0.2)


def table(n_negatives=100, n_positives=100, scale=1.0, labels=(0, 1)):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [n_negatives, n_positives])
    X = rng.normal(size=(y.size, 4)) + 0.5 * y[:, None]
    X[:, 0] *= scale
    order = rng.permutation(y.size)
    return X[order], np.asarray(labels)[y[order]]


@dataclass(frozen=True)
class Case:
    """An estimator that warns in ``fit``, on all rows and on half of them, and the warning."""

    model: Any
    data: Callable[[], tuple[Any, Any]]
    category: type[Warning]
    says: str


SMALL = partial(table, n_negatives=24, n_positives=24)
# One per kind of warning and, where several places of the library warn alike, one per place.
IN_FIT = {
    "frequent class": Case(
        aucuba.AUMClassifier(max_iter=300, tol=1e-2),
        partial(table, n_negatives=60, labels=("no", "yes")),
        Advice,
        "The positive class is 'yes'",
    ),
    "frequent class, threshold": Case(
        aucuba.FixedFPRClassifier(LogisticRegression(), 0.3),
        partial(table, n_negatives=90, labels=("no", "yes")),
        Advice,
        "The positive class is 'yes'",
    ),
    "frequent class, re-weighted": Case(
        aucuba.RegionReweighted(LogisticRegression(), RANGE),
        partial(table, n_negatives=60, labels=("no", "yes")),
        Advice,
        "The positive class is 'yes'",
    ),
    "frequent class, stack": Case(
        aucuba.RegionStack(RANGE, estimators=["linear"]),
        partial(table, n_negatives=60, labels=("no", "yes")),
        Advice,
        "The positive class is 'yes'",
    ),
    "scales": Case(
        aucuba.PartialAUCSVC(RANGE, loss="structural", tol=1e-2),
        partial(table, scale=1e7),
        ScaleAdvice,
        "The standard deviations of the columns",
    ),
    "wider region": Case(
        aucuba.PartialAUCClassifier(RANGE), SMALL, FewRowsWarning, "The range covers only"
    ),
    "wider region, cross-validated": Case(
        aucuba.PartialAUCClassifierCV(RANGE, Cs=2), SMALL, FewRowsWarning, "The range covers only"
    ),
    "wider region, re-weighted": Case(
        aucuba.RegionReweighted(LogisticRegression(), RANGE, cv=2),
        SMALL,
        FewRowsWarning,
        "The range covers only",
    ),
    "wider region, stack": Case(
        aucuba.RegionStack(RANGE, estimators=["linear_logistic"], cv=2),
        SMALL,
        FewRowsWarning,
        "The range covers only",
    ),
    "wider region, scorecard": Case(
        aucuba.RegionScorecard(RANGE, max_items=1, cv=2),
        SMALL,
        FewRowsWarning,
        "The range covers only",
    ),
    "no condition": Case(
        aucuba.RegionScorecard(RANGE, cv=2),
        lambda: (np.zeros((80, 2)), np.arange(80) % 2),
        FewRowsWarning,
        "every total is 0",
    ),
    "few in the region": Case(
        aucuba.PartialAUCSVC(RANGE, loss="structural", kernel="rbf"),
        SMALL,
        FewRowsWarning,
        "follow the noise of single rows",
    ),
    "too few for folds": Case(
        aucuba.PartialAUCClassifierCV(RANGE, Cs=2),
        partial(table, n_positives=2),
        FewRowsAdvice,
        "Too few rows",
    ),
    "fewer folds": Case(
        aucuba.RegionReweighted(LogisticRegression(), RANGE, cv=20),
        partial(table, n_positives=20),
        FewRowsWarning,
        "instead of cv=20",
    ),
    "iterations": Case(
        aucuba.PartialAUCSVC(RANGE, loss="structural", max_iter=1),
        table,
        ConvergenceAdvice,
        "Raise max_iter",
    ),
    "iterations, kernel": Case(
        aucuba.PartialAUCSVC(RANGE, loss="structural", kernel="rbf", max_iter=1),
        table,
        ConvergenceAdvice,
        "Raise max_iter",
    ),
    "steps": Case(aucuba.AUMClassifier(max_iter=1), table, ConvergenceAdvice, "Raise max_iter"),
    "interval regression": Case(
        IntervalRegression(max_iter=1), intervals, ConvergenceWarning, "Increase max_iter"
    ),
    "interval regression, cross-validated": Case(
        IntervalRegressionCV(max_iter=1), intervals, ConvergenceWarning, "Increase max_iter"
    ),
    "promise": Case(
        aucuba.FixedFPRClassifier(LogisticRegression(), 0.01, on_failure="trivial"),
        table,
        UserWarning,
        "cannot carry what is promised",
    ),
}


def half(case):
    """The rows of the first fit of a cross-validation in two halves."""
    X, y = case.data()
    train, _ = next(check_cv(2, y, classifier=is_classifier(case.model)).split(X, y))
    return X[train], y[train]


def fit(case):
    clone(case.model).fit(*half(case))


def fit_in_pipeline(case):
    make_pipeline(FunctionTransformer(), case.model).fit(*half(case))


def cross_validate(case, n_jobs=None):
    model = make_pipeline(FunctionTransformer(), case.model)
    return cross_val_score(
        model, *case.data(), cv=2, n_jobs=n_jobs, error_score="raise", scoring=lambda *_: 0.0
    )


def assert_points_here(caught, category, says):
    found = [one for one in caught if says in str(one.message)]
    assert found
    assert {one.filename for one in found} == {__file__}
    assert {one.category for one in found} == {category}


@pytest.mark.parametrize("call", [fit, fit_in_pipeline, cross_validate])
@pytest.mark.parametrize("name", IN_FIT)
def test_a_fit_warns_at_the_users_line(name, call):
    case = IN_FIT[name]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(case)
    assert_points_here(caught, case.category, case.says)


# Joblib starts its processes anew after each error, which takes seconds.
ONE_PER_CLASS = {case.category: name for name, case in reversed(IN_FIT.items())}.values()


def test_every_class_of_warning_has_a_case():
    ours = {one for one in vars(_warnings).values() if isinstance(one, type)}
    ours = {
        one for one in ours if issubclass(one, Warning) and one.__module__ == _warnings.__name__
    }
    assert len(ours) == 5
    assert ours <= {case.category for case in IN_FIT.values()}


class TestInParallel:
    """Processes of joblib print their warnings; nothing but an exception comes back from them."""

    @pytest.mark.parametrize("name", IN_FIT)
    def test_a_process_cannot_warn_its_caller(self, name):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            cross_validate(IN_FIT[name], n_jobs=2)
        assert not caught

    @pytest.mark.parametrize("name", ONE_PER_CLASS)
    def test_a_warning_made_an_error_arrives_with_its_class(self, name):
        case = IN_FIT[name]
        with warnings.catch_warnings():
            warnings.simplefilter("error", case.category)
            with pytest.raises(case.category, match=case.says):
                cross_validate(case, n_jobs=2)

    def test_a_thread_warns_at_whatever_called_the_library(self):
        # The user's frames belong to another thread.
        with (
            parallel_config("threading"),
            warnings.catch_warnings(record=True) as caught,
        ):
            warnings.simplefilter("always")
            cross_validate(IN_FIT["wider region"], n_jobs=2)
        (file,) = {one.filename for one in caught if "The range covers" in str(one.message)}
        assert not Path(file).is_relative_to(Path(aucuba.__file__).parent)

    @pytest.mark.parametrize(
        ("model", "data", "category", "says"),
        [
            (
                aucuba.PartialAUCClassifierCV(RANGE, Cs=2, n_jobs=2),
                SMALL,
                FewRowsWarning,
                "The range covers only",
            ),
            (
                aucuba.RegionStack(RANGE, estimators=["linear"], n_jobs=2),
                partial(table, n_negatives=60, labels=("no", "yes")),
                Advice,
                "The positive class is 'yes'",
            ),
        ],
    )
    def test_an_estimator_with_jobs_warns_at_the_users_line(self, model, data, category, says):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(*data())
        assert_points_here(caught, category, says)


def unmixed_graphs():
    listed, labels = graphs()
    labels[0][:] = True
    return listed, labels


def scored(n_rows=200):
    X, y = rows()
    return y[:n_rows], X[:n_rows, 0]


def one_class_query():
    y, score = scored()
    qid = np.arange(y.size) % 4
    qid[np.flatnonzero(y)[:3]] = 9
    return y, score, qid


def kernel_on_many_rows(monkeypatch):
    monkeypatch.setattr("aucuba.linear._svc.MAX_KERNEL_ROWS", 50)
    model = aucuba.PartialAUCSVC(RANGE, loss="structural", kernel="rbf", tol=0.1)
    model.fit(*table())


def features_unknown(monkeypatch):
    model = Detector(8).fit(*signals())
    monkeypatch.setattr(model, "coef_", np.ones(model.n_features_in_))
    model.predict_log_penalty_features(np.full((1, model.n_features_in_), np.nan))


def queries_in_training(monkeypatch):
    X, y = table()
    _, _, qid = one_class_query()
    qid[:] = np.arange(y.size) % 4
    qid[np.flatnonzero(y)[:3]] = 9
    aucuba.PartialAUCClassifier(RANGE).fit(X, y, qid=qid)


def queries_in_measure(monkeypatch):
    y, score, qid = one_class_query()
    partial_auc_score(y, score, fpr_range=RANGE, qid=qid)


def small_selection(_):
    score, noise = FunctionTransformer(), np.linspace(-1.0, 1.0, 99)[:, None]
    base = make_pipeline(score, LogisticRegression()).fit(*table(scale=0.0))
    selector = aucuba.FalseDiscoverySelector(base, 0.1, cv="prefit", random_state=0)
    selector.fit(np.repeat(noise, 4, axis=1), np.zeros(99))
    selector.select_scores(np.r_[np.full(9, 50.0), np.full(91, -50.0)])


def few_in_a_sketch(_):
    y, score = scored(30)
    RocSketch(RANGE).update(y, score).interval()


def labels_after_their_count(_):
    monitor = RateMonitor(0.8, "tpr", label_horizon=3)
    monitor.update([None], [0], event_time=[0], as_of=7)
    monitor.update_labels([1], [0], event_time=[0], label_time=[3], as_of=7)


def small_segment(_):
    y, score = scored()
    score_interval("partial_auc", y, score, by=np.arange(y.size) < 190, fpr_range=(0.0, 0.5))


OUTSIDE_FIT = {
    "graphs": (lambda _: StructuredRanker().fit(*unmixed_graphs()), UserWarning, "one class"),
    "graphs, iterations": (
        lambda _: StructuredRanker(max_iter=1, tol=1e-12).fit(*graphs()),
        ConvergenceWarning,
        "Training stopped at max_iter",
    ),
    "interval": (
        lambda _: score_interval("partial_auc", *scored(20), fpr_range=RANGE),
        FewRowsWarning,
        "The uncertainty rests on",
    ),
    "queries": (queries_in_measure, UserWarning, "are skipped"),
    "queries in training": (queries_in_training, UserWarning, "do not count in training"),
    "kernel": (kernel_on_many_rows, UserWarning, "Nystroem features instead"),
    "features": (features_unknown, UserWarning, "no finite value"),
    "selection": (small_selection, FewRowsWarning, "score above every held-out negative"),
    "sketch": (few_in_a_sketch, FewRowsWarning, "The uncertainty rests on"),
    "late labels": (labels_after_their_count, UserWarning, "labels were made in time"),
    "segments": (small_segment, FewRowsWarning, "have too few rows of a class"),
    "equal samples": (
        lambda _: segment([1, 1, 1, 5, 5, 2, 2, 2]),
        UserWarning,
        "neighbouring samples are equal",
    ),
}


@pytest.mark.parametrize("name", OUTSIDE_FIT)
def test_other_calls_warn_at_the_users_line(name, monkeypatch):
    call, category, says = OUTSIDE_FIT[name]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(monkeypatch)
    assert_points_here(caught, category, says)


class TestModelFiles:
    def test_saving_warns_at_the_users_line(self, tmp_path):
        with pytest.warns(UserWarning, match="does not load by default") as caught:
            save_model(SVC().fit(*table()), tmp_path / "foreign.aucuba")
        assert_points_here(caught, UserWarning, "does not load by default")

    def test_loading_warns_at_the_users_line(self, tmp_path, monkeypatch):
        path = tmp_path / "model.aucuba"
        with monkeypatch.context() as patch:
            patch.setattr("sklearn.base.__version__", "1.6.0")
            save_model(LogisticRegression().fit(*table()), path)
        with pytest.warns(UserWarning, match="was fitted with scikit-learn") as caught:
            load_model(path)
        assert_points_here(caught, UserWarning, "was fitted with scikit-learn")


def test_commands_warn_at_the_line_that_calls_them(tmp_path, monkeypatch, capsys):
    """Every place of the command line that warns; the program prints the texts alone."""
    for package in ("pandas", "pyarrow", "rich", "typer"):
        pytest.importorskip(package)
    from aucuba.cli import main

    X, y = table(n_negatives=200, n_positives=100)
    columns = {
        "a": X[:, 0],
        "far": X[:, 1],
        "leak": y + 0.25,
        "comma": [f"{value:.2f}".replace(".", ",") for value in X[:, 2]],
        "text": [f"number {row}" for row in range(y.size)],
        "day": [f"{row % 28 + 1}.1.2024" for row in range(y.size)],
        "y": y,
    }
    train, other, model = (tmp_path / name for name in ("train.csv", "other.csv", "m.aucuba"))
    write_csv(train, columns)
    write_csv(other, columns | {"far": 1e3 * X[:, 1]})
    caught = []
    monkeypatch.setattr("aucuba.cli._app.warning_text", lambda one: caught.append(one) or "said")
    words = "--target y --pos-label 1 --cv 0 --fpr-range 0 0.2 --no-probe"
    assert main(["fit", str(train), *words.split(), "--out", str(model)]) == 0
    assert main(["evaluate", str(model), str(train)]) == 0
    assert main(["evaluate", str(model), str(other)]) == 0
    assert main(["predict", str(model), str(other), "--out", str(tmp_path / "scores.csv")]) == 0
    assert capsys.readouterr().err.count("said")
    for says in (
        "gives the target away",
        "decimal commas",
        "different texts",
        "seems to hold dates",
        "contains training rows",
        "lie outside the training range",
    ):
        assert_points_here(caught, UserWarning, says)


def write_csv(path, columns):
    rows = zip(*columns.values(), strict=True)
    lines = [",".join(f'"{cell}"' for cell in row) for row in [tuple(columns), *rows]]
    path.write_text("\n".join(lines))
