"""One meaning of predict, of the positive class and of probabilities, for all binary classifiers."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.neighbors import KNeighborsClassifier

from aucuba import (
    AUMClassifier,
    PartialAUCClassifier,
    PartialAUCClassifierCV,
    PartialAUCSVC,
    RegionReweighted,
    RegionStack,
)
from aucuba._roc._logistic import logistic_calibration
from aucuba.metrics import make_metric_scorer
from aucuba.risks import Sample

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:The range covers only"),
]
RANGE = (0.0, 0.2)
WITH_REGION = {
    "direct": PartialAUCClassifier(RANGE),
    "tight": PartialAUCSVC(RANGE, loss="tight", C=10.0),
    "exact kernel": PartialAUCSVC(RANGE, loss="tight", kernel="rbf", gamma=0.1),
    "poly kernel": PartialAUCSVC(RANGE, loss="tight", kernel="poly", degree=2),
    "CV": PartialAUCClassifierCV(RANGE, Cs=2, random_state=0),
    "reweighted": RegionReweighted(LogisticRegression(), RANGE, cv=3, random_state=0),
    "stack": RegionStack(
        RANGE,
        estimators=[
            ("logistic", LogisticRegression()),
            ("reweighted", RegionReweighted(LogisticRegression(C=0.1), RANGE)),
        ],
        cv=3,
        random_state=0,
    ),
}
CLASSIFIERS = {**WITH_REGION, "AUM": AUMClassifier()}
PROBABILISTIC = ["CV", "reweighted", "stack"]


def rows(n=600, seed=0):
    """Two overlapping classes; a quarter of the rows is positive."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.25
    return rng.normal(size=(n, 4)) + y[:, None] * [1.0, 0.7, 0.0, 0.0], y.astype(int)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_the_first_class_can_be_the_positive_one(name):
    X, y = rows()
    second = clone(CLASSIFIERS[name]).fit(X, np.where(y, "yes", "no"))
    first = clone(CLASSIFIERS[name]).set_params(pos_label="fraud")
    first.fit(X, np.where(y, "fraud", "good"))
    assert (second.pos_label_, first.pos_label_) == ("yes", "fraud")
    assert first.threshold_ == pytest.approx(second.threshold_, abs=1e-12)
    assert first.predict_fpr_ == second.predict_fpr_
    np.testing.assert_allclose(first.decision_function(X), -second.decision_function(X), atol=1e-12)
    np.testing.assert_array_equal(first.predict(X) == "fraud", second.predict(X) == "yes")
    if hasattr(first, "predict_proba"):
        np.testing.assert_allclose(first.predict_proba(X), second.predict_proba(X)[:, ::-1])
    new, truth = rows(seed=1)
    scorers = (
        make_metric_scorer("partial_auc", fpr_range=RANGE, pos_label=one)
        for one in ("fraud", "yes")
    )
    found = [
        scorer(model, new, np.where(truth, *labels))
        for scorer, model, labels in zip(
            scorers, (first, second), (("fraud", "good"), ("yes", "no")), strict=True
        )
    ]
    assert found[0] == pytest.approx(found[1], abs=1e-12)
    assert found[0] > 0.3


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_positive_classes_are_checked_and_never_guessed_silently(name):
    X, y = rows(300)
    with pytest.raises(ValueError, match=r"pos_label='maybe' is not one of .*'no', 'yes'"):
        clone(CLASSIFIERS[name]).set_params(pos_label="maybe").fit(X, np.where(y, "yes", "no"))
    text = np.where(y, "fraud", "good")
    with pytest.warns(UserWarning, match="positive class is 'good'.*Name the positive class"):
        clone(CLASSIFIERS[name]).fit(X, text)
    # As copies of rows, so weights: the rare class may be the heavier one.
    with pytest.warns(UserWarning, match="positive class is 'yes'"):
        clone(CLASSIFIERS[name]).fit(X, np.where(y, "yes", "no"), np.where(y, 9.0, 1.0))
    clone(CLASSIFIERS[name]).set_params(pos_label="good").fit(X, text)


@pytest.mark.parametrize("name", WITH_REGION)
def test_predictions_are_made_at_the_upper_limit(name):
    X, y = rows(2000)
    new, truth = rows(20_000, seed=1)
    for limit in (0.05, 0.2):
        model = clone(WITH_REGION[name]).set_params(fpr_range=(0.0, limit)).fit(X, y)
        assert model.predict_fpr_ == limit
        flagged = model.predict(new) == 1
        np.testing.assert_array_equal(flagged, model.decision_function(new) > 0)
        # About 1500 negatives set the threshold.
        assert flagged[truth == 0].mean() == pytest.approx(limit, abs=0.03)
    model.set_params(fpr_range=(0.0, 1.0)).fit(X, y)
    at_zero = model.decision_function(X)[y == 0] > 0
    assert model.predict_fpr_ == pytest.approx(at_zero.mean(), abs=0.02)
    assert 0 < model.predict_fpr_ < 1


@pytest.mark.parametrize("name", ["reweighted", "stack"])
def test_ensembles_set_their_threshold_on_rows_they_have_not_seen(name):
    X, y = rows(400)
    memorising = clone(WITH_REGION[name])

    class Memory(KNeighborsClassifier):
        """Knows its training rows by heart; takes weights, and ignores them."""

        def fit(self, X, y, sample_weight=None):
            return super().fit(X, y)

    base = Memory(5, weights="distance")
    if name == "stack":
        memorising.set_params(estimators=[("memory", base)])
    else:
        memorising.set_params(estimator=base)
    memorising.fit(X, y)
    new, truth = rows(4000, seed=1)
    # The training rows are separated, which says nothing of new ones.
    assert memorising.predict(X)[y == 0].mean() < 0.02
    assert 0.1 < memorising.predict(new)[truth == 0].mean() < 0.3


@pytest.mark.parametrize("name", PROBABILISTIC)
def test_what_scikit_learn_checks_of_training_beside_probability_one_half(name):
    X, y = make_blobs(n_samples=300, centers=2, cluster_std=0.1, random_state=0)
    X.flags.writeable = False
    model = clone(CLASSIFIERS[name])
    with pytest.raises(ValueError, match=r"\b299\b|inconsistent"):
        model.fit(X, y[:-1])
    model.fit(X, y)
    predicted = model.predict(X)
    assert predicted.shape == (300,)
    assert np.mean(predicted == y) > 0.83
    decision, probability = model.decision_function(X), model.predict_proba(X)
    assert decision.shape == (300,)
    np.testing.assert_array_equal(predicted == model.classes_[1], decision > 0)
    assert probability.shape == (300, 2)
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    order = np.argsort(decision)
    assert np.all(np.diff(probability[order, 1]) >= 0)
    for method in (model.predict, model.decision_function, model.predict_proba):
        with pytest.raises(ValueError, match="features"):
            method(X.T)


@pytest.mark.parametrize("name", PROBABILISTIC)
def test_probabilities_are_calibrated_and_not_moved_by_the_region(name):
    X, y = rows(3000)
    new, truth = rows(20_000, seed=1)
    # Wide enough for the convex losses to rank.
    model = clone(CLASSIFIERS[name]).set_params(fpr_range=(0.0, 0.5)).fit(X, y)
    probability = model.predict_proba(new)[:, 1]
    for part in np.array_split(np.argsort(probability), 5):
        assert probability[part].mean() == pytest.approx(truth[part].mean(), abs=0.04)
    best = LogisticRegression().fit(X, y).predict_proba(new)
    assert log_loss(truth, probability) < log_loss(truth, best) + 0.01


def test_soft_voting_and_decisions_by_cost():
    X, y = rows(2000)
    new, truth = rows(20_000, seed=1)
    ours = PartialAUCClassifierCV(RANGE, Cs=2, random_state=0)
    voters = [("ours", ours), ("logistic", LogisticRegression())]
    vote = VotingClassifier(voters, voting="soft").fit(X, y)
    means = np.mean([model.predict_proba(new) for model in vote.estimators_], axis=0)
    np.testing.assert_allclose(vote.predict_proba(new), means)
    # A missed positive costs nine false alarms: act from probability .1.
    probability = vote.named_estimators_["ours"].predict_proba(new)[:, 1]

    def cost(acts):
        return 9 * np.sum(~acts & (truth == 1)) + np.sum(acts & (truth == 0))

    least = min(cost(probability > level) for level in np.linspace(0, 1, 101))
    assert cost(probability > 0.1) < 1.02 * least


def test_a_calibration_counts_weights_as_copies_and_never_falls():
    rng = np.random.default_rng(0)
    positive = rng.random(80) < 0.3
    scores = rng.normal(size=80) + positive
    weight = rng.integers(1, 5, 80)
    copies = np.repeat(np.arange(80), weight)
    weighted = logistic_calibration(scores, Sample(positive, weight.astype(float)))
    repeated = logistic_calibration(scores[copies], Sample(positive[copies]))
    np.testing.assert_allclose(weighted, repeated, rtol=1e-8)
    slope, intercept = logistic_calibration(-scores, Sample(positive))
    assert slope == 0
    assert 1 / (1 + np.exp(-intercept)) == pytest.approx(positive.mean())
    # Separated classes have a finite slope.
    assert np.isfinite(logistic_calibration(positive * 1.0, Sample(positive))).all()
