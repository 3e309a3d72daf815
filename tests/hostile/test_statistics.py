"""Random weights, sketches and samples against exact or simple oracles; one check per seed."""

import base64
import json
import re
import warnings
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from aucuba._base._warnings import FewRowsWarning
from aucuba.metrics import (
    RocSketch,
    bedroc_score,
    compare_scores,
    operating_point,
    partial_auc_score,
    rates_at_threshold,
    rie_score,
    score_interval,
    two_way_partial_auc_score,
)
from tests.measure_cases import PARAMS, suited

ALPHA = 20


def exact_enhancement(y, score, weight):
    """RIE and BEDROC with 80 digits, block by block."""
    with localcontext() as context:
        context.prec = 80
        alpha, weight = Decimal(ALPHA), [Decimal(float(w)) for w in weight]
        total, hits = sum(weight), sum(w for w, one in zip(weight, y, strict=True) if one)
        above, mean = Decimal(0), Decimal(0)
        for level in sorted(set(score), reverse=True):
            block = [k for k, s in enumerate(score) if s == level]
            mass = sum(weight[k] for k in block) / total
            decay = ((-alpha * above).exp() - (-alpha * (above + mass)).exp()) / mass
            mean += sum(weight[k] for k in block if y[k]) / hits * decay
            above += mass
        mean /= 1 - (-alpha).exp()
        part = hits / total
        norm = part * (1 - (-alpha).exp())
        most = (1 - (-alpha * part).exp()) / norm
        least = (-alpha * (1 - part)).exp() * most
        return mean, (mean - least) / (most - least)


def check_weights_of_many_decades(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 15))
    y = rng.random(n) < 0.5
    y[:2] = [True, False]
    score = rng.integers(0, 6, n).astype(float)
    weight = 10.0 ** rng.uniform(-12, 12, n)
    rie, bedroc = exact_enhancement(y, score, weight)
    assert rie_score(y, score, alpha=ALPHA, sample_weight=weight) == pytest.approx(
        float(rie), rel=1e-9
    )
    assert bedroc_score(y, score, alpha=ALPHA, sample_weight=weight) == pytest.approx(
        float(bedroc), abs=1e-9
    )
    corner = {"min_tpr": rng.uniform(0, 0.99), "max_fpr": rng.uniform(0.01, 1)}
    assert 0.0 <= two_way_partial_auc_score(y, score, sample_weight=weight, **corner) <= 1.0


def exact_rates(y, score, weight, threshold):
    """Rates at a threshold in rational numbers; None where no row counts."""
    cells = dict.fromkeys(("tp", "fp", "fn", "tn"), Fraction(0))
    for one, at, w in zip(y, score, weight, strict=True):
        cells[("t" if one == (at >= threshold) else "f") + "np"[int(at >= threshold)]] += Fraction(
            w
        )
    tp, fp, fn, tn = cells.values()
    parts = {
        "tpr": (tp, tp + fn),
        "fpr": (fp, fp + tn),
        "specificity": (tn, fp + tn),
        "precision": (tp, tp + fp),
        "npv": (tn, tn + fn),
        "alert_rate": (tp + fp, tp + fp + tn + fn),
    }
    return {name: float(hits / rows) if rows else None for name, (hits, rows) in parts.items()}


def check_rates_of_many_decades(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 15))
    y = rng.random(n) < 0.5
    y[:2] = [True, False]
    score, threshold = rng.integers(0, 6, n).astype(float), float(rng.integers(0, 7))
    weight = 10.0 ** rng.uniform(-12, 12, n)
    found = rates_at_threshold(y, score, threshold=threshold, sample_weight=weight)
    for name, value in exact_rates(y, score, weight, threshold).items():
        at_once = getattr(found, name)
        if value is None:
            assert np.isnan(at_once)
            continue
        params = {"rate": name, "threshold": threshold, "sample_weight": weight}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FewRowsWarning)
            interval = score_interval("rate_at_threshold", y, score, **params)
        assert interval.low <= value <= interval.high
        for one in (at_once, interval.value):
            assert one == pytest.approx(value, rel=1e-9, abs=1e-15)


def refused_or_found(function, words):
    """Return a result, or None where it was refused in known words."""
    try:
        return function()
    except ValueError as error:
        if not re.search(words, str(error)):
            raise
        return None


def check_mutated_sketch(seed):
    """A sketch whose text was changed is refused in one kind of words, or answers like any other."""
    rng = np.random.default_rng(seed)
    y, score = rng.random(40) < 0.3, rng.integers(0, 12, 40).astype(float)
    y[:2] = [True, False]
    weight = rng.uniform(0.5, 2, 40) if seed % 2 else None
    state = json.loads(RocSketch((0.0, 0.5), capacity=12).update(y, score, weight).to_json())
    for _ in range(int(rng.integers(1, 4))):
        _mutate(state, rng)
    text = json.dumps(state)
    if rng.random() < 0.1:
        place = int(rng.integers(len(text)))
        text = text[:place] + "".join(rng.choice(list('[{"0x,'), 3)) + text[place:]
    sketch = refused_or_found(lambda: RocSketch.from_json(text), "not the text of RocSketch")
    if sketch is None:
        return
    assert min(sketch.n_positives, sketch.n_negatives) >= 0
    answers = refused_or_found(
        lambda: (sketch.partial_auc(), sketch.threshold()),
        "cover false positive rates|has seen no",
    )
    if answers is None:
        return
    value, threshold = answers
    assert 0.0 <= value <= 1.0
    assert threshold > -np.inf


def _mutate(state, rng):
    choices = [0, -1, 1e400, 10**30, "", "x", None, [], {}, True, 0.5, float("nan"), 2**70]
    new = choices[int(rng.integers(len(choices)))]
    where = rng.random()
    of_class = state.get(str(rng.choice(["negative", "positive"])))
    if where < 0.3 or not isinstance(of_class, dict):
        state[str(rng.choice(list(state)))] = new
    elif where < 0.6 or not isinstance(of_class.get("kept"), dict) or not of_class["kept"]:
        of_class[str(rng.choice(["count", "weight", "square", "kept"]))] = new
    else:
        name = str(rng.choice(list(of_class["kept"])))
        raw = bytearray(base64.b64decode(of_class["kept"][name]) if of_class["kept"][name] else b"")
        if raw:
            raw[int(rng.integers(len(raw)))] ^= int(rng.integers(1, 256))
        of_class["kept"][name] = base64.b64encode(bytes(raw)).decode()


def check_interval(seed):
    """Intervals of any measure of any sample hold their value, have width and stay within limits."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 60))
    y = rng.random(n) < rng.choice([0.1, 0.5, 0.9])
    y[:2] = [True, False]
    score = rng.choice([rng.normal(size=n), np.round(rng.normal(size=n)), np.zeros(n), 1.0 * y])
    score = score + rng.choice([0.0, 1.0, 5.0]) * y
    weight = rng.choice([None, 1, 10])
    weight = None if weight is None else 10 ** rng.uniform(-weight, weight, n)
    names = [name for name in PARAMS if name not in ("auc_at_k", "binned_auc", "aum")]
    name = names[seed % len(names)]
    score = suited(name, score)
    options = {"sample_weight": weight, "n_resamples": 20, "random_state": 0, **PARAMS[name]}
    if rng.random() < 0.3:
        options["groups"] = rng.integers(0, max(2, n // 3), n)
        options["groups"][:2] = [0, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewRowsWarning)
        both = refused_or_found(
            lambda: (
                score_interval(name, y, score, **options),
                compare_scores(name, y, score, rng.permutation(score), **options),
            ),
            "resamples in a row",
        )
    if both is None:
        return
    found, other = both
    if np.isnan(found.value):
        assert name == "rate_at_threshold"
        return
    assert found.low - 1e-9 <= found.value <= found.high + 1e-9
    assert found.low < found.high
    assert np.isfinite([found.low, found.high]).all()
    if not np.isnan(other.difference):
        assert other.low <= other.high
        assert 0 < other.p_value <= 1


@pytest.mark.parametrize(
    "check",
    [
        check_weights_of_many_decades,
        check_rates_of_many_decades,
        check_mutated_sketch,
        check_interval,
    ],
)
def test_random_cases(check):
    for seed in range(120):
        check(seed)


def test_the_lowest_threshold_of_a_sketch_is_a_score():
    """Positives below all kept negatives are only counted; flagging all is then no score at all."""
    y = np.repeat([1, 0], [5, 10])
    score = np.concatenate([np.arange(5.0) - 10, np.arange(10.0)])
    assert RocSketch((0.0, 1.0), capacity=10).update(y, score).threshold(1.0) == 0.0
    assert operating_point(y, score, fpr=1.0).threshold == -10.0


def test_a_sketch_with_one_row_of_a_class_has_an_interval():
    sketch = RocSketch((0.0, 0.5), capacity=10).update([1, 0, 0, 0], [3.0, 1.0, 2.0, 0.0])
    with pytest.warns(FewRowsWarning, match="rests on 1 positives"):
        found = sketch.interval()
    assert 0.0 <= found.low < found.value == found.high == 1.0


def test_deep_and_endless_texts_of_sketches_are_one_error():
    good = json.loads(RocSketch((0.0, 0.5), capacity=10).update([1, 0], [1.0, 0.0]).to_json())
    endless = {**good, "negative": {**good["negative"], "count": float("inf")}}
    impossible = {**good, "negative": {**good["negative"], "count": 1, "weight": 5.0}}
    for text in ("[" * 100_000, json.dumps(endless), json.dumps(impossible)):
        with pytest.raises(ValueError, match="not the text of RocSketch"):
            RocSketch.from_json(text)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ({"y_true": np.array([1j, 0, 1j, 0])}, "y_true must not be complex"),
        ({"y_score": np.array([1j, 2, 3, 4])}, "y_score must be numeric, got dtype complex128"),
        ({"sample_weight": np.array([1j, 1, 1, 1])}, "sample_weight must be numeric"),
        ({"y_score": np.ma.array([1.0, 2, 3, 4], mask=[0, 1, 0, 0])}, "y_score has 1 masked"),
    ],
)
def test_complex_and_masked_columns_are_one_error(column, message):
    rows = {"y_true": [0, 1, 0, 1], "y_score": [1.0, 2.0, 3.0, 4.0], **column}
    with pytest.raises(ValueError, match=message):
        partial_auc_score(**rows)


def test_integers_of_tensors_that_doubles_cannot_hold_are_refused():
    torch = pytest.importorskip("torch")
    y, large = torch.tensor([0, 1, 0, 1]), 2**60 + torch.arange(4)
    with pytest.raises(ValueError, match=r"integers above 2\*\*53"):
        partial_auc_score(y, large)
    with pytest.raises(ValueError, match="must be numeric, got dtype complex"):
        partial_auc_score(y, torch.tensor([1j, 2, 3, 4]))
    assert partial_auc_score(y, torch.arange(4)) == 0.75
