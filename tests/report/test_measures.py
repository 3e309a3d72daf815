"""Samples and the numbers that a page shows of them."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from aucuba.metrics import compare_scores, score_interval, tpr_at_fpr_score
from aucuba.report import ScoredSample, classifier_report
from aucuba.report._roc import operating_point_section, roc_section, verdict_on
from aucuba.report._scored_sample import region_measures
from aucuba.report._statistics import precision_section
from aucuba.report._svg import Axes
from tests.report.helpers import random_scores, rng


def test_measures_are_the_library_s():
    y, score, base = random_scores()
    sample = ScoredSample(y, score, base)
    band, whole = region_measures(sample, (0.1, 0.3), random_state=5)
    options = {"fpr_range": (0.1, 0.3), "random_state": 5}
    assert band.interval == score_interval("partial_auc", y, score, **options)
    assert band.comparison == compare_scores("partial_auc", y, score, base, **options)
    assert whole.name == "AUC"


@pytest.mark.parametrize("fpr", [0.0, 0.003, 0.1, 0.5, 1.0])
def test_operating_point_by_counting(fpr):
    y, _, score = random_scores()
    sample = ScoredSample(y, score)
    at, low, high = sample.point_at_fpr(fpr)
    rates = [(score >= t)[y == 0].mean() for t in np.unique(score)]
    allowed = [t for t, rate in zip(np.unique(score), rates, strict=True) if rate <= fpr + 1e-12]
    assert at.threshold == (min(allowed) if allowed else np.inf)
    flagged = score >= at.threshold
    assert at.n_flagged == flagged.sum()
    assert at.fpr == pytest.approx(flagged[y == 0].mean())
    assert at.tpr == pytest.approx(flagged[y == 1].mean())
    assert at.tpr <= tpr_at_fpr_score(y, score, fpr=fpr) + 1e-12
    assert low <= at.tpr <= high


def test_weighted_operating_point_is_that_of_copies():
    y, score, _ = random_scores()
    weight = rng().integers(1, 4, y.size)
    heavy = ScoredSample(y, score, sample_weight=weight.astype(float))
    copies = ScoredSample(np.repeat(y, weight), np.repeat(score, weight))
    first, second = heavy.point_at_fpr(0.1)[0], copies.point_at_fpr(0.1)[0]
    assert (first.threshold, first.n_flagged) == (second.threshold, second.n_flagged)
    assert first.tpr == pytest.approx(second.tpr)


def test_small_rates_and_large_counts_keep_their_digits():
    y, score, _ = random_scores()
    sample = ScoredSample(y, score, sample_weight=np.full(y.size, 10_000.0))
    model = SimpleNamespace(predict_fpr_=0.0005)
    body = operating_point_section(model, sample, (0.0, 0.0005), promise=True).body
    assert re.findall(r'<th scope="row">(.*?)</th>', body)[:3] == ["0.05%", "0.1%", "1%"]
    flagged = (score >= sample.point_at_fpr(0.2)[0].threshold).sum()
    assert f"<td>{flagged}0,000</td>" in body
    gains = precision_section(sample, ("this", "that"), 0).body
    assert f"<td>{y.size * 10_000:,}</td>" in gains
    said = verdict_on(model, sample)
    assert re.search(r" \d+\.\d{4} % false alarms on these rows \[\d+\.\d{4}, \d+\.\d{4}\]", said)
    assert said.count("at most 0.05 %") == 1


def test_wilson_interval_inverts_the_score_test():
    y, score = np.repeat([0, 1], [50, 10]), np.arange(60.0)
    low, high = ScoredSample(y, score).rate_interval(0, np.array([0.2]))
    for edge in (low[0], high[0]):
        z = (0.2 - edge) / np.sqrt(edge * (1 - edge) / 50)
        assert abs(z) == pytest.approx(1.959963984540054)
    heavy = ScoredSample(y, score, sample_weight=np.full(60, 3.0))
    assert heavy.rate_interval(0, np.array([0.2]))[0] == pytest.approx(low)


@pytest.mark.parametrize("labels", [(-1, 1), (0.0, 1.0), (False, True), ("ill", "well")])
def test_sample_takes_any_two_labels(labels):
    y, score, base = random_scores()
    named = [labels[k] for k in y]
    sample = ScoredSample(
        named,
        list(score),
        list(base),
        sample_weight=list(np.ones(y.size)),
        qid=["a"] * y.size,
        pos_label=labels[1],
    )
    np.testing.assert_array_equal(sample.y, y)
    assert sample.labels == tuple(map(str, labels))
    assert sample.score.dtype == float
    curve, expected = sample.curve(), ScoredSample(y, score).curve()
    np.testing.assert_array_equal(curve.tpr, expected.tpr)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"y": [0, 1, 2, 1]}, "Only binary classification"),
        ({"y": [1, 1, 1, 1]}, "only one class"),
        ({"score": [0.1, np.nan, 0.2, 0.3]}, "score contains 1 NaN"),
        ({"score": ["a", "b", "c", "d"]}, "score must be numeric"),
        ({"score": [0.1, 0.2]}, "score has 2 entries for 4 rows"),
        ({"score": np.ones((4, 2))}, r"score must have one entry per row, got shape \(4, 2\)"),
        ({"baseline": [0.1, 0.2]}, "baseline has 2 entries for 4 rows"),
        ({"sample_weight": [1.0, 1.0]}, "sample_weight has 2 entries for 4 rows"),
        ({"sample_weight": [1.0, -1.0, 1.0, 1.0]}, "non-negative"),
        ({"qid": [1]}, "qid has 1 entries for 4 rows"),
    ],
)
def test_sample_says_what_is_wrong(changed, message):
    given = {"y": [0, 1, 0, 1], "score": [0.1, 0.2, 0.3, 0.4]}
    with pytest.raises(ValueError, match=message):
        ScoredSample(**{**given, **changed})


def test_the_verdict_can_be_read_aloud():
    y, score, base = random_scores()
    for labels, baseline, fpr_range in [
        (("honest", "fraud"), base, (0.0, 0.1)),
        (None, None, (0.1, 0.3)),
        (None, base, (0.0, 1.0)),
    ]:
        sample = ScoredSample(y, score, baseline)
        model = LogisticRegression().fit(score[:, None], y)
        page = classifier_report(model, sample, fpr_range=fpr_range, labels=labels)
        fpr = fpr_range[1] if fpr_range[1] < 1 else 0.5
        said = []
        for one in (score, baseline):
            if one is not None:
                at, low, high = sample.point_at_fpr(fpr, one)
                said.append((f"{100 * at.tpr:.0f} %", f"[{100 * low:.0f}, {100 * high:.0f}]"))
        whom = "the rows of class fraud" if labels else "the positives"
        want = f"At {100 * fpr:g} % false alarms it finds {said[0][0]} of {whom} {said[0][1]}"
        if baseline is not None:
            want += f"; logistic regression {' '.join(said[1])}"
        assert page.verdict == f"{want}."
        assert f'<p class="verdict">{page.verdict}</p>' in page.html()


def test_small_p_values_are_bounded():
    y = np.repeat([0, 1], 200)
    sample = ScoredSample(y, y + rng().normal(size=400), rng().normal(size=400))
    model = LogisticRegression().fit(sample.score[:, None], y)
    page = classifier_report(model, sample, fpr_range=(0.0, 0.5))
    body = next(part.body for part in page.sections if part.key == "region")
    assert "<td>&lt; 0.001</td>" in body


@pytest.mark.parametrize("values", [(0, 1), (-1234567.5, 1e6), (1e-7, 3e-7), (-0.00123, 0.002)])
def test_numbers_of_the_axis_stay_clear_of_its_title(values):
    axes = Axes((0, 1), values)
    drawn = axes.picture("x", "y", "", "test")
    # The title is 12 units from the edge and some 12 high; a digit is 7 units wide at most.
    numbers = re.findall(r'<text x="([\d.]+)" y="[\d.]+" class="tick end">(.*?)</text>', drawn)
    assert len(numbers) > 2
    assert all(float(end) - 6.5 * len(text) > 18 for end, text in numbers)
    assert axes.geometry()["left"] == axes.left == pytest.approx(axes.column(0))


def test_the_region_has_a_scale_of_its_own():
    y, score, base = random_scores()
    sample = ScoredSample(y, score, base)
    section = roc_section(sample, (0.0, 0.1), ("a", "b"))
    geometry = section.data["axes"]["region"]
    points = section.data["points"]
    inside = [k for k, fpr in enumerate(points["fpr"]) if fpr <= 0.1]
    rows = [geometry["y0"] + geometry["dy"] * points["tpr"][k] for k in inside]
    height = geometry["bottom"] - geometry["top"]
    # The curve of the model and its band take most of the height, and stay in the frame.
    assert max(rows) - min(rows) > 0.6 * height
    top = geometry["y0"] + geometry["dy"] * max(points["tpr_high"][k] for k in inside)
    assert geometry["top"] - 1 <= top
    assert section.body.count('class="band"') == 2
