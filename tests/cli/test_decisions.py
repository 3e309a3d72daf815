"""``aucuba fit --max-fdr`` and ``--triage``: decisions that no single threshold makes."""

import numpy as np
import pandas as pd
import pytest

from aucuba.persistence import load_model
from aucuba.threshold import FalseDiscoverySelector, TriageClassifier


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Rows to learn from, and a batch with fewer positives; scores of ``kind`` rows are plain."""
    folder, rng = tmp_path_factory.mktemp("decisions"), np.random.default_rng(0)
    for name, n, prevalence in (("train", 2_000, 0.2), ("new", 500, 0.06)):
        y = rng.random(n) < prevalence
        frame = pd.DataFrame(rng.normal(size=(n, 2)) + 2.2 * y[:, None], columns=["a", "b"])
        frame.assign(
            row=np.arange(n), day=np.arange(n) // 100, y=np.where(y, "bad", "good")
        ).to_csv(folder / f"{name}.csv", index=False)
    return folder


@pytest.fixture
def fit(run, folder):
    def fitted(*options):
        out = folder / "m.aucuba"
        words = ["fit", folder / "train.csv", "--positive", "bad", "--drop", "row,day", "--cv", "0"]
        found = run(*words, "--no-probe", "--json", "--out", out, *options)
        assert found.code == 0, found.err
        return out, load_model(out), found.json

    return fitted


@pytest.mark.parametrize("confidence", [None, 0.8])
def test_predict_selects_the_file_as_one_batch(run, fit, folder, monkeypatch, confidence):
    given = [] if confidence is None else ["--confidence", confidence]
    out, saved, facts = fit("--max-fdr", 0.2, *given)
    selector = saved.model[-1]
    assert type(selector) is FalseDiscoverySelector
    assert (selector.max_fdr, selector.confidence) == (0.2, confidence)
    assert facts["fit"]["promise"] == selector.promise_
    # Small pieces: the selection is of all of them together.
    monkeypatch.setattr("aucuba.cli._formats.CHUNK_ROWS", 64)
    words = ["predict", out, folder / "new.csv", "--json"]
    found = run(*words, "--id", "row", "--out", folder / "scores.csv")
    assert found.code == 0, found.err
    written, new = pd.read_csv(folder / "scores.csv"), pd.read_csv(folder / "new.csv")
    mask, p = selector.select(saved.model[:-1].transform(new[["a", "b"]]))
    assert list(written) == ["row", "score", "p_value", "predicted"]
    np.testing.assert_array_equal(written["predicted"] == "bad", mask)
    np.testing.assert_allclose(written["p_value"], p)
    assert 5 < mask.sum() < 60
    assert found.json["predicted_positive"] == mask.sum()
    run(*words, "--out", folder / "top.csv", "--top", 7)
    assert pd.read_csv(folder / "top.csv")["score"].tolist() == sorted(written["score"])[:-8:-1]


def test_evaluate_and_info_know_that_a_selector_has_no_threshold(run, fit, folder):
    out, saved, _ = fit("--max-fdr", 0.2)
    new = pd.read_csv(folder / "new.csv")
    mask = saved.model[-1].select(saved.model[:-1].transform(new[["a", "b"]])).mask
    own = run("evaluate", out, folder / "new.csv", "--json").json["own_threshold"]
    assert own["threshold"] is None
    assert own["n_flagged"] == mask.sum()
    assert own["precision"]["value"] == pytest.approx((new["y"] == "bad")[mask].mean())
    assert "selected as one batch" in run("evaluate", out, folder / "new.csv").out
    assert "FalseDiscoverySelector" in run("info", out).out
    page = folder / "page.html"
    assert run("report", out, folder / "new.csv", "--out", page).code == 0
    assert "selected from these rows as one batch" in page.read_text(encoding="utf-8")


def test_predict_writes_what_to_do(run, fit, folder):
    out, saved, facts = fit("--triage", "fpr=0.02,tpr=0.9", "--confidence", 0.9)
    triage = saved.model[-1]
    assert type(triage) is TriageClassifier
    assert (triage.max_fpr, triage.min_tpr, triage.confidence) == (0.02, 0.9, 0.9)
    assert facts["fit"]["review_share"] == triage.review_share_
    words = ["predict", out, folder / "new.csv", "--out", folder / "scores.csv"]
    found = run(*words, "--json")
    written, new = pd.read_csv(folder / "scores.csv"), pd.read_csv(folder / "new.csv")
    expected = triage.actions(saved.model[:-1].transform(new[["a", "b"]]))
    assert written["action"].tolist() == expected.tolist()
    assert found.json["actions"] == {one: int(np.sum(expected == one)) for one in set(expected)}
    assert ((written["predicted"] == "bad") == (expected == "block")).all()
    assert "review" in run(*words).out
    (limit,) = run("evaluate", out, folder / "new.csv", "--json").json["own_threshold"]["limits"]
    assert (limit["rate"], limit["limit"]) == ("fpr", 0.02)
    page = folder / "page.html"
    assert run("report", out, folder / "new.csv", "--out", page).code == 0
    assert "a person reviews those between" in page.read_text(encoding="utf-8")


def test_detectors_learn_what_is_normal(run, folder):
    """Known outliers train no detector."""
    train = pd.read_csv(folder / "train.csv").drop(columns=["row", "day"])
    words = ["--positive", "bad", "--model", "outliers", "--promise", "fpr=0.1", "--json"]
    models = []
    for shift in (0.0, 50.0):
        # Outliers lie elsewhere, in rows of either half.
        moved = train.assign(a=train["a"] + np.where(train["y"] == "bad", shift, 0.0))
        moved.to_csv(folder / "moved.csv", index=False)
        found = run("fit", folder / "moved.csv", *words, "--out", folder / "d.aucuba")
        assert found.code == 0, found.err
        models.append(load_model(folder / "d.aucuba").model)
    first, second = (model[-1] for model in models)
    assert type(first.estimator_).__name__ == "IsolationForest"
    # Columns are standardised, so that thresholds move and columns and sizes of nodes do not.
    for one, other in zip(first.estimator_.estimators_, second.estimator_.estimators_, strict=True):
        for name in ("feature", "n_node_samples"):
            assert np.array_equal(getattr(one.tree_, name), getattr(other.tree_, name))
    found = run("predict", folder / "d.aucuba", folder / "new.csv", "--out", folder / "s.csv")
    assert found.code == 0, found.err
    new = pd.read_csv(folder / "new.csv")
    flagged = pd.read_csv(folder / "s.csv")["predicted"] == "bad"
    np.testing.assert_array_equal(flagged, models[1].predict(new[["a", "b"]]) == 1)
    assert flagged[new["y"] == "good"].mean() < 0.15
    assert flagged[new["y"] == "bad"].mean() > 0.4


@pytest.fixture(scope="module")
def normal(folder):
    """Rows of one class, under its name, as 0 and without a column of labels."""
    train = pd.read_csv(folder / "train.csv").drop(columns=["row", "day"])
    rows = train[train["y"] == "good"]
    rows.to_csv(folder / "good.csv", index=False)
    rows.assign(y=0).to_csv(folder / "zero.csv", index=False)
    rows.drop(columns="y").to_csv(folder / "plain.csv", index=False)
    return folder


@pytest.mark.parametrize(
    ("file", "options", "negative", "positive"),
    [
        ("good.csv", ["--positive", "bad"], "good", "bad"),
        ("zero.csv", [], 0, 1),
        ("plain.csv", [], 0, 1),
    ],
)
def test_detectors_take_normal_rows_alone(run, normal, file, options, negative, positive):
    out, new = normal / "n.aucuba", pd.read_csv(normal / "new.csv")
    new.assign(y=np.where(new["y"] == "bad", positive, negative)).to_csv(
        normal / "labelled.csv", index=False
    )
    words = ["--model", "outliers", "--promise", "fpr=0.1", "--json", "--out", out]
    found = run("fit", normal / file, *options, *words)
    assert found.code == 0, found.err
    assert ("no row counts as an outlier" in found.err) == (file == "plain.csv")
    assert found.json["training"]["positives"] == 0
    model = load_model(out).model
    labelled = normal / "labelled.csv"
    words = ["predict", out, labelled, "--id", "y", "--reasons", 1, "--out", normal / "s.csv"]
    assert run(*words).code == 0
    written = pd.read_csv(normal / "s.csv")
    flagged = written["predicted"] == positive
    np.testing.assert_array_equal(flagged, model.predict(new[["a", "b"]]) == 1)
    assert set(written["predicted"]) == {negative, positive}
    assert written["reason_1"][flagged].str.contains("raises the score").all()
    found = run("evaluate", out, labelled, "--json").json
    rates = {one["rate"]: one for one in found["own_threshold"]["limits"]}
    assert set(rates) == {"fpr"}
    assert found["auc"]["value"] > 0.8
    # The rival has nothing to learn from.
    assert found["auc"]["against_logistic"]["values"][1] == 0.5
    assert run("info", out).code == 0
    assert run("report", out, labelled, "--out", normal / "page.html").code == 0
    found = run("monitor", normal / "s.csv", "--model", out, "--limit", 0.1, "--json")
    assert found.code == 0, found.err
    (batch,) = found.json["batches"]
    assert batch["n_against"] == np.sum(flagged & (written["y"] == negative))


def test_alert_budgets_and_selections_need_no_outliers(run, normal):
    for options in (["--promise", "alerts=0.1"], ["--max-fdr", "0.2"]):
        words = ["fit", normal / "plain.csv", "--model", "outliers", "--out", normal / "b.aucuba"]
        found = run(*words, *options)
        assert found.code == 0, found.err


@pytest.mark.parametrize(
    ("file", "options", "message"),
    [
        ("good.csv", [], "name the label that outliers will have with --pos-label"),
        ("good.csv", ["--positive", "good"], "has only outliers (good)"),
        ("plain.csv", ["--positive", "bad"], "--pos-label needs --target"),
        ("plain.csv", ["--target", "outcome"], "There is no column 'outcome' for --target"),
        ("plain.csv", ["--promise", "tpr=0.8"], "needs at least 14 held-out positives, got 0"),
    ],
)
def test_normal_rows_that_do_not_suffice(run, normal, file, options, message):
    words = ["--model", "outliers", "--out", normal / "x.aucuba"]
    words += [] if "--promise" in options else ["--promise", "fpr=0.1"]
    found = run("fit", normal / file, *words, *options)
    assert found.code == 2
    assert message in found.err


def test_triage_by_predictive_values(fit):
    triage = fit("--triage", "ppv=0.7, npv=0.95")[1].model[-1]
    assert (triage.min_ppv, triage.min_npv, triage.max_fpr) == (0.7, 0.95, None)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--max-fdr", 0.1, "--promise", "fpr=0.1"], "give only one"),
        (["--max-fdr", 1], "--max-fdr must lie in"),
        (["--max-fdr", 0.1, "--groups", "row"], "select whole groups from Python"),
        (["--max-fdr", 0.1, "--qid", "day"], "--max-fdr does not support --qid"),
        (["--max-fdr", 0.1, "--model", "changepoint"], "does not apply to --model changepoint"),
        (["--max-fdr", 0.0001], "Hold out more, or allow a larger --max-fdr"),
        (["--triage", "fpr=0.1,fpr=0.2"], "names fpr twice"),
        (["--triage", "precision=0.1"], "--triage must be one of 'fpr', 'tpr', 'ppv', 'npv'"),
        (["--triage", "fpr"], "such as fpr=0.01 for 1 %, got 'fpr'"),
        (["--model", "outliers"], "does not apply to --model outliers"),
        (["--confidence", 0.9], "is for --promise, --triage and --max-fdr"),
    ],
)
def test_one_error_names_the_remedy(run, folder, options, message):
    words = ["fit", folder / "train.csv", "--positive", "bad", "--cv", "0", "--no-probe"]
    found = run(*words, "--out", folder / "x.aucuba", *options)
    assert found.code == 2
    assert message in found.err
