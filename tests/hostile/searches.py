"""Random line searches, segmentations and stored states, against counts in fractions.

A case is wrong where a search misses the best value that fractions find, where a segmentation is not
the best of its size or for its penalty, or where a changed text of a monitor or ledger is neither
refused in one kind of words nor answers like any other.
"""

import itertools
import json
import warnings
from fractions import Fraction

import numpy as np

from aucuba.aum import ErrorFunctions, aum, maximize_auc, minimize_aum
from aucuba.changepoint import segment, segment_penalty
from aucuba.threshold import PromiseLedger, RateMonitor

OTHERS = [0, -1, 1e400, 10**30, "", "x", None, [], {}, True, 0.5, float("nan"), 2**70, "2026-01-01"]
STATUS = {"ok", "unsure", "broken", "unknown"}


def at_step(errors, predictions, direction, step):
    """AUM and AUC at a fraction: all numbers are whole, so that times its denominator nothing is
    rounded."""
    p, q = step.numerator, step.denominator
    scaled = ErrorFunctions(
        errors.example, q * errors.value, errors.fp_diff, errors.fn_diff, errors.n_examples
    )
    found = aum(scaled, q * predictions + p * direction)
    return Fraction(found.aum) / q, found.auc


def meetings(errors, predictions, direction):
    """Steps above zero at which two thresholds of a line meet."""
    start, slope = errors.thresholds(predictions), -direction[errors.example]
    lines = [(Fraction(int(a)), Fraction(int(b))) for a, b in zip(start, slope, strict=True)]
    return {
        (a - c) / (d - b) for a, b in lines for c, d in lines if b != d and (a - c) / (d - b) > 0
    }


def greatest_auc(errors, predictions, direction, max_step):
    """Greatest AUC over all meetings of two lines and one step between each two of them."""
    steps = {step for step in meetings(errors, predictions, direction) if step < max_step}
    edges = sorted(steps | {Fraction(0), max_step})
    tried = edges + [(low + high) / 2 for low, high in itertools.pairwise(edges)]
    return max(at_step(errors, predictions, direction, step)[1] for step in tried)


def check_line_search(seed):
    """First minimum of AUM and greatest AUC on a line, of errors that go up and down."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 5))
    value = np.sort(rng.integers(-4, 5, (n, 3)), axis=1).ravel().astype(float)
    fp = np.tile([2.0, -1.0, 1.0], n) * rng.integers(1, 3, 3 * n).cumsum().clip(1, 2)
    fp[1::3] = -1.0
    fn = np.tile([-1.0, 1.0, -2.0], n)
    errors = ErrorFunctions(np.repeat(np.arange(n), 3), value, fp, fn)
    predictions, direction = rng.integers(-3, 4, (2, n)).astype(float)
    if not direction.any():
        return
    end = Fraction(int(rng.choice([1, 2, 4])), 2)
    found = maximize_auc(errors, predictions, direction, max_step=float(end))
    best = greatest_auc(errors, predictions, direction, end)
    assert found.upper_bound >= best - 1e-9
    assert abs(found.auc - best) <= 1e-9
    steps = sorted({Fraction(0), *meetings(errors, predictions, direction)})
    values = [at_step(errors, predictions, direction, step)[0] for step in steps]
    rises = [high > low for low, high in itertools.pairwise(values)]
    first = values[rises.index(True) if True in rises else -1]
    assert abs(minimize_aum(errors, predictions, direction).aum - first) <= 1e-9 * (1 + first)


def loss_of(values, weights, ends):
    """Weighted squares around the means of the pieces, in fractions."""
    total, start = Fraction(0), 0
    for end in ends:
        y, w = values[start:end], weights[start:end]
        mean = sum(a * b for a, b in zip(y, w, strict=True)) / sum(w)
        total += sum(b * (a - mean) ** 2 for a, b in zip(y, w, strict=True))
        start = end
    return total


def check_segmentation(seed):
    """All sizes and one penalty, of short signals: ties, spikes, far from zero, in copies."""
    rng = np.random.default_rng(seed)
    n, min_size = int(rng.integers(1, 10)), int(rng.integers(1, 3))
    min_size = min(min_size, n)
    signal = rng.integers(-3, 4, n).astype(float)
    signal = [
        signal,
        signal + 1e6,
        np.where(rng.random(n) < 0.2, 1e5, signal),
        np.round(signal / 3),
    ][seed % 4]
    weights = rng.integers(1, 5, n) if rng.random() < 0.5 else np.ones(n, int)
    values, copies = [Fraction(one) for one in signal], [Fraction(int(one)) for one in weights]
    best = {}
    for size in range(1, n // min_size + 1):
        cuts = itertools.combinations(range(1, n), size - 1)
        ends = [(*one, n) for one in cuts]
        fit = [one for one in ends if min(np.diff([0, *one])) >= min_size]
        best[size] = min(loss_of(values, copies, one) for one in fit)
    slack = 1e-9 * (1 + float(best[1]))
    options = {"min_size": min_size, "weights": weights if weights.max() > 1 else None}
    found = segment(signal, len(best), **options)
    for size, changes, loss in zip(found.sizes, found.changepoints, found.losses, strict=True):
        exact = loss_of(values, copies, [*map(int, changes), n])
        assert abs(loss - exact) <= slack
        assert exact - best[int(size)] <= slack
    penalty = float(rng.choice([0.0, 0.5, 3.0, 1e3]))
    one = segment_penalty(signal, penalty, **options)
    changes = [*map(int, one.changepoints[0]), n]
    cost = loss_of(values, copies, changes) + Fraction(penalty) * len(changes)
    assert cost - min(loss + Fraction(penalty) * k for k, loss in best.items()) <= slack


def check_state(seed):
    """A monitor or a ledger whose text was changed."""
    rng = np.random.default_rng(seed)
    kind, text = _texts()[seed % 2]
    content = json.loads(text)
    for _ in range(int(rng.integers(1, 4))):
        holder, key = _place(content, rng)
        holder[key] = OTHERS[int(rng.integers(len(OTHERS)))]
    text = json.dumps(content)
    if rng.random() < 0.1:
        place = int(rng.integers(len(text)))
        text = text[:place] + "".join(rng.choice(list('[{"0x,'), 3)) + text[place:]
    try:
        restored = kind.from_json(text)
    except ValueError as error:
        if "not the text of" not in str(error):
            raise
        return
    assert kind.from_json(restored.to_json()).to_json() == restored.to_json()
    monitor = restored if kind is RateMonitor else restored.monitor
    if kind is PromiseLedger:
        assert restored.summary()
    if monitor is None:
        return
    assert monitor.status in STATUS
    try:
        monitor.update(np.zeros(9), np.arange(9) % 3 == 0, event_time=np.full(9, 40), as_of=50)
    except ValueError:
        return
    assert monitor.status in STATUS


_KNOWN = []


def _texts():
    """Texts of a monitor with late labels and of a ledger, made once."""
    if not _KNOWN:
        from tests.threshold.test_ledger import calibrated, watch

        rows = np.arange(200)
        monitor = RateMonitor(0.1, label_horizon=3)
        monitor.update(np.zeros(200), rows % 20 == 0, event_time=rows % 9, as_of=9)
        ledger = PromiseLedger()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            calibrated(ledger, 0)
            watch(ledger, 101, 5)
            calibrated(ledger, 140)
        _KNOWN.extend([(RateMonitor, monitor.to_json()), (PromiseLedger, ledger.to_json())])
    return _KNOWN


def _place(content, rng):
    """A random part of nested lists and mappings, by its holder and key."""
    holders, waiting = [], [content]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict | list) and one:
            holders.append(one)
            waiting.extend(one.values() if isinstance(one, dict) else one)
    holder = holders[int(rng.integers(len(holders)))]
    keys = list(holder) if isinstance(holder, dict) else range(len(holder))
    return holder, keys[int(rng.integers(len(keys)))]
