"""Quality against the number of items."""

import numpy as np
import pytest

from aucuba import RegionScorecard
from aucuba.scorecard import ScorecardPath, scorecard_path
from aucuba.scorecard._path import first_near
from tests.scorecard.test_region_scorecard import RANGE, clinic


def test_path_finds_where_items_stop_to_help():
    X, y = clinic(500)
    card = RegionScorecard(RANGE, cv=2, pos_label="ill", random_state=0)
    path = scorecard_path(card, X, y, (4, 1, 2), cv=2, random_state=0)
    assert path.sizes == [1, 2, 4]
    assert path.partial_auc[path.sizes.index(path.best)] == max(path.partial_auc)
    assert path.error[path.sizes.index(path.best)] == 0.0
    assert path.smallest <= path.best
    assert path.partial_auc[0] < max(path.partial_auc)
    at = path.sizes.index(path.smallest)
    assert path.partial_auc[at] >= max(path.partial_auc) - path.error[at]
    for k in range(at):
        assert path.partial_auc[k] < max(path.partial_auc) - path.error[k]
    assert "best" in str(path)
    assert np.array_equal(path.to_frame()["items"], [1, 2, 4])
    ax = path.plot()
    assert ax.get_xticks().tolist() == path.sizes
    assert f"{path.smallest}: the smallest" in ax.get_legend().get_texts()[0].get_text()
    with pytest.raises(ValueError, match="sizes must be a whole number above 0"):
        scorecard_path(card, X, y, (0, 2))


def test_smallest_is_within_one_error_of_the_best():
    means, errors = np.array([0.2, 0.5, 0.58, 0.6]), np.array([0.1, 0.05, 0.03, 0.0])
    assert first_near(means, errors, 3) == 2
    assert first_near(means, 3 * errors, 3) == 1
    assert first_near(means, 0 * errors, 3) == 3


def test_values_do_not_depend_on_the_names_of_the_classes():
    X, y = clinic(300)
    found = []
    for labels in ((y == "ill").astype(int), np.where(y == "ill", "a", "b")):
        card = RegionScorecard(RANGE, cv=2, pos_label=labels[y == "ill"][0], random_state=0)
        found.append(scorecard_path(card, X, labels, (1, 2), cv=2, random_state=0))
    assert isinstance(found[0], ScorecardPath)
    assert found[0].partial_auc == found[1].partial_auc


@pytest.mark.parametrize("sizes", [(), 5, "12", (0, 1)])
def test_sizes_that_are_none_are_refused(sizes):
    with pytest.raises(ValueError, match=r"^sizes must "):
        scorecard_path(RegionScorecard(), [[0.0], [1.0]], [0, 1], sizes)
