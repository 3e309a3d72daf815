"""More than two classes and several labels, against scikit-learn and one class at a time."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from aucuba.metrics import partial_auc_score, score_by_class, score_interval

NAMES = np.array(["cat", "dog", "owl"])
QUICK = {"n_resamples": 100, "random_state": 0}


def rows(n=300):
    rng = np.random.default_rng(0)
    y = rng.choice(NAMES, size=n, p=[0.5, 0.3, 0.2])
    score = rng.normal(size=(n, 3)) + 1.2 * (y[:, None] == NAMES)
    score = np.exp(score)
    return y, score / score.sum(axis=1, keepdims=True), rng.integers(1, 4, n)


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
@pytest.mark.parametrize("average", ["macro", "weighted"])
def test_averages_are_scikit_learn_s(multi_class, average):
    y, score, _ = rows()
    found = score_by_class("auc", y, score, average=average, multi_class=multi_class, **QUICK)
    want = roc_auc_score(y, score, average=average, multi_class=multi_class)
    assert found.value == pytest.approx(want)
    assert found.low < want < found.high


def test_every_class_is_measured_against_the_rest():
    y, score, weight = rows()
    region = {"fpr_range": (0.0, 0.2)}
    table = score_by_class("partial_auc", y, score, sample_weight=weight, **region)
    assert [one.name for one in table] == NAMES.tolist()
    for k, one in enumerate(table):
        alone = score_interval(
            "partial_auc",
            y == one.name,
            score[:, k],
            sample_weight=weight,
            confidence=1 - 0.05 / 3,
            **region,
        )
        assert (one.value, one.low, one.high) == (alone.value, alone.low, alone.high)
        assert one.n_positives == np.sum(y == one.name)
    assert "class" in str(table)
    pairs = score_by_class("partial_auc", y, score, multi_class="ovo", **region)
    chosen = next(one for one in pairs if one.name == ("dog", "owl"))
    two = (y == "dog") | (y == "owl")
    want = partial_auc_score(y[two] == "dog", score[two, 1], **region)
    assert chosen.value == pytest.approx(want)
    moved = score_by_class("partial_auc", y, score[:, ::-1], labels=NAMES[::-1], **region)
    assert {one.name: one.value for one in moved} == pytest.approx(
        {one.name: one.value for one in score_by_class("partial_auc", y, score, **region)}
    )


def test_rows_without_a_label_do_not_count_for_it():
    rng = np.random.default_rng(1)
    labels = (rng.random((200, 3)) < 0.3).astype(float)
    score = rng.normal(size=(200, 3)) + labels
    labels[rng.random((200, 3)) < 0.2] = np.nan
    table = score_by_class("average_precision", labels, score, labels=["a", "b", "c"], **QUICK)
    for k, one in enumerate(table):
        known = ~np.isnan(labels[:, k])
        want = average_precision_score(labels[known, k], score[known, k])
        assert one.value == pytest.approx(want)
        assert one.n_rows == known.sum()
    macro = score_by_class("average_precision", labels, score, average="macro", **QUICK)
    assert macro.value == pytest.approx(np.mean([one.value for one in table]))


def test_classes_are_resampled_together():
    """Equal problems have one value in every resample, so their mean is no surer than one of them."""
    rng = np.random.default_rng(2)
    y = rng.random(200) < 0.3
    score = rng.normal(size=200) + y
    twice = score_by_class(
        "auc", np.column_stack([y, y]), np.column_stack([score, score]), average="macro", **QUICK
    )
    once = score_by_class("auc", y[:, None], score[:, None], average="macro", **QUICK)
    assert (twice.low, twice.high) == pytest.approx((once.low, once.high))
    wide = score_interval("auc", y, score, method="bootstrap", sampling="random", **QUICK)
    assert once.high - once.low == pytest.approx(wide.high - wide.low, rel=0.35)


def noise(seed, n=200):
    rng = np.random.default_rng(seed)
    return rng.choice(NAMES, size=n), rng.normal(size=(n, 3))


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_averages_of_best_thresholds_allow_for_the_choice(multi_class):
    """The plain bootstrap finds information in scores that have none, in every sample."""
    options = {"average": "macro", "multi_class": multi_class, **QUICK}
    found = [score_by_class("youden", *noise(seed, 120), **options) for seed in range(15)]
    assert sum(one.low > 0 for one in found) <= 2
    assert all(one.method == "simultaneous" and one.low < one.value < one.high for one in found)
    table = score_by_class("youden", *noise(0), **QUICK)
    share = np.array([one.n_positives for one in table]) / 200
    mean = score_by_class("youden", *noise(0), average="weighted", **QUICK)
    assert mean.high == pytest.approx(share @ [one.high for one in table])


def test_averages_that_no_resample_moves_have_limits():
    y = np.repeat(NAMES, 20)
    score = (y[:, None] == NAMES).astype(float)
    found = score_by_class("auc", y, score, average="macro", **QUICK)
    assert (found.value, found.high) == (1.0, 1.0)
    assert 0.5 < found.low < 0.95


def test_an_average_of_one_label_is_its_interval():
    rng = np.random.default_rng(3)
    y = rng.random(150) < 0.3
    score = rng.normal(size=150) + y
    for metric in ("auc", "average_precision"):
        alone = score_interval(metric, y, score, method="bootstrap", sampling="random", **QUICK)
        one = score_by_class(metric, y[:, None], score[:, None], average="macro", **QUICK)
        assert (one.low, one.high) == pytest.approx((alone.low, alone.high))


@pytest.mark.parametrize("metric", ["auc", "average_precision", "youden", "detection_cost"])
def test_weights_of_classes_that_count_rows(metric):
    rng, often = np.random.default_rng(4), {"n_resamples": 1000, "random_state": 0}
    best = {"threshold": "best"} if metric == "detection_cost" else {}
    y, score, _ = rows(80)
    score = score.round(1)
    weight = rng.integers(0, 12, y.size)
    copies = np.repeat(np.arange(y.size), weight)
    counted = {"sample_weight": weight, "weight_kind": "frequency"}
    for average in ("macro", "weighted"):
        options = {"average": average, **best, **often}
        found = score_by_class(metric, y, score, **counted, **options)
        want = score_by_class(metric, y[copies], score[copies], **options)
        assert found.value == pytest.approx(want.value)
        assert found.high - found.low == pytest.approx(want.high - want.low, rel=0.15)
        few = score_by_class(metric, y, score, sample_weight=weight, **options)
        assert few.high - few.low > 1.5 * (found.high - found.low)
        # A row of weight 0 is none.
        kept = weight > 0
        same = score_by_class(metric, y[kept], score[kept], sample_weight=weight[kept], **options)
        assert (few.low, few.high) == pytest.approx((same.low, same.high))
    table = score_by_class(metric, y, score, **counted, **best, **often)
    written = score_by_class(metric, y[copies], score[copies], **best, **often)
    for one, other in zip(table, written, strict=True):
        assert (one.n_rows, one.n_positives) == (other.n_rows, other.n_positives)
        assert one.high - one.low == pytest.approx(other.high - other.low, rel=0.15)
    with pytest.raises(ValueError, match="whole-number weights"):
        score_by_class(metric, y, score, sample_weight=weight / 3, weight_kind="frequency")


@pytest.mark.parametrize(
    ("y", "score", "options", "message"),
    [
        ([0, 1, 2], np.eye(3)[:, :2], {}, r"2 columns for the classes \[0, 1, 2\]"),
        ([0, 1, 1], [0.1, 0.2, 0.3], {}, "one column per class"),
        (np.eye(3), np.eye(3), {"multi_class": "ovo"}, "is for one class per row"),
        (2 * np.eye(3), np.eye(3), {}, "must hold 0, 1 or NaN"),
        (np.ones((3, 1)), np.ones((3, 1)), {}, "0 has no negative row"),
        ([0, 1, 1], np.eye(3)[:, :2], {"average": "micro"}, "average must be one of"),
    ],
)
def test_what_does_not_fit_is_refused(y, score, options, message):
    with pytest.raises(ValueError, match=message):
        score_by_class("auc", y, score, **options)
