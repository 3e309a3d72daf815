"""All queries at once against one query after another."""

from dataclasses import replace

import numpy as np
import pytest

from aucuba._roc._queries import Queries
from aucuba._roc._region import Region
from aucuba._rows._sample import RankingSample
from aucuba.metrics._measures import MEASURES, bind
from tests.measure_cases import PARAMS, suited


def sample(rng, weighted, ties, n_queries=60, largest=25):
    """Queries of all sizes in random order, some of them with one class."""
    query = np.repeat(np.arange(n_queries), rng.integers(1, largest, size=n_queries))
    query = rng.permutation(query)
    score = np.round(rng.normal(size=query.size), 0 if ties else 9)
    positive = score + rng.normal(size=query.size) > 0.5
    weight = rng.uniform(0.2, 3.0, size=query.size) if weighted else None
    return RankingSample(positive, weight, query, score=score)


def one_by_one(measure, rows):
    """Value of every query that the measure counts, each computed by itself."""
    values = []
    for number in range(int(rows.query.max()) + 1):
        query = rows.as_one_query(np.flatnonzero(rows.query == number))
        has = query.positive.any(), not query.positive.all()
        if measure.needs == "any" or (has[0] and (measure.needs == "positive" or has[1])):
            values.append(measure.of_query(query))
    return np.array(values)


@pytest.mark.filterwarnings("ignore:.*queries have .* and are skipped")
@pytest.mark.parametrize("ties", [False, True], ids=["distinct", "ties"])
@pytest.mark.parametrize("weighted", [False, True], ids=["counted", "weighted"])
@pytest.mark.parametrize("name", MEASURES)
def test_every_measure(name, weighted, ties):
    params = PARAMS[name] | {"precision_at_k": {"k": 3}, "recall_at_k": {"k": 3}}.get(name, {})
    measure = bind(name, params)
    rows = sample(np.random.default_rng(0), weighted, ties)
    rows = replace(rows, score=suited(name, rows.score))
    found, expected = measure.by_query(rows), one_by_one(measure, rows)
    if weighted or name == "aum":
        # The weights of equal scores are added in another order.
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)
    else:
        np.testing.assert_array_equal(found, expected)


def test_a_function_of_one_curve_sees_one_query():
    rows = sample(np.random.default_rng(1), weighted=True, ties=True)
    queries = Queries(rows, "any")
    sizes = queries.values(
        rows.score, lambda curves, _: curves.each(lambda one: float(one.threshold.sum()))
    )
    expected = [
        np.unique(rows.score[rows.query == number]).sum() for number in np.unique(rows.query)
    ]
    np.testing.assert_allclose(sizes, expected)


def test_other_scores_of_the_same_queries():
    rng = np.random.default_rng(2)
    rows, region = sample(rng, weighted=False, ties=False), Region.from_params((0.0, 0.3))
    queries = Queries(rows)
    first = queries.in_region(rows.score, region)
    np.testing.assert_array_equal(queries.in_region(3.0 * rows.score - 1.0, region), first)
    assert not np.array_equal(queries.in_region(-rows.score, region), first)


def test_which_queries_count():
    positive = np.array([True, False, True, True, False, False])
    rows = RankingSample(positive, None, np.array([0, 0, 1, 1, 2, 2]), score=np.arange(6.0))
    counted = {needs: Queries(rows, needs) for needs in ("both", "positive", "any")}
    assert {needs: one.n_counted for needs, one in counted.items()} == {
        "both": 1,
        "positive": 2,
        "any": 3,
    }
    assert counted["both"].n_skipped == 2
    np.testing.assert_array_equal(rows.rankable, [True, False, False])
