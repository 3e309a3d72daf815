"""The threshold of best balanced accuracy against one that tries all."""

import numpy as np
import pytest

from aucuba._base._parallel import _blas, one_blas_thread
from aucuba._roc._threshold import operating_point
from aucuba._rows._sample import Sample

SCORES = {
    "normal": lambda rng, n: rng.normal(size=n),
    "rounded": lambda rng, n: np.round(rng.normal(size=n), 1),
    "few levels": lambda rng, n: rng.integers(0, 4, size=n).astype(float),
    "mostly zero": lambda rng, n: np.where(rng.random(n) < 0.8, 0.0, rng.normal(size=n)),
    "long tails": lambda rng, n: rng.standard_cauchy(size=n) ** 3,
    "near overflow": lambda rng, n: 1e308 * rng.uniform(-1, 1, size=n),
    "near zero": lambda rng, n: 1e-310 * rng.normal(size=n),
}


def tried(scores, positive, weight):
    """Try a threshold below every distinct score; of equally good ones take the lowest."""
    levels = np.unique(scores)
    gains = weight * np.where(positive, 1 / weight[positive].sum(), -1 / weight[~positive].sum())
    above = np.array([gains[scores >= level].sum() for level in levels])
    best = int(np.flatnonzero(above >= above.max() - 1e-12)[0])
    return (levels[best - 1] + levels[best]) / 2 if best else levels[0] - 1.0


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
@pytest.mark.parametrize("weighted", [False, True], ids=["counted", "weighted"])
@pytest.mark.parametrize("lead", [-2.0, 0.0, 0.3, 8.0], ids=["reversed", "none", "some", "perfect"])
@pytest.mark.parametrize("kind", SCORES)
def test_the_best_balanced_accuracy_of_all(kind, lead, weighted):
    rng = np.random.default_rng(0)
    for n, share in ((1500, 0.1), (2500, 0.5), (1200, 0.004)):
        positive = rng.random(n) < share
        positive[:2] = True, False
        scores = SCORES[kind](rng, n)
        scores = scores + lead * positive * (np.quantile(scores, 0.7) - np.quantile(scores, 0.4))
        weight = rng.integers(0, 4, size=n) * 0.5 if weighted else None
        if weighted:
            weight[:2] = 1.0
        threshold, rate = operating_point(scores, Sample(positive, weight), 1.0)
        weights = np.ones(n) if weight is None else weight
        assert threshold == tried(scores, positive, weights)
        above = weights[(scores > threshold) & ~positive].sum()
        assert rate == pytest.approx(above / weights[~positive].sum(), rel=1e-12)


def test_blas_of_one_thread_is_left_alone(monkeypatch):
    for library in _blas():
        monkeypatch.setattr(library, "get_num_threads", lambda: 1)
        monkeypatch.setattr(library, "set_num_threads", None)
    with one_blas_thread():
        pass


def test_blas_has_one_thread_inside_and_its_own_number_after():
    before = [library.get_num_threads() for library in _blas()]
    assert before
    for library in _blas():
        library.set_num_threads(2)
    try:
        with pytest.raises(KeyError, match="True"), one_blas_thread():
            raise KeyError({library.get_num_threads() for library in _blas()} == {1})
        assert {library.get_num_threads() for library in _blas()} == {2}
    finally:
        for library, number in zip(_blas(), before, strict=True):
            library.set_num_threads(number)
