"""Loaders: shapes of the real files where they are, one clear error where they are not."""

import numpy as np
import pytest

from reproductions.data.coauthors import (
    Authorships,
    coauthor_network,
    focal_authors,
    load_coauthors,
)
from reproductions.data.multilabel import load_multilabel
from reproductions.data.ohsumed import load_ohsumed, ohsumed_split


def test_ohsumed(needs):
    needs("ohsumed")
    data = load_ohsumed()
    assert data.X.shape == (16140, 45)
    assert np.unique(data.qid).size == 106
    assert set(np.unique(data.grade)) == {0, 1, 2}
    train, validation, test = (set(part.qid) for part in ohsumed_split(1))
    assert len(train | validation | test) == 106
    assert not train & validation
    assert not (train | validation) & test
    with pytest.raises(ValueError, match="folds 1 to 5, got 6"):
        load_ohsumed(6)


@pytest.mark.parametrize(
    ("name", "shape", "n_labels"), [("yeast", (1500, 103), 14), ("scene", (1211, 294), 6)]
)
def test_multilabel(name, shape, n_labels, needs):
    needs("multilabel")
    data = load_multilabel(name)
    assert data.X_train.shape == shape
    assert data.Y_train.shape == (shape[0], n_labels)
    assert len(data.label_names) == n_labels
    assert set(np.unique(data.Y_test)) == {0, 1}


def test_coauthors(needs):
    needs("nips_coauthor")
    data = load_coauthors("nips")
    assert data.year.min() == 1987
    window = data.window(1998, 2002)
    assert window.year.min() == 1998
    assert window.year.max() == 2002
    network = coauthor_network(window, data.n_authors)
    future = coauthor_network(data.window(2003, 2007), data.n_authors)
    assert len(focal_authors(network, future)) == 37


def test_focal_authors_by_hand():
    """0 and 1 wrote together, 1 with 2 and with 3, and 2 with 3; then 0 joins 2."""
    papers = [(2000, 0, (0, 1)), (2000, 1, (1, 2, 3)), (2001, 2, (1, 4)), (2005, 3, (0, 2))]
    rows = np.array([(year, paper, author) for year, paper, who in papers for author in who])
    data = Authorships(*rows.T)
    network = coauthor_network(data.window(2000, 2001), 5)
    future = coauthor_network(data.window(2005, 2005), 5)
    assert network.joint[[1], [2]] == 1
    assert network.last_year[4] == 2001
    (problem,) = (p for p in focal_authors(network, future) if p.author == 0)
    assert problem.candidates.tolist() == [2, 3, 4]
    assert problem.positive.tolist() == [True, False, False]
    assert problem.edges.tolist() == [[0, 1]]


def test_missing_files_say_where_to_put_them(tmp_path, monkeypatch):
    monkeypatch.setenv("AUCUBA_DATA", str(tmp_path))
    for load in (load_ohsumed, lambda: load_multilabel("yeast"), lambda: load_coauthors("acl")):
        with pytest.raises(FileNotFoundError, match="AUCUBA_DATA"):
            load()
    with pytest.raises(ValueError, match="name must be one of"):
        load_coauthors("dblp")
