"""What a model is trained for where rows are few: one rule for all of them."""

import warnings

import numpy as np
import pytest

from aucuba import FewRowsWarning
from aucuba._roc._region import Region
from aucuba._rows._sample import Sample


def rows(n_positives, n_negatives, weight=None):
    positive = np.repeat([True, False], [n_positives, n_negatives])
    return Sample(positive, None if weight is None else np.full(positive.size, weight))


def trained(fpr_range, sample, fpr_weight=None):
    """The region, what is trained for, and the text of the warning."""
    region = Region.from_params(fpr_range, fpr_weight, 0.3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = region.warned_for_training(sample, "The anchor")
    silent = region.for_training(sample)
    assert (silent and silent.params) == (found and found.params)
    assert all(one.category is FewRowsWarning for one in caught)
    return region, found, *(str(one.message) for one in caught)


@pytest.mark.parametrize(
    ("fpr_range", "n_negatives"), [((0.1, 0.2), 100), ((0.2, 0.3), 100), ((0.0, 1.0), 10)]
)
def test_a_range_of_ten_negatives_is_left_as_it_is(fpr_range, n_negatives):
    region, found = trained(fpr_range, rows(10, n_negatives))
    assert found is region


@pytest.mark.parametrize(
    ("fpr_range", "n_negatives", "want"),
    [
        ((0.0, 0.05), 100, (0.0, 0.1)),
        ((0.2, 0.25), 100, (0.2, 0.3)),
        ((0.97, 1.0), 100, (0.9, 1.0)),
        ((0.0, 0.01), 10, (0.0, 1.0)),
        ((0.0, 1e-6), 1000, (0.0, 0.01)),
    ],
)
def test_fewer_negatives_widen_the_range_to_ten(fpr_range, n_negatives, want):
    _, found, notice = trained(fpr_range, rows(10, n_negatives))
    assert found.fpr_range == pytest.approx(want)
    assert found.min_tpr == 0.3
    assert f"training on [{want[0]:g}, {want[1]:g}], which covers 10" in notice


def test_fewer_than_ten_rows_of_a_class_are_too_few():
    for sample in (rows(9, 1000), rows(1000, 9)):
        _, found, notice = trained((0.0, 0.5), sample)
        assert found is None
        assert "The anchor is returned: the data have" in notice
        assert "at least 10 of each are needed. Add data" in notice


def test_weights_count_as_rows():
    _, heavy, _ = trained((0.0, 0.01), rows(5, 50, weight=2.0))
    _, many, _ = trained((0.0, 0.01), rows(10, 100))
    assert heavy.fpr_range == many.fpr_range == (0.0, 0.1)
    _, found, notice = trained((0.0, 0.5), rows(20, 40, weight=0.25))
    assert found is None
    assert "5 positives and 10 negatives" in notice
    assert "over 60 of them it adds up to 15" in notice


@pytest.mark.parametrize(
    ("fpr_range", "sample", "said"),
    [
        ((0.0, 0.05), rows(10, 100), "the range covers only 5 negatives"),
        ((0.0, 1.0), rows(9, 100), "the data have 9 positives and 100 negatives"),
    ],
)
def test_a_model_that_solves_what_was_asked_warns_alone(fpr_range, sample, said):
    with pytest.warns(FewRowsWarning, match=f"follow the noise of single rows: {said}"):
        Region.from_params(fpr_range).warn_if_few(sample)
    Region.from_params((0.0, 0.1)).warn_if_few(rows(10, 100))


def test_negatives_in_the_range_are_counted_by_the_weight_of_their_rates():
    sample = rows(5, 200)
    assert Region.from_params((0.1, 0.2)).n_negatives_in(sample) == pytest.approx(20)
    falling = Region.from_params((0.0, 0.2), lambda rate: 1 - rate / 0.2)
    assert falling.n_negatives_in(sample) == pytest.approx(20)
