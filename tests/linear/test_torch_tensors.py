"""Linear classifiers on torch tensors: the model of NumPy arrays, and clear errors."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from aucuba import PartialAUCClassifier, PartialAUCClassifierCV, PartialAUCSVC
from aucuba._roc._comparison import RegionComparison, region_placements
from aucuba._roc._curve import (
    counted_range_average,
    counted_range_influence,
    range_average,
    roc_curve,
)
from aucuba._roc._logistic import logistic_regression
from aucuba._roc._region import Region
from aucuba._rows._sample import RankingSample
from aucuba.design import TableDesign
from aucuba.linear import AUMClassifier
from aucuba.linear._logistic_fit import LogisticPath
from aucuba.metrics import partial_auc_score, tpr_at_fpr_score
from aucuba.risks import Sample
from tests.linear.data import make_model

rng = np.random.default_rng(0)
X = rng.normal(size=(600, 5))
Y = (X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=600) > 1.2).astype(int)
WEIGHT = rng.integers(0, 4, size=600).astype(float)


def test_top_of_the_ranking_gives_the_area_of_the_whole_curve():
    generator = np.random.default_rng(1)
    for _ in range(200):
        n = generator.integers(4, 60)
        positive = generator.random(n) < 0.4
        positive[:2] = [True, False]
        score = generator.integers(generator.integers(2, 30), size=n) * 1.0
        if generator.random() < 0.3:
            score = generator.permutation(n) * 1.0
        low = generator.choice([0.0, generator.uniform(0, 0.8)])
        high = generator.choice([1.0, generator.uniform(low + 0.01, 1.0)])
        want = float(range_average(roc_curve(RankingSample(positive, score=score)), low, high))
        assert counted_range_average(positive, score, low, high) == pytest.approx(want, abs=1e-12)


def test_influence_in_a_counted_range_is_that_of_placements():
    generator = np.random.default_rng(2)
    for _ in range(200):
        n = generator.integers(4, 60)
        positive = generator.random(n) < 0.4
        positive[:2] = [True, False]
        score = generator.integers(generator.integers(2, 30), size=n) * 1.0
        low = generator.choice([0.0, generator.uniform(0, 0.8)])
        high = generator.choice([1.0, generator.uniform(low + 0.01, 1.0)])
        want = region_placements(Sample(positive), score, Region.from_params((low, high)))
        got = counted_range_influence(positive, score, low, high)
        np.testing.assert_allclose(got, want.influence, atol=1e-9)


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("weight", [None, WEIGHT + 0.5])
def test_newton_on_a_design_is_scikit_learns_logistic_regression(C, weight):
    positive = Y == 1
    expected = logistic_regression(X, positive, weight, C)
    path = LogisticPath(TableDesign(X), Sample(positive, weight))
    for found in (path.fit(C), path._descent(1.0 / (C * path.total))):
        np.testing.assert_allclose(found.coef, expected.coef_[0], rtol=1e-3, atol=1e-4)
        assert found.intercept == pytest.approx(expected.intercept_[0], rel=1e-3)


def test_many_rows_start_with_the_second_derivative_of_all_rows(monkeypatch):
    generator, calls = np.random.default_rng(3), []
    table = generator.normal(size=(250_000, 3))
    positive = table[:, 0] + generator.normal(size=250_000) > 1.5
    design, sample, half = TableDesign(table), Sample(positive), np.arange(0, 250_000, 2)
    start = LogisticPath(design, sample).fit(1.0)
    part = design.take(half), sample.take(half)
    expected = LogisticPath(*part).fit(1.0)
    gram = TableDesign.gram
    monkeypatch.setattr(TableDesign, "gram", lambda *given: calls.append(1) or gram(*given))
    found = LogisticPath(*part, start).fit(1.0)
    assert not calls
    np.testing.assert_allclose(found.coef, expected.coef, atol=1e-9)
    few = part[0].take(half[:500]), part[1].take(half[:500])
    LogisticPath(*few, start).fit(1.0)
    assert calls


def test_the_loss_is_not_computed_again_where_the_next_fit_starts(monkeypatch):
    calls, scores = [], TableDesign.scores
    monkeypatch.setattr(TableDesign, "scores", lambda *given: calls.append(1) or scores(*given))
    path = LogisticPath(TableDesign(X), Sample(Y == 1))
    path.fit(1.0)
    calls.clear()
    again = path.fit(1.0)
    assert not calls
    fresh = LogisticPath(TableDesign(X), Sample(Y == 1), again).fit(10.0)
    np.testing.assert_allclose(path.fit(10.0).coef, fresh.coef, rtol=1e-8)


class TestTensors:
    @pytest.fixture(autouse=True)
    def _needs_torch(self):
        self.torch = pytest.importorskip("torch")

    @pytest.mark.parametrize("loss", ["structural", "tight", "ramp"])
    @pytest.mark.parametrize("fpr_range", [(0.0, 0.2), (0.05, 0.2), (0.0, 1.0)])
    @pytest.mark.parametrize("weight", [None, WEIGHT])
    def test_fit_equals_that_on_arrays(self, loss, fpr_range, weight):
        model = make_model(loss, fpr_range, tol=1e-6)
        table, labels = self.torch.tensor(X), self.torch.tensor(Y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            expected = clone(model).fit(X, Y, weight)
            model.fit(table, labels, None if weight is None else self.torch.tensor(weight))
        assert isinstance(model.coef_, np.ndarray)
        np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-6, atol=1e-8)
        assert model.threshold_ == pytest.approx(expected.threshold_, rel=1e-6)
        scores = model.decision_function(table)
        assert isinstance(scores, self.torch.Tensor)
        np.testing.assert_allclose(scores, expected.decision_function(X), atol=1e-6)
        np.testing.assert_array_equal(model.predict(table), expected.predict(X))

    @pytest.mark.parametrize("weight", [None, WEIGHT])
    def test_cross_validated_fit_equals_that_on_arrays(self, weight):
        model = PartialAUCClassifierCV((0.0, 0.2), Cs=3, random_state=0)
        expected = PartialAUCClassifierCV(**model.get_params()).fit(X, Y, weight)
        table = self.torch.tensor(X)
        model.fit(table, self.torch.tensor(Y), weight)
        np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-5, atol=1e-7)
        assert model.C_ == expected.C_
        assert model.blend_ == pytest.approx(expected.blend_, rel=1e-6)
        np.testing.assert_allclose(
            model.predict_proba(table), expected.predict_proba(X), rtol=1e-5, atol=1e-7
        )

    @pytest.mark.parametrize("fpr_range", [(0.0, 0.1), (0.05, 0.3), (0.0, 1.0)])
    def test_scores_are_compared_where_they_are(self, fpr_range):
        scores, sample = np.stack([X[:, 0], X[:, 1].round(1)]), Sample(Y == 1)
        region = Region.from_params(fpr_range)
        want = RegionComparison(sample, scores, region).lead(0, 1)
        there = Sample(self.torch.tensor(Y == 1))
        got = RegionComparison(there, self.torch.tensor(scores), region).lead(0, 1)
        assert got.difference == pytest.approx(want.difference, rel=1e-12)
        assert got.error == pytest.approx(want.error, rel=1e-12)

    @pytest.mark.parametrize("step", ["first_min", "validation_auc"])
    def test_aum_classifier_equals_that_on_arrays(self, step):
        fraction = 0.3 if step == "validation_auc" else None
        model = AUMClassifier(step, validation_fraction=fraction, random_state=0)
        expected = AUMClassifier(**model.get_params()).fit(X, Y)
        model.fit(self.torch.tensor(X), self.torch.tensor(Y))
        np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-6)

    def test_metrics_take_tensors(self):
        scores, labels = self.torch.tensor(X[:, 0]), self.torch.tensor(Y)
        for fpr_range in ((0.0, 0.1), (0.05, 0.2), (0.0, 1.0)):
            want = partial_auc_score(Y, X[:, 0], fpr_range=fpr_range)
            assert partial_auc_score(labels, scores, fpr_range=fpr_range) == pytest.approx(want)
            assert partial_auc_score(
                labels == 1, scores.float(), fpr_range=fpr_range
            ) == pytest.approx(want, abs=1e-5)
            mixed = partial_auc_score(Y, scores, fpr_range=fpr_range)
            assert mixed == pytest.approx(want, abs=1e-12)
        flipped = partial_auc_score(Y, -X[:, 0], pos_label=0)
        assert partial_auc_score(labels, -scores, pos_label=0) == pytest.approx(flipped)
        weighted = partial_auc_score(Y, X[:, 0], min_tpr=0.5, sample_weight=WEIGHT)
        assert partial_auc_score(
            labels, scores, min_tpr=0.5, sample_weight=self.torch.tensor(WEIGHT)
        ) == pytest.approx(weighted)
        assert tpr_at_fpr_score(labels, scores, fpr=0.1) == tpr_at_fpr_score(Y, X[:, 0], fpr=0.1)

    @pytest.mark.parametrize(
        ("labels", "scores", "words"),
        [
            ([0, 1], [0.0, np.nan], "must be finite"),
            ([0, 1, 1], [0.0, 1.0], "2 scores for 3 labels"),
            ([0, 1, 2], [0.0, 1.0, 2.0], "binary"),
            ([1, 1], [0.0, 1.0], "only one class"),
        ],
    )
    def test_metrics_refuse_bad_tensors(self, labels, scores, words):
        with pytest.raises(ValueError, match=words):
            partial_auc_score(self.torch.tensor(labels), self.torch.tensor(scores))
        with pytest.raises(ValueError, match="one device"):
            partial_auc_score(self.torch.tensor(labels, device="meta"), self.torch.tensor(scores))

    def test_queries_and_positive_class(self):
        qid = np.arange(600) % 3
        model = PartialAUCSVC((0.0, 0.3), loss="tight", pos_label=0)
        expected = clone(model).fit(X, Y, qid=qid)
        model.fit(self.torch.tensor(X), self.torch.tensor(Y), qid=self.torch.tensor(qid))
        np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-6)
        np.testing.assert_array_equal(model.classes_, expected.classes_)

    @pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
    def test_half_precision_scores_like_its_float32_copy(self, dtype):
        table = self.torch.tensor(X).to(getattr(self.torch, dtype))
        model = PartialAUCSVC((0.0, 0.2), loss="tight").fit(table, Y)
        copy = PartialAUCSVC((0.0, 0.2), loss="tight").fit(table.float(), Y)
        np.testing.assert_allclose(
            model.decision_function(table), copy.decision_function(table.float()), atol=1e-6
        )

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            (lambda t, a: (t.tensor(X).int(), a), "floating point"),
            (lambda t, a: (t.tensor(X)[0], a), "two dimensions"),
            (lambda t, a: (t.tensor(X).to_sparse_csr(), a), "layout"),
            (lambda t, a: (t.tensor(np.where(X > 2, np.nan, X)), a), "NaN or infinity"),
            (lambda t, a: (t.tensor(X), a[:5]), "y has 5 entries for 600 rows; give one"),
            (
                lambda t, a: (t.tensor(X), a.reshape(300, 2)),
                r"one entry per row, got .* \(300, 2\)",
            ),
            (lambda t, a: (t.tensor(X), a.astype(str)), "encode the labels"),
            (lambda t, a: (t.tensor(X), 0 * a), "only one class"),
            (lambda t, a: (t.tensor(X), np.arange(600) % 5), "binary classification"),
            (lambda t, a: (t.tensor(X), t.zeros(600, device="meta")), "one device"),
            (lambda t, a: (t.tensor(X).half() * 1e4, a), "NaN or infinity|overflow"),
        ],
    )
    @pytest.mark.filterwarnings("ignore:Sparse CSR")
    def test_bad_input_has_one_clear_error(self, change, words):
        table, labels = change(self.torch, Y)
        if words.startswith("NaN or infinity|"):
            table[0, 0] = np.inf
        with pytest.raises(ValueError, match=words):
            PartialAUCClassifier((0.0, 0.2)).fit(table, labels)

    def test_other_kernels_and_other_widths_are_refused(self):
        table, labels = self.torch.tensor(X), self.torch.tensor(Y)
        with pytest.raises(ValueError, match="kernel='rbf' takes arrays"):
            PartialAUCSVC((0.0, 0.2), kernel="rbf").fit(table, labels)
        model = PartialAUCSVC((0.0, 0.2), loss="tight").fit(table, labels)
        with pytest.raises(ValueError, match="expecting 5 features"):
            model.decision_function(table[:, :3])
