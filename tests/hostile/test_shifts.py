"""Promises by ``time=`` under drift, and stacks on categories that training has not seen."""

import pytest

pytest.importorskip("pandas")

from tests.hostile.shifts import CONFIDENCE, breaks_promise, check_unseen


@pytest.mark.parametrize("seed", range(6))
def test_unseen_categories(seed):
    check_unseen(seed)


def test_promises_by_time():
    # One in ten may break it; so many of 60 are three standard errors more.
    n_worlds = 60
    bar = (1 - CONFIDENCE) + 3 * (CONFIDENCE * (1 - CONFIDENCE) / n_worlds) ** 0.5
    assert sum(map(breaks_promise, range(n_worlds))) <= bar * n_worlds
