"""Few rows in the region: every model, metric and loss follows one policy."""

import re
import warnings
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

import aucuba
from aucuba import FewRowsWarning
from aucuba._roc._region import Region
from aucuba._rows._sample import Sample
from aucuba.ensemble._table import log_odds
from aucuba.metrics import partial_auc_score, score_interval
from aucuba.risks import HingeDifference, make_risk

NARROW, N_NEGATIVES = (0.0, 0.05), 80
# Ten of eighty negatives.
WIDE, SAID = (0.0, 0.125), "training on [0, 0.125], which covers 10"
BOOSTING = HistGradientBoostingClassifier(max_iter=5)
FALLING_BACK = {
    "linear": aucuba.PartialAUCClassifier(),
    "linear, cross-validated": aucuba.PartialAUCClassifierCV(Cs=2, random_state=0),
    "re-weighted": aucuba.RegionReweighted(BOOSTING, random_state=0),
    "stack": aucuba.RegionStack(
        estimators=["boosting", "linear", ("again", aucuba.RegionReweighted(LogisticRegression()))],
        random_state=0,
    ),
}
AS_ASKED = {
    "structural": aucuba.PartialAUCSVC(NARROW, loss="structural"),
    "tight": aucuba.PartialAUCSVC(NARROW, loss="tight"),
    "kernel": aucuba.PartialAUCSVC(NARROW, loss="structural", kernel="rbf"),
    "tight_dc": aucuba.PartialAUCSVC((0.05, 0.1), loss="tight_dc"),
}


def table(n_positives=40, n_negatives=N_NEGATIVES, class_sep=1.0):
    X, y = make_classification(
        1000,
        5,
        n_informative=4,
        n_clusters_per_class=1,
        n_redundant=0,
        class_sep=class_sep,
        random_state=0,
    )
    sizes = [(n_negatives, y == 0), (n_positives, y == 1)]
    kept = np.concatenate([np.flatnonzero(rows)[:size] for size, rows in sizes])
    return X[kept], y[kept]


def for_range(model, fpr_range):
    """A clone for a range; the members of a stack that have a range of their own get it too."""
    model = clone(model).set_params(fpr_range=fpr_range)
    inner = [name for name in model.get_params() if name.endswith("__fpr_range")]
    return model.set_params(**dict.fromkeys(inner, fpr_range))


def fitted(model, X, y):
    """The fitted model and the texts of its warnings, all of which must tell of few rows."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    assert all(issubclass(one.category, FewRowsWarning) for one in caught)
    return model, [str(one.message) for one in caught]


@pytest.mark.parametrize("name", FALLING_BACK)
def test_a_narrow_range_is_widened_with_one_warning(name):
    X, y = table()
    narrow, texts = fitted(for_range(FALLING_BACK[name], NARROW), X, y)
    (text,) = texts
    assert SAID in text
    wide, quiet = fitted(for_range(FALLING_BACK[name], WIDE), X, y)
    assert not quiet
    # The threshold is still that of the range asked for.
    assert narrow.predict_fpr_ == pytest.approx(0.05)
    assert wide.predict_fpr_ == pytest.approx(0.125)
    if name == "re-weighted":
        assert_array_equal(narrow.weights_, wide.weights_)
    if name == "stack":
        # The scores of a re-weighted member count from its own threshold.
        shift = narrow.member_scores(X) - wide.member_scores(X)
        assert_allclose(shift, np.broadcast_to(shift[0], shift.shape), atol=1e-9)
        assert_allclose(narrow.coef_, wide.coef_, rtol=1e-6)
    elif name == "linear":
        assert_array_equal(narrow.coef_, wide.coef_)
    elif name == "linear, cross-validated":
        assert_array_equal(narrow.logistic_coef_, wide.logistic_coef_)


@pytest.mark.parametrize("sizes", [(9, 80), (40, 9)])
@pytest.mark.parametrize("name", FALLING_BACK)
def test_fewer_than_ten_rows_of_a_class_return_the_anchor(name, sizes):
    X, y = table(*sizes)
    model, texts = fitted(for_range(FALLING_BACK[name], (0.0, 0.5)), X, y)
    about = [text for text in texts if "is returned: the data have" in text]
    assert len(about) == 1
    assert f"{sizes[0]} positives and {sizes[1]} negatives" in about[0]
    if name == "re-weighted":
        assert_array_equal(model.weights_, 1.0)
        plain = clone(BOOSTING).set_params(random_state=0).fit(X, y)
        difference = model.decision_function(X) - log_odds(plain, X)
        assert_allclose(difference, difference[0])
    elif name == "stack":
        by_log_loss = ["boosting_log_loss", "linear_logistic", ("again", LogisticRegression())]
        plain = aucuba.RegionStack((0.0, 0.5), estimators=by_log_loss, random_state=0)
        plain, _ = fitted(plain, X, y)
        assert_allclose(model.predict_proba(X), plain.predict_proba(X), rtol=1e-6)
        assert model.region_weight_ == 1.0
    else:
        anchor = model.anchor_coef_ if name == "linear" else model.logistic_coef_
        assert_array_equal(model.coef_, anchor)


@pytest.mark.parametrize("name", AS_ASKED)
def test_svms_solve_what_was_asked_and_only_warn(name):
    X, y = table(class_sep=3.0)
    model, texts = fitted(clone(AS_ASKED[name]), X, y)
    (text,) = texts
    assert "the range covers only 4 negatives" in text
    if name == "kernel":
        return
    make = HingeDifference.from_region if name == "tight_dc" else partial(make_risk, model.loss)
    risk = make(Sample(y == 1), Region.from_params(model.fpr_range))
    coef = model.coef_[0]
    objective = coef @ coef / 2 + model.C * risk.value_and_gradient(X @ coef)[0]
    assert model.objective_ == pytest.approx(objective)
    few, texts = fitted(clone(model), *table(9, class_sep=3.0))
    assert any("9 positives and 80 negatives" in text for text in texts)
    assert few.coef_.any()


def test_aum_solves_what_was_asked_and_only_warns():
    model, texts = fitted(aucuba.AUMClassifier(tol=1e-2), *table(9))
    (text,) = texts
    assert "9 positives and 80 negatives" in text
    assert model.coef_.any()
    assert not fitted(aucuba.AUMClassifier(tol=1e-2), *table(10, 10))[1]


@pytest.mark.filterwarnings("error")
def test_metrics_return_the_value_and_intervals_warn():
    X, y = table()
    scores = X[:, 0]
    top = np.sort(scores[y == 0])[::-1][:4]
    by_hand = np.mean([np.mean(scores[y == 1] > one) for one in top])
    assert partial_auc_score(y, scores, fpr_range=NARROW) == pytest.approx(by_hand)
    with pytest.warns(FewRowsWarning, match="4 negatives in the range"):
        score_interval("partial_auc", y, scores, fpr_range=NARROW)


@pytest.mark.parametrize(
    ("model", "n_positives", "said"),
    [
        (aucuba.PartialAUCClassifier(NARROW), 40, "only 4 negatives"),
        (aucuba.RegionReweighted(LogisticRegression(), NARROW, cv=2), 40, "only 4 negatives"),
        (aucuba.PartialAUCClassifier(NARROW), 5, "5 positives and 80 negatives"),
        (aucuba.AUMClassifier(max_iter=3), 5, "5 positives and 80 negatives"),
        (aucuba.FixedFPRClassifier(LogisticRegression(), 0.01), 40, "held-out negatives"),
        (aucuba.FixedTPRClassifier(LogisticRegression(), 0.99), 40, "held-out positives"),
        (aucuba.FixedPrecisionClassifier(LogisticRegression(), 0.99), 40, "rows are positive"),
    ],
    ids=lambda one: type(one).__name__ if hasattr(one, "fit") else None,
)
def test_counts_name_the_class(model, n_positives, said):
    rng = np.random.default_rng(0)
    y = np.where(np.arange(80 + n_positives) < 80, "ok", "bad")
    X = rng.normal(size=(y.size, 2)) + (y == "bad")[:, None]
    model = clone(model).set_params(pos_label="bad")
    words = rf"{said} \(positive class: 'bad'\)"
    if hasattr(model, "estimator") and not hasattr(model, "fpr_range"):
        with pytest.raises(ValueError, match=words):
            model.fit(X, y)
        return
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        model.fit(X, y)
    assert re.search(
        words, str(next(one.message for one in seen if one.category is FewRowsWarning))
    )
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        clone(model).set_params(pos_label=None).fit(X, y == "bad")
    assert "positive class" not in str([str(one.message) for one in seen])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("surrogate", ["tight", "direct"])
def test_batch_losses_widen_in_silence_and_say_so_in_an_attribute(surrogate):
    torch = pytest.importorskip("torch")
    from aucuba.objectives import PartialAUCLoss

    X, y = table()
    scores, target = torch.tensor(X[:, 0]), torch.tensor(y)
    narrow, wide = (PartialAUCLoss(one, surrogate=surrogate) for one in (NARROW, WIDE))
    for _ in range(2):
        narrow.reset()
        assert float(narrow(scores, target)) == pytest.approx(float(wide(scores, target)))
        assert narrow.is_warming_up
        wide.reset()
    wide(scores, target)
    assert not wide.is_warming_up
