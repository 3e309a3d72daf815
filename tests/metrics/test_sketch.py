"""The mergeable sketch of a ROC curve against measures of all rows."""

import json
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aucuba._base._warnings import FewRowsWarning
from aucuba.metrics import (
    RocSketch,
    operating_point,
    partial_auc_score,
    score_interval,
    tpr_at_fpr_score,
)
from tests.oracles import partial_auc_by_pairs, random_ranking


def ranking(seed, n_rows=400, n_levels=None, weights=None):
    rng = np.random.default_rng(seed)
    y = rng.random(n_rows) < 0.3
    y[:2] = True, False
    score = rng.normal(size=n_rows) + y
    if n_levels is not None:
        score = np.round(score * n_levels) / n_levels
    weight = {
        None: None,
        "whole": rng.integers(0, 4, n_rows).astype(float),
        "real": rng.gamma(1.0, size=n_rows),
    }[weights]
    return y, score, weight


def sketched(y, score, weight=None, parts=1, seed=0, **params):
    """One sketch per part of the shuffled rows, and a merge of all."""
    rng = np.random.default_rng(seed)
    sketches = []
    for rows in np.array_split(rng.permutation(y.size), parts):
        part = None if weight is None else weight[rows]
        sketches.append(RocSketch(**params).update(y[rows], score[rows], part))
    return sketches[0].merge(*sketches[1:])


@pytest.mark.parametrize("weights", [None, "whole", "real"])
@pytest.mark.parametrize("n_levels", [None, 3])
def test_equals_the_measures_of_all_rows(weights, n_levels):
    for seed in range(20):
        y, score, weight = ranking(seed, n_levels=n_levels, weights=weights)
        sketch = sketched(y, score, weight, parts=5, fpr_range=(0.02, 0.1), capacity=150)
        assert 0.1 < sketch.covered_fpr < 1
        want = partial_auc_score(y, score, fpr_range=(0.02, 0.1), sample_weight=weight)
        assert sketch.partial_auc() == pytest.approx(want, abs=1e-12)
        for options in ({"min_tpr": 0.2}, {"fpr_weight": "log"}, {"fpr_range": (0.0, 0.07)}):
            chosen = {"fpr_range": (0.02, 0.1), **options}
            want = partial_auc_score(y, score, sample_weight=weight, **chosen)
            assert sketch.partial_auc(**options) == pytest.approx(want, abs=1e-12)
        for fpr in (0.0, 0.03, 0.1):
            want = tpr_at_fpr_score(y, score, fpr=fpr, sample_weight=weight)
            assert sketch.tpr_at_fpr(fpr) == pytest.approx(want, abs=1e-12)
            point = operating_point(y, score, fpr=fpr, sample_weight=weight)
            assert sketch.threshold(fpr) == point.threshold
            assert sketch.tpr_at_fpr(fpr, attainable=True) == pytest.approx(point.tpr, abs=1e-12)


@pytest.mark.parametrize("weights", [None, "whole", "real"])
def test_the_interval_is_that_of_all_rows(weights):
    for seed in range(10):
        y, score, weight = ranking(seed, 600, n_levels=[None, 4][seed % 2], weights=weights)
        sketch = sketched(y, score, weight, parts=4, fpr_range=(0.02, 0.1), capacity=250)
        options = {"fpr_range": (0.02, 0.1), "sample_weight": weight, "method": "wilson"}
        want = score_interval("partial_auc", y, score, **options)
        got = sketch.interval()
        assert (got.value, got.low, got.high) == pytest.approx(
            (want.value, want.low, want.high), abs=1e-10
        )
        assert (got.method, got.sampling) == (want.method, want.sampling)


def test_an_interval_of_a_perfect_scorer_stays_open():
    y = np.repeat([0, 1], [1000, 50])
    score = y + np.linspace(0, 0.5, y.size)
    got = sketched(y, score, fpr_range=(0.0, 0.1), capacity=200).interval()
    want = score_interval("partial_auc", y, score, fpr_range=(0.0, 0.1))
    assert (got.low, got.high) == pytest.approx((want.low, want.high))
    assert got.low < 1.0 == got.high


def test_few_rows_are_warned_of():
    y, score, _ = ranking(0, 40)
    with pytest.warns(FewRowsWarning, match="positives and"):
        sketched(y, score, fpr_range=(0.0, 0.1)).interval()


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 8), st.integers(1, 6))
def test_small_cases_equal_the_pair_count(seed, capacity, parts):
    rng = np.random.default_rng(seed)
    y, score = random_ranking(rng)
    weight = [None, rng.integers(1, 4, y.size), rng.uniform(0.1, 2, y.size)][seed % 3]
    sketch = sketched(y, score, weight, parts, seed, fpr_range=(0.0, 0.5), capacity=capacity)
    high = sketch.covered_fpr * rng.uniform(0.01, 1.0)
    want = partial_auc_by_pairs(y, score, (0.0, high), weight)
    assert sketch.partial_auc(fpr_range=(0.0, high)) == pytest.approx(want, abs=1e-12)


def merged_at_random(sketches, rng):
    """Merge two sketches drawn at random, in random order, until one is left."""
    left = list(sketches)
    while len(left) > 1:
        one, other = (left.pop(int(rng.integers(len(left)))) for _ in range(2))
        left.append(one.merge(other))
    return left[0]


@pytest.mark.parametrize(("weights", "n_trees"), [(None, 100), ("whole", 1000)])
def test_any_merge_tree_gives_the_same_bits(weights, n_trees):
    y, score, weight = ranking(3, 300, n_levels=20, weights=weights)
    rng = np.random.default_rng(0)
    params = {"fpr_range": (0.0, 0.05), "capacity": 40}
    want = RocSketch(**params).update(y, score, weight).to_json()
    for _ in range(n_trees):
        cuts = np.sort(rng.integers(0, y.size, rng.integers(1, 8)))
        sketches = [
            RocSketch(**params).update(
                y[rows], score[rows], None if weight is None else weight[rows]
            )
            for rows in np.split(rng.permutation(y.size), cuts)
        ]
        assert merged_at_random(sketches, rng).to_json() == want


def test_merge_trees_of_other_weights_agree_up_to_rounding():
    y, score, weight = ranking(4, 300, n_levels=20, weights="real")
    rng = np.random.default_rng(0)
    params = {"fpr_range": (0.0, 0.05), "capacity": 60}
    want = RocSketch(**params).update(y, score, weight)
    for _ in range(100):
        parts = np.array_split(rng.permutation(y.size), 7)
        sketches = [RocSketch(**params).update(y[r], score[r], weight[r]) for r in parts]
        got = merged_at_random(sketches, rng)
        assert got.partial_auc() == pytest.approx(want.partial_auc(), abs=1e-12)
        assert got.covered_fpr == pytest.approx(want.covered_fpr, abs=1e-12)
        assert got.threshold() == want.threshold()


def test_many_short_updates_equal_one(monkeypatch):
    y, score, weight = ranking(5, 2000, weights="whole")
    want = RocSketch(capacity=100).update(y, score, weight)
    monkeypatch.setattr("aucuba.metrics._top_rows._MOST_WAITING", 150)
    got = RocSketch(capacity=100)
    for start in range(0, y.size, 16):
        rows = slice(start, start + 16)
        got.update(y[rows], score[rows], weight[rows])
    assert got.to_json() == want.to_json()


def test_ties_of_the_last_are_one_entry():
    y, score = np.zeros(10_000, dtype=int), np.zeros(10_000)
    sketch = RocSketch(capacity=5).update(y, score).update([1, 1], [0.0, 1.0])
    assert sketch.covered_fpr == 1.0
    assert sketch.nbytes < 100
    want = partial_auc_score(np.r_[y, 1, 1], np.r_[score, 0.0, 1.0], fpr_range=(0.0, 0.05))
    assert sketch.partial_auc() == pytest.approx(want, abs=1e-12)


def test_rows_beyond_the_capacity_cost_no_memory():
    rng = np.random.default_rng(0)
    sketch = RocSketch((0.0, 0.01), capacity=2000)
    for _ in range(50):
        y = rng.random(2000) < 0.02
        sketch.update(y, rng.normal(size=y.size))
    assert sketch.n_rows == 100_000
    assert sketch.nbytes < 2000 * 16 * 1.2
    sketch.partial_auc()


@pytest.mark.parametrize(
    ("ask", "beyond"),
    [
        (lambda one: one.partial_auc(fpr_range=(0.0, 0.3)), 0),
        (lambda one: one.tpr_at_fpr(0.3), 1),
        (lambda one: one.threshold(0.3), 1),
        (lambda one: one.interval(fpr_range=(0.0, 0.3)), 1),
    ],
)
def test_the_error_names_a_capacity_that_is_just_enough(ask, beyond):
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], [1000, 100])
    score = rng.normal(size=y.size) + y
    needed = 300 + beyond
    with pytest.raises(ValueError, match=f"capacity={needed}, not 50"):
        ask(RocSketch(capacity=50).update(y, score))
    with pytest.raises(ValueError, match=f"capacity={needed}, not {needed - 1}"):
        ask(RocSketch(capacity=needed - 1).update(y, score))
    ask(RocSketch(capacity=needed).update(y, score))


def test_with_weights_the_error_names_a_capacity_that_is_enough():
    y, score, weight = ranking(2, weights="real")
    with pytest.raises(ValueError, match="capacity=") as caught:
        RocSketch(capacity=3).update(y, score, weight).partial_auc()
    named = int(str(caught.value).split("capacity=")[1].split(",")[0])
    RocSketch(capacity=named).update(y, score, weight).partial_auc()


def test_json_and_pickle_keep_every_bit():
    for weights in (None, "whole", "real"):
        y, score, weight = ranking(6, weights=weights)
        sketch = RocSketch((0.01, 0.1), capacity=60, labels=(False, True)).update(y, score, weight)
        for copy in (RocSketch.from_json(sketch.to_json()), pickle.loads(pickle.dumps(sketch))):
            assert copy.to_json() == sketch.to_json()
            assert copy.partial_auc() == sketch.partial_auc()
            assert copy.update(y, score, weight).n_rows == 2 * sketch.n_rows


def damaged(**changes):
    state = json.loads(RocSketch(capacity=5).update([0, 1, 0], [0.1, 0.2, 0.3]).to_json())
    negative = state["negative"]
    for name, value in changes.items():
        (negative if name in negative else negative["kept"] if name == "score" else state)[name] = (
            value
        )
    return json.dumps(state)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        damaged(aucuba_sketch=2),
        damaged(capacity=-1),
        damaged(fpr_range=[0.5, 0.1]),
        damaged(score="AAAA"),
        damaged(score="not base64"),
        damaged(score="AAAAAAAA8D8AAAAAAAAAQA=="),
        damaged(count=1),
        damaged(weight="nan"),
        damaged(kept={"score": ""}),
        damaged(kept={}),
    ],
)
def test_a_damaged_text_is_one_error(text):
    with pytest.raises(ValueError, match="not the text of RocSketch"):
        RocSketch.from_json(text)


def test_the_undamaged_text_is_read():
    assert RocSketch.from_json(damaged()).n_rows == 3


def test_labels():
    score = [0.1, 0.2, 0.3]
    for y in ([0, 1, 0], [-1, 1, -1], [False, True, False], [0.0, 1.0, 0.0]):
        assert RocSketch().update(y, score).n_positives == 1
    several = RocSketch(labels=(["good", "ugly"], "bad"))
    assert several.update(["good", "bad", "ugly"], score).n_negatives == 2
    assert several.update([True, False], score[:2]).n_positives == 2


@pytest.mark.parametrize("n_copies", [1, 10])
@pytest.mark.parametrize(
    ("labels", "values", "message"),
    [
        (None, ["good", "bad", "good"], "the values .*'bad', 'good'"),
        (None, [0, 2, 1], r"the values \[2\]"),
        (("legit", "fraud"), ["legit", "Fraud", "legit"], "values .'Fraud'.* not among labels"),
        (("legit", "fraud"), [0, 1, 0], r"values \[0, 1\]"),
        ((1, 2), [0, 1, 2], r"values \[0\]"),
        ((1, 0), [False, True, True], "True could mean either"),
        (("legit", "fraud"), ["legit", None, "fraud"], "y_true"),
        (None, [0.0, np.nan, 1.0], "y_true"),
    ],
)
def test_an_unknown_label_is_an_error(labels, values, message, n_copies):
    # A few rows are read without arrays, many with them.
    sketch = RocSketch(labels=labels)
    with pytest.raises(ValueError, match=message):
        sketch.update(values * n_copies, [0.1, 0.2, 0.3] * n_copies)
    assert sketch.n_rows == 0


@pytest.mark.parametrize("labels", ["fraud", 1, ([], "fraud"), ("legit", None), ("a", "a")])
def test_both_labels_are_named(labels):
    with pytest.raises(ValueError, match="labels"):
        RocSketch(labels=labels)


def test_sketches_of_other_labels_are_not_merged():
    one, other = RocSketch(labels=("legit", "fraud")), RocSketch(labels=("fraud", "legit"))
    with pytest.raises(ValueError, match="different parameters"):
        one.merge(other)
    copy = RocSketch.from_json(one.to_json())
    assert copy.merge(one).labels == ("legit", "fraud")


def test_bad_input():
    with pytest.raises(ValueError, match="capacity must be a whole number above 0"):
        RocSketch(capacity=0)
    with pytest.raises(ValueError, match="fpr_range"):
        RocSketch((0.1, 0.1))
    with pytest.raises(ValueError, match="NaN or infinite"):
        RocSketch().update([0, 1], [np.nan, 1.0])
    with pytest.raises(ValueError, match="y_true has 2 entries for 1 rows"):
        RocSketch().update([0, 1], [1.0])
    with pytest.raises(ValueError, match="non-negative"):
        RocSketch().update([0, 1], [1.0, 2.0], [1.0, -1.0])
    with pytest.raises(ValueError, match="seen no positive rows"):
        RocSketch().update([0, 0], [1.0, 2.0]).partial_auc()
    with pytest.raises(ValueError, match="seen no negative rows"):
        RocSketch().tpr_at_fpr()
    with pytest.raises(ValueError, match="different parameters"):
        RocSketch(capacity=5).merge(RocSketch(capacity=6))
    with pytest.raises(TypeError, match="Only sketches can be merged, got str"):
        RocSketch().merge("text")


def test_nothing_and_rows_of_no_weight_change_nothing():
    sketch = RocSketch().update([0, 1], [1.0, 2.0])
    before = sketch.to_json()
    assert sketch.update([], []).to_json() == before
    assert sketch.update([0, 1], [5.0, 6.0], [0.0, 0.0]).to_json() == before
    assert sketch.update([0, 1], [5.0, 6.0], [0.0, 1.0]).n_rows == 3
    assert "2 positives, 1 negatives, covered_fpr=1" in repr(sketch)


def test_merging_leaves_the_parts_alone():
    y, score, _ = ranking(7)
    one, other = (RocSketch(capacity=20).update(y[rows::2], score[rows::2]) for rows in (0, 1))
    before = one.to_json(), other.to_json()
    one.merge(other).update([0], [99.0])
    assert (one.to_json(), other.to_json()) == before


def test_batches_of_tensors():
    torch = pytest.importorskip("torch")
    y, score, weight = ranking(8, weights="whole")
    want = RocSketch(capacity=50).update(y, score, weight)
    got = RocSketch(capacity=50)
    for rows in np.array_split(np.arange(y.size), 5):
        columns = (torch.tensor(one[rows]) for one in (y, score, weight))
        labels, scores, weights = columns
        got.update(labels, scores.requires_grad_(), weights)
    assert got.to_json() == want.to_json()


@pytest.mark.parametrize("kind", [list, np.array])
@pytest.mark.parametrize("names", [None, ("ok", "fraud")])
def test_rows_one_by_one_give_the_same_bits(kind, names):
    rng = np.random.default_rng(0)
    y, score = rng.random(300) < 0.2, rng.integers(0, 40, 300) / 7
    labels = y.astype(int) if names is None else np.where(y, "fraud", "ok")
    options = {"capacity": 60, "labels": names}
    at_once = RocSketch((0.0, 0.2), **options).update(labels, score)
    slow = RocSketch((0.0, 0.2), **options)
    for k in range(0, 300, 3):
        slow.update(kind(labels[k : k + 3].tolist()), kind(score[k : k + 3].tolist()))
        if k % 60 == 0:
            assert slow.n_rows == k + 3
    assert slow.to_json() == at_once.to_json()


def test_answers_follow_updates():
    sketch = RocSketch((0.0, 1.0), capacity=100).update([0, 1, 0, 1], [1, 2, 3, 4])
    assert sketch.partial_auc() == sketch.partial_auc() == 0.75
    sketch.update([1], [0.5])
    assert sketch.partial_auc() == 0.5
    assert sketch.partial_auc(fpr_range=(0.0, 0.5)) == pytest.approx(1 / 3)
    assert sketch.threshold(0.5) == 2.0
    sketch.update([0], [9.0])
    assert sketch.threshold(0.0) == np.inf


@pytest.mark.filterwarnings("ignore::aucuba._base._warnings.FewRowsWarning")
def test_answers_without_new_rows_are_those_of_the_first_call():
    """Asked twice nothing is computed again; other arguments and new rows are other questions."""
    sketch = RocSketch((0.0, 0.5), capacity=1000).update(*ranking(0)[:2])
    asks = {
        "partial_auc": [{}, {"fpr_range": (0.0, 0.1)}, {"min_tpr": 0.2}],
        "tpr_at_fpr": [{}, {"fpr": 0.1}, {"fpr": 0.1, "attainable": True}],
        "threshold": [{}, {"fpr": 0.1}],
        "interval": [{}, {"confidence": 0.5}, {"fpr_range": (0.0, 0.1)}],
    }
    every = [(name, params) for name, each in asks.items() for params in each]
    first = [getattr(sketch, name)(**params) for name, params in every]
    for (name, params), known in zip(every, first, strict=True):
        fresh = RocSketch.from_json(sketch.to_json())
        assert getattr(sketch, name)(**params) is known
        assert getattr(fresh, name)(**params) == known
    sketch.update([0, 1], [9.0, -9.0])
    again = [getattr(sketch, name)(**params) for name, params in every]
    assert all(one is not known for one, known in zip(again, first, strict=True))


@pytest.mark.parametrize(
    ("labels", "scores", "message"),
    [
        ([0, 2], [1.0, 2.0], "name the labels as labels="),
        ([0, None], [1.0, 2.0], "missing"),
        ([0, 1], [1.0, np.nan], "NaN or infinite"),
        ([0, 1], [1, 2**60], "integers above"),
        ([0, 1], [1.0, 2.0, 3.0], "2 entries for 3 rows"),
    ],
)
def test_few_rows_are_checked_like_many(labels, scores, message):
    sketch = RocSketch((0.0, 1.0), capacity=100)
    with pytest.raises(ValueError, match=message):
        sketch.update(labels, scores)
    assert sketch.n_rows == 0
