"""``aucuba evaluate --by``, ``compare --by`` and ``report --by``."""

import numpy as np
import pytest

from aucuba.metrics import compare_scores, largest_gap, score_interval
from aucuba.persistence import load_model

pytestmark = pytest.mark.filterwarnings(
    "ignore:The segments .* have too few", "ignore:The uncertainty rests on"
)


def scored(frame, model):
    rows = frame.iloc[300:]
    y = (rows["outcome"] == "bad").to_numpy()
    score = load_model(model).decision_function(rows.drop(columns="outcome"))
    city = rows["city"].astype(object).where(rows["city"].notna(), "(missing)").to_numpy()
    return y, score, city


def test_segments_are_the_library_s(run, files, frame, model):
    found = run(
        "evaluate", model, files / "test.csv", "--by", "city", "--fpr-range", "0", "0.5", "--json"
    )
    assert found.code == 0, found.err
    rows = found.json["segments"]["rows"]
    y, score, city = scored(frame, model)
    options = {"fpr_range": (0.0, 0.5), "by": city, "random_state": 0}
    table = score_interval("partial_auc", y, score, **options)
    assert [row["name"] for row in rows] == ["(missing)", "Oslo", "Paris", "Rome"]
    for row, want in zip(rows, table, strict=True):
        assert row["n_rows"] == want.n_rows
        # Two rows without a positive have no value, which JSON writes as null.
        known = np.nan if row["value"] is None else row["value"]
        assert (known, row["low"], row["high"]) == pytest.approx(
            (want.value, want.low, want.high), nan_ok=True
        )
    gap = largest_gap("partial_auc", y, score, **options)
    assert found.json["segments"]["largest_gap"]["p_value"] == gap.p_value
    shown = run("evaluate", model, files / "test.csv", "--by", "city").out
    assert "Oslo" in shown
    assert "Largest gap: " in shown
    wrong = run("evaluate", model, files / "test.csv", "--by", "town")
    assert wrong.code == 2
    assert "no column 'town' for --by" in wrong.err
    refused = run("evaluate", model, files / "test.csv", "--by", "city", "--region-only")
    assert refused.code == 2
    assert "--by needs all scores" in refused.err


def test_leads_by_segment(run, files, frame, model):
    found = run("compare", model, model, files / "test.csv", "--by", "times", "--json")
    assert found.code == 0, found.err
    second = found.json["models"][1]["by_segment"]
    assert [one["segment"] for one in second] == ["1", "2", "3"]
    y, score, _ = scored(frame, model)
    by = frame["times"].iloc[300:].astype(str).to_numpy()
    region = tuple(found.json["fpr_range"])
    table = compare_scores("partial_auc", y, score, score, by=by, fpr_range=region, random_state=0)
    assert [one["n_positives"] for one in second] == [one.n_positives for one in table]
    assert all(one["difference"] == 0 for one in second)
    shown = run("compare", model, model, files / "test.csv", "--by", "times").out
    assert "difference [95 % jointly]" in shown


def test_a_page_has_the_segments(run, files, model, tmp_path):
    page = tmp_path / "page.html"
    found = run("report", model, files / "test.csv", "--by", "city", "--out", page)
    assert found.code == 0, found.err
    text = page.read_text(encoding="utf-8")
    assert "By segment" in text
    assert "Precision and gains" in text
