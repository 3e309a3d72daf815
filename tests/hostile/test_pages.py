"""Reports stay the same pages, whatever columns, classes, signals and graphs are called."""

import pytest

from tests.hostile.pages import KINDS, check_page


@pytest.mark.parametrize("seed", [*range(len(KINDS)), 118])
def test_random_names(seed):
    """Seed 118: a mark that turns text around stood in the conditions of a scorecard."""
    check_page(seed)
