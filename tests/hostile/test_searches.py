"""Line searches, segmentations and stored states against fractions and in one kind of words."""

import pytest

from tests.hostile import searches


@pytest.mark.parametrize(
    ("check", "n_cases"),
    [
        (searches.check_line_search, 150),
        (searches.check_segmentation, 100),
        (searches.check_state, 500),
    ],
)
def test_random_cases(check, n_cases):
    for seed in range(n_cases):
        check(seed)


@pytest.mark.parametrize("seed", [172, 1405])
def test_days_that_no_calendar_has(seed):
    """Of 2**70 days in the text of a monitor came an error of another kind at the next update."""
    searches.check_state(seed)
