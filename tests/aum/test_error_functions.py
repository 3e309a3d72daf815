"""Error functions, AUM and its derivatives against brute force and finite differences."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from aucuba.aum import ErrorFunctions, aum
from aucuba.metrics import aum_score
from tests.aum.oracle import changepoint_errors, labels, pair_auc


def total_error(errors, predictions, constant):
    """FP and FN of all examples, from the definition, one breakpoint after another."""
    fp = fn = 0.0
    for b in range(errors.n_breakpoints):
        if errors.value[b] <= predictions[errors.example[b]] + constant:
            fp += errors.fp_diff[b]
        else:
            fn -= errors.fn_diff[b]
    return fp, fn


def aum_by_integration(errors, predictions):
    cuts = np.unique(errors.value - predictions[errors.example])
    return sum(
        (b - a) * min(total_error(errors, predictions, (a + b) / 2)) for a, b in pairwise(cuts)
    )


def random_errors(seed):
    """Integer problems, so that ties are common: labels or errors that go up and down."""
    rng = np.random.default_rng(seed)
    if seed % 2:
        errors = ErrorFunctions(*changepoint_errors(rng))
    else:
        errors = ErrorFunctions.from_labels(labels(rng, 9), rate=bool(seed % 4))
    return errors, rng.integers(-4, 5, errors.n_examples).astype(float)


@given(st.integers(0, 10_000))
def test_aum_is_the_integral_of_the_smaller_error(seed):
    errors, predictions = random_errors(seed)
    assert_allclose(aum(errors, predictions).aum, aum_by_integration(errors, predictions))


@given(st.integers(0, 10_000))
def test_derivatives_are_one_sided_differences(seed):
    errors, predictions = random_errors(seed)
    result = aum(errors, predictions)
    for i in range(errors.n_examples):
        for side, derivative in ((1, result.right[i]), (-1, result.left[i])):
            moved = predictions.copy()
            # Integers tie or lie 1 apart, so that AUM is linear over a quarter.
            moved[i] += side * 0.25
            change = aum_by_integration(errors, moved) - aum_by_integration(errors, predictions)
            assert_allclose(derivative, side * change / 0.25, atol=1e-12)


@given(st.integers(0, 10_000))
def test_points_of_the_curve(seed):
    errors, predictions = random_errors(seed)
    result = aum(errors, predictions)
    inside = (result.threshold[1:] + result.threshold[:-1]) / 2
    for constant, fpr, tpr in zip(inside, result.fpr[1:], result.tpr[1:], strict=False):
        fp, fn = total_error(errors, predictions, constant)
        assert_allclose([fpr, tpr], [fp / errors.total_fp, 1 - fn / errors.total_fn], atol=1e-12)
    assert_array_equal([result.fpr[0], result.tpr[0], result.tpr[-1]], [0, 0, 1])


@given(st.integers(0, 10_000), st.booleans())
def test_labels_agree_with_the_metrics(seed, weighted):
    rng = np.random.default_rng(seed)
    y, score = labels(rng, 10), rng.integers(-3, 4, 10) / 2
    weight = rng.integers(1, 4, 10) if weighted else None
    result = aum(ErrorFunctions.from_labels(y, sample_weight=weight), score)
    assert_allclose(result.aum, aum_score(y, score, sample_weight=weight), atol=1e-13)
    assert_allclose(result.auc, pair_auc(y, score, weight), atol=1e-13)


@given(st.integers(0, 10_000), st.floats(0, 1))
def test_monotone_aum_is_convex(seed, share):
    rng = np.random.default_rng(seed)
    errors = ErrorFunctions.from_labels(labels(rng, 12))
    one, other = rng.normal(size=(2, 12))
    mixed = aum(errors, share * one + (1 - share) * other).aum
    assert mixed <= share * aum(errors, one).aum + (1 - share) * aum(errors, other).aum + 1e-12


def test_breakpoints_are_sorted_and_joined():
    errors = ErrorFunctions([1, 0, 1, 1], [2.0, 0.0, -1.0, 2.0], [0, 1, 0, 0], [-1, 0, -1, -1], 4)
    assert_array_equal(errors.example, [0, 1, 1])
    assert_array_equal(errors.value, [0.0, -1.0, 2.0])
    assert_array_equal(errors.fn_diff, [0, -1, -2])
    assert errors.n_examples == 4
    assert errors.is_monotone
    assert not ErrorFunctions([0, 0, 0], [0, 1, 2], [1, -1, 1], [-1, 0, 0]).is_monotone


def test_examples_of_weight_zero_have_no_breakpoint():
    errors = ErrorFunctions.from_labels([0, 1, 1, 0], sample_weight=[1, 2, 0, 3])
    assert_array_equal(errors.example, [0, 1, 3])
    assert_allclose(errors.fp_diff, [0.25, 0, 0.75])
    assert errors.n_examples == 4


def test_rounding_of_rates_is_no_negative_error():
    third = 1 / 3
    ErrorFunctions([0, 0, 0, 0], [0, 1, 2, 3], [third, third, -2 / 3, 1], [-1, 0, 0, 0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], [0, 0], [1, 1], [0, 0]), "sum of -fn_diff is 0"),
        (([0, 1], [0, 0], [0, 0], [-1, -1]), "sum of fp_diff is 0"),
        (([0, 0], [0, 1], [-1, 2], [-1, 0]), r"FP of example 0 goes negative \(-1\) above 0"),
        (([0, 0], [0, 1], [1, 0], [-2, 1]), r"FN of example 0 goes negative \(-1\) below 1"),
        (([0, 5], [0, 1], [1, 0], [0, -1], 2), r"example must lie in \[0, 2\), got 5"),
        (([-1, 0], [0, 1], [1, 0], [0, -1]), "got -1; examples count from 0"),
        (([0.5, 1], [0, 1], [1, 0], [0, -1]), "example must hold integers"),
        (([], [], [], []), "non-empty"),
        (([0, 1], [0, np.nan], [1, 0], [0, -1]), "value contains 1 NaN"),
        (([0, 1], [0, 1], [1, np.inf], [0, -1]), "fp_diff contains 1 NaN or infinite"),
        (
            ([0, 1], [0, 1, 2], [1, 0], [0, -1]),
            "3 entries for 2 breakpoints; give one per breakpoint",
        ),
    ],
)
def test_bad_error_functions(arguments, message):
    with pytest.raises(ValueError, match=message):
        ErrorFunctions(*arguments)


def test_bad_labels_and_predictions():
    with pytest.raises(ValueError, match="only one class"):
        ErrorFunctions.from_labels([1, 1])
    with pytest.raises(ValueError, match="All positive examples have weight zero"):
        ErrorFunctions.from_labels([0, 1], sample_weight=[1, 0])
    with pytest.raises(ValueError, match="predictions has 3 entries for 2 examples; give one per"):
        aum(ErrorFunctions.from_labels([0, 1]), [1, 2, 3])
    with pytest.raises(ValueError, match="predictions contains 1 NaN"):
        aum(ErrorFunctions.from_labels([0, 1]), [1, np.nan])
