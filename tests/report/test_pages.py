"""The report's numbers and text, without a browser."""

import json
import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from aucuba import FixedFPRClassifier, PartialAUCClassifier, PartialAUCClassifierCV, PartialAUCSVC
from aucuba.changepoint import Label, SupervisedChangepointDetector
from aucuba.linear import AUMClassifier
from aucuba.metrics import partial_auc_score
from aucuba.report import (
    Page,
    ScoredSample,
    Section,
    changepoint_report,
    classifier_report,
    ranking_report,
    write_page,
)
from aucuba.report._svg import Axes, ticks
from aucuba.structured import RankingGraph, StructuredRanker
from tests.report.helpers import body_of, random_scores, rng, small_table

HOSTILE = '</script><img src=x onerror="alert(1)">&'


def page_data(html):
    text = re.search(r'<script type="application/json" id="page-data">(.*?)</script>', html, re.S)[
        1
    ]
    return json.loads(text)


def test_embedded_curve_is_the_roc_curve():
    y, score, _ = random_scores()
    html = classifier_report(fitted("direct"), ScoredSample(y, score)).html()
    points = page_data(html)["roc"]["points"]
    assert (points["fpr"][0], points["tpr"][-1]) == (0.0, 1.0)
    for threshold, fpr, tpr in zip(
        points["threshold"][1:], points["fpr"][1:], points["tpr"][1:], strict=True
    ):
        flagged = score >= threshold
        assert fpr == pytest.approx(flagged[y == 0].mean())
        assert tpr == pytest.approx(flagged[y == 1].mean())


def test_a_large_sample_stays_small():
    n = 200_000
    y = (rng().random(n) < 0.3).astype(int)
    sample = ScoredSample(y, rng().normal(size=n) + y, rng().normal(size=n))
    from aucuba.report._roc import roc_section

    section = roc_section(sample, (0.0, 0.05), ("a", "b"))
    assert len(section.body) + len(json.dumps(section.data)) < 500_000
    points = section.data["points"]
    curve = sample.curve()
    lost = np.abs(np.interp(curve.fpr, points["fpr"], points["tpr"]) - curve.tpr).max()
    assert lost < 5e-3


def fitted(kind):
    X, y = make_classification(300, n_features=6, weights=[0.7], flip_y=0.1, random_state=0)
    models = {
        "direct": PartialAUCClassifier((0.0, 0.3)),
        "tight": PartialAUCSVC((0.0, 0.3), loss="tight"),
        "kernel": PartialAUCSVC((0.0, 0.3), loss="tight", kernel="rbf"),
        "dc": PartialAUCSVC((0.1, 0.3), loss="tight_dc"),
        "cv": PartialAUCClassifierCV((0.0, 0.3), cv=2, random_state=0),
        "aum": AUMClassifier(tol=0.01),
    }
    return models[kind].fit(X, y)


@pytest.mark.parametrize("kind", ["direct", "tight", "kernel", "dc", "cv", "aum"])
def test_every_classifier_has_a_page(kind, tmp_path):
    X, y = make_classification(300, n_features=6, weights=[0.7], flip_y=0.1, random_state=0)
    model = fitted(kind)
    weight = np.where(np.arange(300) < 5, 0.0, 1.0)
    sample = ScoredSample(
        y, model.decision_function(X), sample_weight=weight, qid=np.arange(300) // 100
    )
    page = classifier_report(model, sample, fpr_range=(0.0, 0.3), X=X)
    path = write_page(page, tmp_path / "page.html")
    html = path.read_text(encoding="utf-8")
    assert path.stat().st_size < 2_000_000
    assert "nan" not in re.sub(r"<script.*?</script>", "", html, flags=re.S).lower().split()
    assert "NaN" not in html
    for link in re.findall(r'href="#([\w-]+)"', html):
        assert f'id="{link}"' in html
    assert len(re.findall(r'id="([\w-]+)"', html)) == len(set(re.findall(r'id="([\w-]+)"', html)))
    assert not re.findall(r'(?:src|href)="(?!#|data:,)', html)
    assert ('id="linesearch"' in html) == (kind == "aum")
    assert ("certified gap</dt><dd>" in html) == (kind not in {"cv", "aum"})


def test_names_cannot_break_the_page():
    X, y = make_classification(300, n_features=6, weights=[0.7], flip_y=0.1, random_state=0)
    model = fitted("aum")
    page = classifier_report(
        model,
        ScoredSample(y, model.decision_function(X), model.decision_function(X)),
        X=X,
        feature_names=[HOSTILE] * 6,
        title=HOSTILE,
        labels=(HOSTILE, HOSTILE),
        baseline_name=HOSTILE,
    )
    html = page.html()
    assert "<img" not in html
    assert html.count("</script>") == 2
    page_data(html)


def test_data_cannot_end_its_script():
    html = Page("a", "b", [Section("part", "c", "", {"name": HOSTILE})]).html()
    assert html.count("</script>") == 2
    assert page_data(html) == {"part": {"name": HOSTILE}}


def test_wrong_number_of_names():
    y, score, _ = random_scores()
    with pytest.raises(ValueError, match="feature_names has 1 entries for 6 features"):
        classifier_report(fitted("direct"), ScoredSample(y, score), feature_names=["a"])


@pytest.mark.filterwarnings("ignore::aucuba._base._warnings.FewRowsWarning")
def test_explorer_without_a_direction_says_so():
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    y = np.array([0, 0, 1, 1])
    model = AUMClassifier().fit(X, y)
    html = classifier_report(model, ScoredSample(y, model.decision_function(X)), X=X).html()
    assert "no direction to search" in html


@pytest.mark.parametrize(
    ("low", "high"), [(0, 1), (-0.01, 1.01), (0, 0.05), (-3, 7e4), (1e-9, 3e-9)]
)
def test_ticks_are_round_and_inside(low, high):
    marks = ticks(low, high)
    assert 3 <= len(marks) <= 11
    assert low - 1e-12 <= marks[0] < marks[-1] <= high * (1 + 1e-12)
    steps = np.diff(marks)
    np.testing.assert_allclose(steps, steps[0])


def test_axes_geometry_is_the_mapping():
    axes = Axes((2.0, 4.0), (-1.0, 1.0))
    geometry = axes.geometry()
    assert geometry["x0"] + 3.0 * geometry["dx"] == pytest.approx(float(axes.column(3.0)))
    assert geometry["y0"] + 0.5 * geometry["dy"] == pytest.approx(float(axes.row(0.5)))
    assert axes.row(1.0) == geometry["top"]
    assert axes.column(4.0) == geometry["right"]


@pytest.fixture(scope="module")
def detector_with_data():
    draw = rng()
    signals, labels = {}, {}
    for k in range(16):
        size = 6.0 * (k % 2)
        name = f"signal {k}" if k else HOSTILE
        signals[name] = np.repeat([0.0, size, 0.0], 20) + draw.normal(size=60) * (1 + k / 4)
        labels[name] = [Label(10, 30, "one" if k % 2 else "none"), Label(45, 58, "none")]
    detector = SupervisedChangepointDetector(max_segments=8, cv=2, random_state=0)
    return detector.fit(signals, labels), signals, labels


def test_changepoint_page(detector_with_data):
    detector, signals, labels = detector_with_data
    page = changepoint_report(detector, signals, labels, n_signals=20)
    html = page.html()
    assert "<img" not in html
    wrong = round((1 - detector.score(signals, labels)) * 32)
    assert page.lead == f"{wrong} label errors on 16 signals."
    assert html.count('class="region') == 32
    assert html.count(' error"') == wrong
    assert html.count("changes allowed: correct</title>") == 32 - wrong
    changes = sum(found.size for found in detector.predict(signals))
    assert sum(map(int, re.findall(r"(\d+) changes, \d+ label errors", html))) == changes
    roc = detector.roc(signals, labels)
    assert f"<dd>{roc.auc:.4f}</dd>" in html


def test_changepoint_page_from_the_command_line(detector_with_data, tmp_path, capsys):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("typer")
    from aucuba.cli import main
    from aucuba.persistence import save_model

    detector, signals, labels = detector_with_data
    save_model(detector, tmp_path / "model")
    rows = [(name, value) for name, signal in signals.items() for value in signal]
    pd.DataFrame(rows, columns=["sequence", "value"]).to_csv(tmp_path / "s.csv", index=False)
    marks = [{"sequence": name, **vars(one)} for name, some in labels.items() for one in some]
    pd.DataFrame(marks).to_csv(tmp_path / "labels.csv", index=False)
    words = ["report", str(tmp_path / "model"), str(tmp_path / "s.csv")]
    words += ["--out", str(tmp_path / "page.html")]
    assert main(words) == 2
    assert "needs --labels" in capsys.readouterr().err
    assert main([*words, "--labels", str(tmp_path / "labels.csv")]) == 0
    lead = changepoint_report(detector, signals, labels).lead
    assert lead in (tmp_path / "page.html").read_text()


def test_ranking_page():
    draw = rng()
    labels = [np.arange(20) < 6] * 6 + [np.zeros(20, dtype=bool)]
    path = [[i, i + 1] for i in range(19)]
    graphs = [RankingGraph(y + draw.normal(size=20), path) for y in labels]
    ranker = StructuredRanker(C=10).fit(graphs[:6], labels[:6])
    page = ranking_report(ranker, graphs, labels, node_names=[HOSTILE], n_graphs=3)
    html = page.html()
    assert "<img" not in html
    assert f"Mean AUC {ranker.score(graphs[:6], labels[:6]):.4f} over 6 graphs." == page.lead
    assert html.count('<path class="edge"') == 3 * 19
    assert html.count('<circle class="node positive"') == 3 * 6
    aucs = [
        partial_auc_score(y, ranker.decision_function(g))
        for g, y in zip(graphs[:6], labels[:6], strict=True)
    ]
    dots = re.findall(r'<circle class="node (\w+)" r="[\d.]+" cx="([\d.]+)"', html)
    for place, index in enumerate(np.argsort(aucs)[:3]):
        drawn = sorted(dots[20 * place : 20 * place + 20], key=lambda dot: float(dot[1]))
        expected = labels[index][ranker.rank(graphs[index])]
        assert [kind == "positive" for kind, _ in drawn] == list(expected)
    with pytest.raises(ValueError, match="edge_names has 2 entries for 1 features"):
        ranking_report(ranker, graphs, labels, edge_names=["a", "b"])


def test_classes_are_named_after_the_labels():
    y, score, _ = random_scores()
    sample = ScoredSample(np.where(y, "well", "ill"), score, pos_label="well")
    assert "positive (well)" in classifier_report(fitted("direct"), sample).html()
    page = classifier_report(fitted("direct"), sample, labels=("no", "yes"))
    assert "positive (yes)" in page.html()


def test_explorer_takes_a_frame_and_says_which_rows_it_holds():
    pd = pytest.importorskip("pandas")
    X, y, names = small_table()
    model = fitted("aum")
    sample = ScoredSample(y, model.decision_function(X))
    frame = pd.DataFrame(X, columns=names)
    body = body_of(classifier_report(model, sample, X=frame), "linesearch")
    assert "All 300 rows" in body
    many = ScoredSample(np.tile(y, 4), np.tile(sample.score, 4))
    body = body_of(classifier_report(model, many, X=np.tile(X, (4, 1))), "linesearch")
    assert "1,000 of 1,200 rows, drawn at random within each class" in body
    heavy = ScoredSample(y, sample.score, sample_weight=np.arange(300) > 4)
    body = body_of(classifier_report(model, heavy, X=X), "linesearch")
    assert "The 295 rows of positive weight out of 300" in body


@pytest.mark.parametrize("kind", ["direct", "aum", "promised"])
def test_a_page_speaks_of_the_positive_class(kind):
    X, y, names = small_table()
    text = np.where(y, "fraud", "good")
    model = {
        "direct": PartialAUCClassifier((0.0, 0.2)),
        "aum": AUMClassifier(tol=1e-2),
        "promised": FixedFPRClassifier(LogisticRegression(), 0.2, cv=[np.split(np.arange(300), 2)]),
    }[kind]
    second = clone(model).fit(X, y)
    first = model.set_params(pos_label="fraud").fit(X, text)
    pages = [
        classifier_report(one, ScoredSample.from_models(one, X, labels), X=X, feature_names=names)
        for one, labels in ((first, text), (second, y))
    ]
    assert "positive (fraud)" in body_of(pages[0], "data")
    for key in ("operating-points", "coefficients"):
        assert body_of(pages[0], key) == body_of(pages[1], key)
    if kind == "aum":
        runs = [page.sections[-1].data["runs"] for page in pages]
        for mine, other in zip(*runs, strict=True):
            np.testing.assert_allclose(mine["prediction"], other["prediction"], atol=1e-12)


def test_a_sample_of_models_is_that_of_their_scores():
    X, y, _ = small_table()
    text = np.where(y, "fraud", "good")
    model = PartialAUCClassifier((0.0, 0.2), pos_label="fraud").fit(X, text)
    baseline = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, text)
    weight, qid = np.arange(300) % 3 + 1.0, np.repeat(np.arange(3), 100)
    sample = ScoredSample.from_models(model, X, text, baseline, sample_weight=weight, qid=qid)
    assert sample.labels == ("good", "fraud")
    np.testing.assert_array_equal(sample.rows.positive, y == 1)
    np.testing.assert_array_equal(sample.score, -model.decision_function(X))
    np.testing.assert_array_equal(sample.baseline, -baseline.decision_function(X))
    np.testing.assert_array_equal(sample.weight, weight)
    np.testing.assert_array_equal(sample.query, qid)
    # A pipeline whose last step knows its positive class, and a classifier that knows none.
    piped = make_pipeline(StandardScaler(), model).fit(X, text)
    assert ScoredSample.from_models(piped, X, text).labels == ("good", "fraud")
    assert ScoredSample.from_models(baseline, X, text).labels == ("fraud", "good")


def test_a_page_says_which_rate_predict_was_set_for():
    X, y, _ = small_table()
    model = fitted("direct")
    page = classifier_report(model, ScoredSample.from_models(model, X, y))
    body = body_of(page, "operating-points")
    assert f"set in training for a false positive rate of {model.predict_fpr_:.3g};" in body
    flagged = model.predict(X) == 1
    rates = dict(re.findall(r"(FPR|TPR) ([\d.]+)% \[", body))
    assert float(rates["FPR"]) / 100 == pytest.approx(flagged[y == 0].mean(), abs=1e-4)
    assert float(rates["TPR"]) / 100 == pytest.approx(flagged[y == 1].mean(), abs=1e-4)
    model.predict_fpr_ = float("nan")
    body = body_of(
        classifier_report(model, ScoredSample.from_models(model, X, y)), "operating-points"
    )
    assert "The threshold of predict is the score 0; on these rows" in body


def test_changepoint_page_without_a_curve():
    draw = rng()
    signals = [np.repeat([0.0, 6.0], 20) + draw.normal(size=40) for _ in range(12)]
    labels = [[Label(10, 30, "at_least_one")]] * 12
    detector = SupervisedChangepointDetector(max_segments=4, cv=2, random_state=0)
    page = changepoint_report(detector.fit(signals, labels), signals, labels)
    assert "No penalty makes a false positive" in body_of(page, "roc-curve")
    assert "AUC" not in body_of(page, "labels")
    assert body_of(page, "signals").count("<figure>") == 12


def test_ranks_begin_at_one():
    labels = [np.arange(20) < 6] * 4
    graphs = [RankingGraph(y + rng().normal(size=20)) for y in labels]
    ranker = StructuredRanker(C=10).fit(graphs, labels)
    body = body_of(ranking_report(ranker, graphs, labels, n_graphs=1), "rankings")
    marks = re.findall(r'class="tick mid">(\d+)<', body)
    assert marks == ["1", "4", "8", "12", "16", "20"]
    best = min(
        float(x) for x in re.findall(r'<circle class="node \w+" r="[\d.]+" cx="([\d.]+)"', body)
    )
    tick = float(re.search(r'<text x="([\d.]+)" y="[\d.]+" class="tick mid">1<', body)[1])
    assert best == pytest.approx(tick, abs=0.1)
