"""Reports stay the same pages, whatever columns, classes, signals and graphs are called."""

import pytest

from tests.hostile.pages import KINDS, check_page


@pytest.mark.parametrize("seed", range(len(KINDS)))
def test_random_names(seed):
    check_page(seed)
