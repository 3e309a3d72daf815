"""The working model behind Wilson-type limits, against samples drawn from it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from aucuba._rows._sample import RankingSample
from aucuba.metrics import score_interval
from aucuba.metrics._measures import bind
from aucuba.metrics._normal_model import _DISTANCES, NormalModel

CASES = [
    ("partial_auc", {}),
    ("partial_auc", {"fpr_range": (0.02, 0.2)}),
    ("log_auc", {"fpr_range": (0.02, 0.2)}),
    ("tpr_at_fpr", {"fpr": 0.1}),
    ("fpr_at_tpr", {"tpr": 0.8}),
    ("equal_error_rate", {}),
    ("precision_at_recall", {"recall": 0.6}),
    ("recall_at_precision", {"precision": 0.7}),
    ("precision_at_k", {"k": 150}),
    ("recall_at_k", {"k": 150}),
    ("enrichment_factor", {"fraction": 0.2}),
    ("rie", {"alpha": 5.0}),
    ("bedroc", {"alpha": 5.0}),
]


def drawn_values(measure, distance, n_positives, n_negatives, n_samples):
    rng = np.random.default_rng(0)
    n, values = n_positives + n_negatives, []
    for _ in range(n_samples):
        y = np.arange(n) < n_positives
        if measure.sampling == "random":
            y = rng.random(n) < n_positives / n
        score = rng.normal(size=n) + distance * y
        values.append(measure.value(RankingSample(y, score=score)))
    return np.array(values)


@pytest.mark.parametrize(("name", "params"), CASES)
def test_values_and_variances_are_those_of_samples(name, params):
    measure = bind(name, params)
    model = NormalModel.of(measure, 200, 600)
    place = int(np.argmin(np.abs(_DISTANCES - 1.6)))
    values = drawn_values(measure, _DISTANCES[place], 200, 600, 400)
    floor, ceiling = measure.limits
    rows = (np.inf, 800.0) if measure.sampling == "random" else (600.0, 200.0)
    error = np.sqrt(np.sum(model.variance[place] / rows)) * (ceiling - floor)
    # The standard deviation of 400 draws is known to 3.5 %, their mean to a twentieth of it.
    assert error == pytest.approx(values.std(), rel=0.15)
    assert floor + (ceiling - floor) * model.value[place] == pytest.approx(
        values.mean(), abs=0.35 * values.std()
    )


def test_a_rate_has_wilsons_mid_p_limits():
    """A TPR among very many negatives is a binomial rate, whose mid-p limits are known."""
    model = NormalModel.of(bind("tpr_at_fpr", {"fpr": 0.1}), 40, 1e9)
    low, high = model.limits(0.7, 0.0, (1e9, 40.0), 0.025)

    def beyond(rate, side):
        at = stats.binom.pmf(28, 40, rate)
        return at / 2 + (
            stats.binom.sf(28, 40, rate) if side > 0 else stats.binom.cdf(27, 40, rate)
        )

    assert beyond(low, 1) == pytest.approx(0.025, abs=0.006)
    assert beyond(high, -1) == pytest.approx(0.025, abs=0.006)


@settings(max_examples=25, deadline=None)
@given(
    st.floats(0.0, 1.0),
    st.floats(0.0, 0.2),
    st.sampled_from(["partial_auc", "equal_error_rate", "bedroc"]),
)
def test_limits_hold_the_value_and_widen_with_error_and_confidence(value, error, name):
    model = _model(name)
    rows = (300.0, 30.0)
    low, high = model.limits(value, error, rows, 0.025)
    assert 0.0 <= low <= value <= high <= 1.0
    wider = model.limits(value, error, rows, 0.005)
    assert wider[0] <= low
    assert high <= wider[1]
    noisier = model.limits(value, 2 * error, rows, 0.025)
    assert noisier[0] <= low + 1e-12
    assert high <= noisier[1] + 1e-12


MODELS = {}


def _model(name):
    if name not in MODELS:
        MODELS[name] = NormalModel.of(bind(name, {}), 30, 300)
    return MODELS[name]


def test_only_ranks_and_relations_of_weights_matter():
    rng = np.random.default_rng(1)
    y = np.arange(400) < 60
    score, weight = rng.normal(size=400) + 2 * y, rng.uniform(0.5, 2, 400)
    options = {"sample_weight": weight, "random_state": 0, "n_resamples": 50}
    for name, params in (("partial_auc", {}), ("tpr_at_fpr", {"fpr": 0.1})):
        one = score_interval(name, y, score, **options, **params)
        other = score_interval(
            name, y, np.exp(score), **{**options, "sample_weight": 7 * weight}, **params
        )
        assert (one.method, one.low, one.high) == pytest.approx(
            (other.method, other.low, other.high), abs=1e-9
        )


def test_large_samples_meet_delong():
    """From thousands of rows of either class on, the variance no longer changes along the way."""
    rng = np.random.default_rng(2)
    y = np.arange(40_000) < 20_000
    score = rng.normal(size=y.size) + y
    wilson = score_interval("partial_auc", y, score)
    delong = score_interval("partial_auc", y, score, method="delong")
    assert (wilson.low, wilson.high) == pytest.approx((delong.low, delong.high), abs=4e-4)
