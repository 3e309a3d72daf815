"""Names and values that broke exports, and random ones that must not."""

import sqlite3

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from aucuba.export import to_sql
from tests.hostile.exports import check_graph, check_sql

RNG = np.random.default_rng(0)
X = RNG.normal(size=(100, 2))
MODEL = LogisticRegression().fit(X, X[:, 0] > 0)


@pytest.mark.parametrize("seed", range(40))
def test_random_sql(seed):
    check_sql(seed)


@pytest.mark.parametrize("taken", ["term0", "Term0", "terms", "input"])
def test_a_column_of_the_table_is_no_term_of_the_sum(taken):
    connection = sqlite3.connect(":memory:")
    connection.execute(f'CREATE TABLE rows ("{taken}", "b", "term1")')
    rows = [(*row, 1e6) for row in X.tolist()]
    connection.executemany("INSERT INTO rows VALUES (?, ?, ?)", rows)
    found = connection.execute(to_sql(MODEL, columns=[taken, "b"])).fetchall()
    np.testing.assert_allclose([row[-2] for row in found], MODEL.decision_function(X), atol=1e-12)


def test_a_column_that_the_table_lacks_is_an_error_of_the_database():
    connection = sqlite3.connect(":memory:")
    connection.execute('CREATE TABLE rows ("a", "b")')
    connection.execute("INSERT INTO rows VALUES (1, 2)")
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        connection.execute(to_sql(MODEL, columns=["a", "c"]))


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (["a", "Score"], "'Score' has the name of a result"),
        (["flag", "a"], "'flag' has the name of a result"),
        (["a", "a"], "'a' twice"),
        (["a", "b\0c"], "holds a NUL"),
    ],
)
def test_names_that_stand_for_two_things_are_refused(columns, words):
    with pytest.raises(ValueError, match=words):
        to_sql(MODEL, columns=columns)
    if "NUL" in words:
        with pytest.raises(ValueError, match=words):
            to_sql(MODEL, columns[1])


@pytest.mark.parametrize("seed", range(15))
def test_random_graphs(seed):
    check_graph(seed)
