"""The same fit again, from its plan and on another number of jobs."""

import numpy as np
import pytest
from sklearn.base import clone

from aucuba.ensemble import RegionStack
from aucuba.ensemble._defaults import PRESETS
from tests.ensemble.data import mixed_frame

RANGE = (0.0, 0.2)


@pytest.mark.parametrize("preset", list(PRESETS))
def test_the_plan_of_a_preset_repeats_it_on_any_number_of_jobs(preset):
    frame, y = mixed_frame(160)
    first = RegionStack(RANGE, preset=preset, cv=2, n_jobs=1, random_state=0).fit(frame, y)
    again = RegionStack(RANGE, plan=first.plan_, cv=2, n_jobs=2, random_state=0).fit(frame, y)
    assert again.plan_ == first.plan_
    assert again.report_ == first.report_
    assert np.array_equal(again.oof_scores_, first.oof_scores_)
    assert np.array_equal(again.predict_proba(frame), first.predict_proba(frame))


def test_another_seed_is_another_fit():
    frame, y = mixed_frame(160)
    first = RegionStack(RANGE, preset="fast", cv=2, random_state=0).fit(frame, y)
    other = clone(first).set_params(random_state=1).fit(frame, y)
    assert not np.array_equal(other.oof_scores_, first.oof_scores_)
