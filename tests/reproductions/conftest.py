"""Shared pieces: problems of real data, or a skip that names what is missing."""

from __future__ import annotations

import pytest


@pytest.fixture
def needs(data_dir):
    """Skip unless the data directory has all of some folders."""

    def check(*folders):
        missing = [folder for folder in folders if not (data_dir / folder).is_dir()]
        if missing:
            pytest.skip(f"no {', '.join(missing)} in {data_dir}")

    return check
