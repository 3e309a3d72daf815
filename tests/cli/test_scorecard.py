"""``aucuba fit --model scorecard``."""

import json
import sqlite3

import numpy as np
import pandas as pd
import pytest

from aucuba.cli import main
from aucuba.persistence import load_model
from aucuba.scorecard import Scorecard

DROPPED = ["--drop", "times", "--drop", "query"]


def words(path, *more):
    options = "--target outcome --pos-label bad --fpr-range 0 0.2 --model scorecard --cv 2"
    return [*options.split(), "--max-items", "3", "--out", str(path), *DROPPED, *more]


@pytest.fixture(scope="module")
def card(tmp_path_factory, files):
    path = tmp_path_factory.mktemp("card") / "card.aucuba"
    assert main(["fit", str(files / "train.csv"), *words(path)]) == 0
    return path


def test_a_card_goes_the_whole_way(run, card, files, tmp_path):
    data = files / "test.csv"
    facts = run("info", card, "--json").json["fit"]
    assert facts["estimator"] == "RegionScorecard"
    assert "Call at" in facts["card"]
    run("predict", card, data, "--out", tmp_path / "scores.csv")
    saved = load_model(card)
    written = pd.read_csv(tmp_path / "scores.csv")
    assert np.allclose(written["probability"], saved.predict_proba(pd.read_csv(data))[:, 1])
    assert 1 <= len(saved.model[-1].items_) <= 3
    rows = saved.model[:-1].transform(pd.read_csv(data))
    assert np.array_equal(written["total"], saved.model[-1].total(rows))
    run("report", card, data, "--out", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "Scorecard" in page
    assert "Next-best cards" in page
    # A wide table scrolls by itself, and does not make the page wider than a phone.
    section = page.split('<section id="card"')[1].split("</section>")[0]
    assert section.count("<table") == section.count('<div class="scroll"') == 3
    assert '<th scope="row">' in section
    assert f"Scores on this page are totals less {saved.model[-1].threshold_:g}." in section
    assert '<th scope="row">The card above</th>' in section
    assert "Each reason is a condition that the row meets" in page
    statement = tmp_path / "card.sql"
    run("export", card, "--sql", statement, "--table", "rows")
    with sqlite3.connect(":memory:") as database:
        pd.read_csv(data).to_sql("rows", database, index=False)
        found = pd.read_sql(statement.read_text(), database)
    database.close()
    table = pd.read_csv(data)
    assert np.array_equal(found["total"], saved.model[-1].total(saved.model[:-1].transform(table)))


def test_the_promise_is_on_the_card(run, files, tmp_path):
    path = tmp_path / "promised.aucuba"
    out = run("fit", files / "train.csv", *words(path, "--promise", "fpr=0.3", "--json"))
    assert "with confidence 0.95" in json.dumps(out.json["fit"]["card"])
    run("predict", path, files / "test.csv", "--out", tmp_path / "scores.csv")
    written, card = (
        pd.read_csv(tmp_path / "scores.csv"),
        Scorecard.from_model(load_model(path).model),
    )
    assert np.array_equal(written["predicted"] == "bad", written["total"] >= card.call_at)
    run("report", path, files / "test.csv", "--out", tmp_path / "page.html")
    assert "-0.0000" not in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--model", "scorecard", "--C", "3"], "--C does not apply to --model scorecard"),
        (["--model", "scorecard", "--cv", "1"], "--cv must be at least 2 for a scorecard, got 1"),
        (["--model", "linear", "--max-items", "3"], "--max-items is for --model scorecard"),
    ],
)
def test_options_without_effect_are_refused(run, files, tmp_path, given, message):
    asked = ["fit", files / "train.csv", "--target", "outcome", "--out", tmp_path / "m", *given]
    assert message in run(*asked).err
