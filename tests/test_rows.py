"""The rows that estimators, metrics and thresholds share."""

import numpy as np

from aucuba._rows._sample import RankingSample


def test_selected_rows_carry_every_column():
    sample = RankingSample(
        np.array([True, False, True, False]),
        weight=np.array([1.0, 2.0, 3.0, 4.0]),
        query=np.array([0, 1, 2, 2]),
        group=np.array([0, 1, 1, 2]),
        time=np.array([5, 3, 1, 0]),
        stratum=np.array([0, 0, 1, 2]),
        score=np.array([0.1, 0.2, 0.3, 0.4]),
    )
    part = sample.take(np.array([1, 3]))
    assert part.positive.tolist() == [False, False]
    assert part.weight.tolist() == [2.0, 4.0]
    assert part.score.tolist() == [0.2, 0.4]
    # Queries and groups are numbered without gaps; times and strata keep their numbers.
    assert part.query.tolist() == [0, 1]
    assert part.group.tolist() == [0, 1]
    assert part.time.tolist() == [3, 0]
    assert part.stratum.tolist() == [0, 2]


def test_columns_that_were_not_given_stay_away():
    part = RankingSample(np.array([True, False]), score=np.zeros(2)).take(np.array([1]))
    assert part.weight is part.query is part.group is part.time is part.stratum is None
