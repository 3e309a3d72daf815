"""Reports stay the same pages, whatever columns, classes, signals and graphs are called."""

import pytest

pytest.importorskip("pandas")

from tests.hostile.pages import KINDS, check_page


@pytest.mark.parametrize("seed", [*range(len(KINDS)), 118, 296])
def test_random_names(seed):
    """Once wrong: a mark that turns text around in a card (118), segments "" and NUL as one (296)."""
    check_page(seed)
