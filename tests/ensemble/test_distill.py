"""Students of a stack, what they lose, and predictions in parts."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from aucuba.ensemble import RegionStack, _base
from aucuba.ensemble._distill import mixed_rows
from aucuba.metrics import partial_auc_score
from aucuba.persistence import load_model, save_model
from tests.ensemble.data import mixed_frame, numbers

RANGE = (0.0, 0.2)
STACK = RegionStack(
    RANGE,
    estimators=[("logistic", LogisticRegression()), ("bayes", GaussianNB())],
    cv=3,
    random_state=0,
)
FOLDS = StratifiedKFold(3)


def soft_labels(model, stack, X):
    """Fit every row twice, as a positive of weight p and as a negative of weight 1 - p."""
    p = stack.predict_proba(X)[:, 1]
    twice, y = np.vstack([X, X]), np.repeat([1, 0], len(X))
    return clone(model).fit(twice, y, sample_weight=np.concatenate([p, 1 - p]))


def test_a_student_fits_the_probabilities_of_the_stack():
    X, y = numbers(300)
    stack = clone(STACK).fit(X, y)
    student = stack.distill(X, y, LogisticRegression(), n_synthetic=0, cv=FOLDS)
    expected = soft_labels(LogisticRegression(), stack, X)
    assert student.members_[0][1].coef_ == pytest.approx(expected.coef_)
    teachers, students = np.empty(300), np.empty(300)
    for train, test in FOLDS.split(X, y):
        teacher = clone(STACK).fit(X[train], y[train])
        teachers[test] = teacher.decision_function(X[test]) + teacher.threshold_
        own = soft_labels(LogisticRegression(), teacher, X[train])
        students[test] = own.decision_function(X[test])
    assert student.oof_scores_[:, 0] == pytest.approx(students)
    found = student.distilled_
    for name, scores in (("teacher", teachers), ("student", students)):
        assert found[name] == pytest.approx(partial_auc_score(y, scores, fpr_range=RANGE))
    assert found["loss"] == pytest.approx(found["teacher"] - found["student"])
    assert 0 < found["standard_error"] < 0.2


def test_the_student_of_a_mixed_table_is_close_calibrated_and_saved(tmp_path):
    frame, y = mixed_frame(900)
    stack = RegionStack(RANGE, estimators=["forest", "splines_logistic"], cv=2, random_state=0)
    stack.fit(frame[:450], y[:450])
    student = stack.distill(frame[:450], y[:450], cv=2, random_state=0)
    new = frame[450:]
    agreement = np.corrcoef(stack.predict_proba(new)[:, 1], student.predict_proba(new)[:, 1])
    assert agreement[0, 1] > 0.8
    p = student.predict_proba(new)[:, 1]
    assert abs(p.mean() - y[450:].mean()) < 0.06
    for part in np.array_split(np.argsort(p), 3):
        assert abs(p[part].mean() - y[450:][part].mean()) < 0.12
    path = tmp_path / "student.aucuba"
    save_model(student, path)
    assert np.array_equal(load_model(path).decision_function(new), student.decision_function(new))


def test_students_keep_the_positive_label_and_groups_whole():
    X, y = numbers(240)
    names, groups = np.where(y == 1, "a", "b"), np.arange(240) // 2
    stack = clone(STACK).set_params(pos_label="a").fit(X, names, groups=groups)
    student = stack.distill(
        X, names, LogisticRegression(), groups=groups, random_state=0, n_synthetic=50
    )
    assert student.pos_label_ == "a"
    flagged = student.predict(X) == "a"
    assert flagged[y == 1].mean() > flagged[y == 0].mean() + 0.2
    dated = stack.distill(X, names, LogisticRegression(), time=np.arange(240), n_synthetic=0)
    assert np.isnan(dated.oof_scores_[:60]).all()


@pytest.mark.parametrize("as_frame", [False, True])
def test_synthetic_rows_take_their_entries_from_rows(as_frame):
    rng = np.random.default_rng(0)
    X, _ = numbers(20)
    source = rng.integers(20, size=(50, 6))
    table = X
    if as_frame:
        pd = pytest.importorskip("pandas")
        table = pd.DataFrame(X, columns=list("abcdef"), index=np.arange(20)[::-1])
    found = np.asarray(mixed_rows(table, source))
    for row in range(50):
        assert found[row].tolist() == [X[source[row, k], k] for k in range(6)]


def test_a_student_follows_a_stack_that_is_sure():
    # Rare positives that a line tells apart: nearly all probabilities are close to 0.
    X = np.random.default_rng(0).normal(size=(5000, 6))
    y = X[:, 0] + X[:, 1] > 3.25
    stack = RegionStack((0.0, 0.05), estimators=["linear_logistic"], cv=2, random_state=0)
    stack.fit(X[:2500], y[:2500])
    student = stack.distill(X[:2500], y[:2500], cv=2, random_state=0)
    new = partial_auc_score(y[2500:], student.decision_function(X[2500:]), fpr_range=(0.0, 0.05))
    assert new > 0.9


@pytest.mark.parametrize(
    ("table", "params", "message"),
    [
        (sparse.csr_array, {}, "needs a dense array or a pandas DataFrame; got csr_array"),
        (np.asarray, {"n_synthetic": -1}, "n_synthetic must be a whole number above 0"),
        (np.asarray, {"estimator": KNeighborsClassifier()}, "takes no sample_weight"),
    ],
)
def test_what_cannot_be_distilled(table, params, message):
    X, y = numbers(100)
    stack = clone(STACK).fit(X, y)
    with pytest.raises(ValueError, match=message):
        stack.distill(table(X), y, **params)


@pytest.mark.parametrize("frame", [False, True])
def test_many_rows_are_scored_in_parts(monkeypatch, frame):
    X, y = mixed_frame(200) if frame else numbers(200)
    stack = RegionStack(RANGE, estimators=["forest", "splines_logistic"], cv=2, random_state=0)
    stack.fit(X, y)
    whole = stack.predict_proba(X)
    sizes = []
    real = RegionStack._scores
    monkeypatch.setattr(_base, "_ROWS_AT_ONCE", 64)
    monkeypatch.setattr(
        RegionStack, "_scores", lambda self, X: sizes.append(len(X)) or real(self, X)
    )
    assert stack.predict_proba(X) == pytest.approx(whole, abs=1e-12)
    assert sizes == [64, 64, 64, 8]
