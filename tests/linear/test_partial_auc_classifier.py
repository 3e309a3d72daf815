import logging
import pickle

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import (
    GridSearchCV,
    TunedThresholdClassifierCV,
    cross_val_score,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import aucuba.linear._kernel
import aucuba.linear._partial_auc
from aucuba import PartialAUCClassifier
from aucuba._base._callbacks import LOG
from aucuba._roc._threshold import threshold_for
from aucuba.metrics import make_metric_scorer, partial_auc_score
from aucuba.risks import HingeDifference, Sample
from aucuba.solvers import Status
from reproductions.data.imbalanced import load_adbench
from tests.linear.data import SURROGATES, X, Y
from tests.listeners import StopAfter


@pytest.mark.parametrize("surrogate", SURROGATES)
@pytest.mark.parametrize("fpr_range", [(0.0, 0.1), (0.0, 1.0), (0.1, 0.3)])
def test_all_kinds_of_tables_give_the_same_model(surrogate, fpr_range):
    model = PartialAUCClassifier(fpr_range, surrogate=surrogate, tol=1e-5)
    dense = model.fit(X, Y).coef_
    for table in (sparse.csr_array(X), sparse.csr_matrix(X), np.asfortranarray(X)):
        np.testing.assert_allclose(clone(model).fit(table, Y).coef_, dense, atol=2e-2)
    single = clone(model).fit(X.astype(np.float32), Y)
    score, single_score = model.decision_function(X), single.decision_function(X.astype(np.float32))
    assert np.corrcoef(score, single_score)[0, 1] > 0.999
    order = np.random.default_rng(0).permutation(600)
    np.testing.assert_allclose(clone(model).fit(X[order], Y[order]).coef_, dense, atol=1e-4)


@pytest.mark.parametrize("surrogate", ["tight", "structural"])
def test_certificate_and_solvers_agree(surrogate):
    bundle = PartialAUCClassifier((0.05, 0.3), surrogate=surrogate, C=5.0, tol=1e-4).fit(X, Y)
    plain = clone(bundle).set_params(solver="cutting_plane").fit(X, Y)
    for model in (bundle, plain):
        assert model.gap_ <= 1e-4
        assert model.lower_bound_ <= model.objective_
        assert model.gap_ == pytest.approx((model.objective_ - model.lower_bound_) / 5.0)
        assert model.status_ == str(Status.CONVERGED)
        assert len(model.history_) == model.n_iter_
    assert bundle.objective_ == pytest.approx(plain.objective_, abs=5e-4)
    assert bundle.n_iter_ < plain.n_iter_


def test_direct_has_no_certificate_and_improves_on_its_anchor():
    model = PartialAUCClassifier((0.0, 0.2)).fit(X, Y)
    assert np.isnan(model.lower_bound_)
    assert np.isnan(model.gap_)
    direct = partial_auc_score(Y, X @ model.coef_[0], fpr_range=(0, 0.2))
    anchor = partial_auc_score(Y, X @ model.anchor_coef_[0], fpr_range=(0, 0.2))
    assert direct > anchor
    assert (X @ model.coef_[0]).std() == pytest.approx(1.0)


@pytest.mark.parametrize("surrogate", SURROGATES)
@pytest.mark.parametrize("upper", [0.05, 0.1, 0.333])
def test_training_fpr_is_the_upper_limit(surrogate, upper):
    model = PartialAUCClassifier((0.0, upper), surrogate=surrogate).fit(X, Y)
    flagged = model.predict(X) == 1
    n = (Y == 0).sum()
    assert flagged[Y == 0].sum() == np.floor(upper * n + 1e-9)
    np.testing.assert_array_equal(flagged, model.decision_function(X) > 0)


@pytest.mark.parametrize("each", [0.1, 0.3, 0.7])
def test_rounding_of_many_weights_does_not_move_the_threshold(each):
    n = 100_000
    scores, positive = np.tile(np.arange(float(n)), 2), np.repeat([False, True], n)
    for upper in (0.1, 0.3, 0.7):
        threshold = threshold_for(scores, Sample(positive, np.full(2 * n, each)), upper)
        assert np.mean(scores[~positive] > threshold) == upper


def test_full_range_predicts_at_the_best_balanced_accuracy():
    model = PartialAUCClassifier((0.0, 1.0), surrogate="structural").fit(X, Y)
    score = model.decision_function(X)
    best = max(
        (np.mean(score[Y == 1] > t) + np.mean(score[Y == 0] <= t)) / 2 for t in np.append(score, -9)
    )
    got = (np.mean(score[Y == 1] > 0) + np.mean(score[Y == 0] <= 0)) / 2
    assert got == pytest.approx(best)


@pytest.mark.parametrize("surrogate", ["tight", "structural"])
def test_zero_as_good_is_a_warning_with_a_remedy(surrogate):
    rng = np.random.default_rng(1)
    table = rng.normal(size=(400, 2))
    y = np.arange(400) < 30
    table[y] *= 0.05
    model = PartialAUCClassifier((0, 0.1), surrogate=surrogate)
    with pytest.warns(ConvergenceWarning, match="tol=0.001.*Use surrogate='direct', widen"):
        model.fit(table, y)
    assert model.coef_.any()
    assert model.lower_bound_ >= 1 - 1e-3
    assert 0 <= model.gap_ <= 1e-3
    assert "zero is as good" in model.status_
    assert "zero is as good" in model.summary()


def test_too_few_iterations_are_reported():
    model = PartialAUCClassifier((0.02, 0.05), surrogate="structural", C=1e3, max_iter=2)
    with pytest.warns(
        ConvergenceWarning, match="after 2 iterations with a gap of .* Raise max_iter"
    ):
        model.fit(X, Y)


def test_difference_program_lowers_the_hinge_on_the_range():
    limits, C = (0.1, 0.3), 3.0
    risk = HingeDifference(Sample(Y == 1), limits)

    def objective(w):
        return w @ w / 2 + C * risk.value_and_gradient(X @ w)[0]

    bound = PartialAUCClassifier(limits, surrogate="tight", C=C, tol=1e-5).fit(X, Y)
    dc = PartialAUCClassifier(limits, surrogate="tight", C=C, tol=1e-5, tight_form="dc").fit(X, Y)
    assert dc.objective_ == pytest.approx(objective(dc.coef_[0]))
    assert dc.objective_ <= objective(bound.coef_[0]) + 1e-6
    assert np.isnan(dc.gap_)
    # Several convex programs, one history.
    assert [row["iteration"] for row in dc.history_] == list(range(1, dc.n_iter_ + 1))
    for count in ("n_evaluations", "seconds"):
        assert np.all(np.diff([row[count] for row in dc.history_]) >= 0)


def test_weighted_rates_and_two_way_regions():
    falling = PartialAUCClassifier(
        (0.0, 1.0), fpr_weight=lambda rate: np.exp(-20 * rate), surrogate="tight"
    )
    assert falling.fit(X, Y).gap_ < 1e-3
    # A gap of tol leaves coefficients free by about its root, so the comparison needs a small one.
    tight = {"surrogate": "tight", "tol": 1e-6}
    same = PartialAUCClassifier((0.0, 1.0), fpr_weight=lambda rate: 1.0 * (rate <= 0.2), **tight)
    ranged = PartialAUCClassifier((0.0, 0.2), **tight)
    np.testing.assert_allclose(same.fit(X, Y).coef_, ranged.fit(X, Y).coef_, atol=5e-3)
    for surrogate in ("tight", "direct"):
        two_way = PartialAUCClassifier((0.0, 0.3), min_tpr=0.5, surrogate=surrogate).fit(X, Y)
        assert two_way.coef_.any()
        assert "true positive rates from 0.5" in two_way.summary()


def queries(rng, n_queries=30, size=20):
    qid = np.repeat(np.arange(n_queries), size)
    shift = rng.normal(size=n_queries)[qid] * 5
    y = np.tile(np.arange(size) < 5, n_queries)
    table = rng.normal(size=(qid.size, 3))
    table[:, 0] += y
    table[:, 1] += shift
    return table, y, qid


@pytest.mark.parametrize("surrogate", SURROGATES)
def test_queries_are_ranked_within(surrogate):
    table, y, qid = queries(np.random.default_rng(2))
    model = PartialAUCClassifier((0.0, 0.5), surrogate=surrogate).fit(table, y, qid=qid)
    inside = partial_auc_score(y, model.decision_function(table), qid=qid)
    assert inside > 0.7
    with sklearn.config_context(enable_metadata_routing=True):
        pipe = make_pipeline(StandardScaler(), clone(model).set_fit_request(qid=True))
        routed = pipe.fit(table, y, qid=qid)
        assert partial_auc_score(y, routed.decision_function(table), qid=qid) > 0.7


def test_queries_with_one_class_are_counted():
    table, y, qid = queries(np.random.default_rng(3))
    y[qid < 2] = False
    with pytest.warns(UserWarning, match="2 of 30 queries have only one class"):
        PartialAUCClassifier((0.0, 0.5), surrogate="tight").fit(table, y, qid=qid)
    with pytest.raises(ValueError, match="None of the 600 queries"):
        PartialAUCClassifier((0.0, 0.5)).fit(table, y, qid=np.arange(600))


MOONS = make_moons(300, noise=0.25, random_state=0)


@pytest.mark.parametrize("surrogate", SURROGATES)
@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_kernels_learn_what_a_line_cannot(surrogate, kernel):
    table, y = MOONS
    line = PartialAUCClassifier((0.0, 0.2)).fit(table, y).decision_function(table)
    model = PartialAUCClassifier(
        (0.0, 0.2), surrogate=surrogate, kernel=kernel, C=100.0, random_state=0
    ).fit(table, y)
    curve = model.decision_function(table)
    assert partial_auc_score(y, curve, fpr_range=(0, 0.2)) > 0.03 + partial_auc_score(
        y, line, fpr_range=(0, 0.2)
    )
    if surrogate != "direct":
        assert model.gap_ <= 1e-3
        assert "kernel model" in model.summary()


@pytest.mark.parametrize("surrogate", ["tight", "direct"])
def test_precomputed_kernel_is_the_kernel(surrogate):
    table, y = MOONS
    weight = np.ones(300)
    weight[::7] = 0
    gamma = 0.5
    own = PartialAUCClassifier(
        (0.0, 0.2),
        surrogate=surrogate,
        kernel="rbf",
        gamma=gamma,
        n_components=30,
        random_state=0,
    ).fit(table, y, sample_weight=weight)
    given = PartialAUCClassifier(
        (0.0, 0.2), surrogate=surrogate, kernel="precomputed", n_components=30, random_state=0
    ).fit(rbf_kernel(table, gamma=gamma), y, sample_weight=weight)
    new = np.random.default_rng(0).normal(size=(20, 2))
    one = own.decision_function(new)
    two = given.decision_function(rbf_kernel(new, table, gamma=gamma))
    if surrogate == "tight":
        np.testing.assert_allclose(one, two, atol=1e-6)
    else:
        # The two feature maps choose their rows apart.
        assert np.corrcoef(one, two)[0, 1] > 0.95
    with pytest.raises(ValueError, match="must be square"):
        clone(given).fit(rbf_kernel(table, table[:5]), y)


def test_linear_kernel_matrix_equals_the_linear_model():
    model = PartialAUCClassifier((0.0, 0.3), surrogate="tight", tol=1e-6).fit(X, Y)
    dual = PartialAUCClassifier((0.0, 0.3), surrogate="tight", kernel="precomputed", tol=1e-6).fit(
        X @ X.T, Y
    )
    assert dual.objective_ == pytest.approx(model.objective_, abs=1e-5)


def test_large_kernels_switch_to_features_and_say_so(monkeypatch):
    monkeypatch.setattr(aucuba.linear._partial_auc, "MAX_KERNEL_ROWS", 200)
    table, y = MOONS
    model = PartialAUCClassifier(
        (0.0, 0.2), surrogate="tight", kernel="rbf", n_components=50, random_state=0
    )
    with pytest.warns(UserWarning, match="using 50 Nystroem features instead"):
        model.fit(table, y)
    assert model.feature_map_.n_components == 50
    assert model.decision_function(table[:3]).shape == (3,)


def test_few_rows_fall_back_with_a_warning():
    with pytest.warns(UserWarning, match="logistic regression is returned: the data have 5 pos"):
        model = PartialAUCClassifier().fit(X[:30], np.arange(30) < 5)
    assert model.status_.startswith("Logistic regression kept")
    with pytest.warns(
        UserWarning, match=r"covers only 4.* training on \[0, 0.02.*\], which covers 10"
    ):
        PartialAUCClassifier((0, 0.01)).fit(X, Y)


def test_badly_scaled_columns_are_a_warning():
    with pytest.warns(UserWarning, match="Put a StandardScaler before"):
        PartialAUCClassifier().fit(X * np.logspace(0, 6, 8), Y)


BAD = [
    (
        {"surrogate": "hinge"},
        "surrogate must be one of 'direct', 'tight', 'structural', got 'hinge'",
    ),
    ({"kernel": "sigmoid"}, "kernel must be one of"),
    ({"solver": "newton"}, "solver must be one of"),
    ({"tight_form": "x"}, "tight_form must be one of"),
    ({"C": 0}, "C must be a number above 0, got 0"),
    ({"C": np.nan}, "C must be a number above 0"),
    ({"tol": -1}, "tol must be a number above 0"),
    ({"rtol": 0}, "rtol must be a number above 0"),
    ({"max_iter": 0}, "max_iter must be a whole number above 0"),
    ({"fpr_range": (0.5, 0.1)}, "lower limit below"),
    ({"fpr_range": (0.5, 2)}, r"fpr_range\[1\] must lie"),
    ({"min_tpr": 1.0}, "min_tpr must lie"),
    ({"fpr_weight": 3}, "fpr_weight must be None, a function"),
    ({"fpr_weight": lambda u: 0 * u}, "not all zero"),
    ({"fpr_weight": lambda u: u - 0.5}, "non-negative"),
    ({"surrogate": "structural", "min_tpr": 0.5}, "has no two-way form"),
    ({"surrogate": "tight", "tight_form": "dc"}, "for ranges that start above 0"),
    ({"surrogate": "tight", "kernel": "rbf", "gamma": -1}, "gamma must be a number above 0"),
    ({"surrogate": "tight", "kernel": "rbf", "gamma": "auto"}, "gamma must be one of 'scale'"),
    ({"kernel": "rbf", "n_components": 0}, "n_components must be"),
]


@pytest.mark.parametrize(("params", "message"), BAD)
def test_bad_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        PartialAUCClassifier(**params).fit(X, Y)


def test_bad_data():
    model = PartialAUCClassifier()
    with pytest.raises(ValueError, match="only one class"):
        model.fit(X, np.ones(600))
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        model.fit(X, np.arange(600) % 3)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(X > 2, np.nan, X), Y)
    with pytest.raises(ValueError, match="qid has 3 entries for 600 rows"):
        model.fit(X, Y, qid=[1, 2, 3])
    with pytest.raises(ValueError, match=r"only one class .* among the rows of positive weight"):
        model.fit(X, Y, sample_weight=Y)


def test_an_interrupt_keeps_the_model_and_is_raised(monkeypatch):
    model = PartialAUCClassifier((0.0, 0.1), surrogate="structural", C=100.0, tol=1e-9, verbose=1)

    def interrupt(*args):
        if args[2] == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(LOG, "info", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert model.status_ == str(Status.INTERRUPTED)
    assert model.n_iter_ == 3
    assert partial_auc_score(Y, model.decision_function(X), fpr_range=(0, 0.1)) > 0.2


def test_verbose_logs_every_iteration(caplog):
    with caplog.at_level(logging.INFO, logger="aucuba"):
        model = PartialAUCClassifier(surrogate="tight", verbose=1).fit(X, Y)
    assert len(caplog.records) == model.n_iter_
    assert "gap" in caplog.records[-1].getMessage()


def test_warm_start_begins_at_the_present_model():
    model = PartialAUCClassifier(
        (0, 0.2), surrogate="structural", C=100.0, warm_start=True, tol=1e-4
    )
    cold = model.fit(X, Y).n_iter_
    again = model.fit(X, Y).n_iter_
    assert again < cold


@pytest.mark.parametrize("surrogate", SURROGATES)
def test_it_works_with_the_rest_of_scikit_learn(surrogate):
    model = PartialAUCClassifier((0.0, 0.2), surrogate=surrogate)
    names = np.where(Y == 1, "ill", "healthy")
    pipe = make_pipeline(StandardScaler(), model)
    scorer = make_metric_scorer("partial_auc", fpr_range=(0.0, 0.2))
    assert cross_val_score(pipe, X, names, scoring=scorer, cv=3).mean() > 0.2
    search = GridSearchCV(model, {"C": [0.1, 1.0]}, scoring=scorer, cv=3).fit(X, names)
    assert search.best_params_["C"] in (0.1, 1.0)
    proba = CalibratedClassifierCV(model, cv=3).fit(X, names).predict_proba(X)
    assert proba.shape == (600, 2)
    assert set(TunedThresholdClassifierCV(model, cv=3).fit(X, names).predict(X)) <= {
        "ill",
        "healthy",
    }


@pytest.mark.parametrize(
    "params", [{}, {"surrogate": "tight", "kernel": "rbf"}, {"kernel": "poly"}]
)
def test_pickle_and_skops(params, tmp_path):
    import skops.io

    model = PartialAUCClassifier(random_state=0, **params).fit(X, Y)
    back = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(back.decision_function(X), model.decision_function(X))
    skops.io.dump(model, tmp_path / "model.skops")
    trusted = skops.io.get_untrusted_types(file=tmp_path / "model.skops")
    assert all(name.startswith(("aucuba.", "sklearn.")) for name in trusted)
    back = skops.io.load(tmp_path / "model.skops", trusted=trusted)
    np.testing.assert_array_equal(back.decision_function(X), model.decision_function(X))


def test_pandas_in_and_names_checked():
    import pandas as pd

    frame = pd.DataFrame(X, columns=[f"f{k}" for k in range(8)])
    model = PartialAUCClassifier().fit(frame, Y)
    np.testing.assert_array_equal(model.feature_names_in_, frame.columns)
    np.testing.assert_allclose(
        model.decision_function(frame),
        PartialAUCClassifier().fit(X, Y).decision_function(X),
        atol=1e-9,
    )


def test_results_do_not_depend_on_blas_threads():
    from threadpoolctl import threadpool_limits

    rng = np.random.default_rng(4)
    table = rng.normal(size=(3000, 40))
    y = table[:, 0] + 0.5 * rng.normal(size=3000) > 1.5
    models = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            models.append(
                [
                    PartialAUCClassifier((0, 0.1), surrogate=s).fit(table, y).coef_
                    for s in SURROGATES
                ]
            )
    for one, two in zip(*models, strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.skipif(
    not aucuba._base._callbacks.HAS_CALLBACKS, reason="sklearn.callback came with scikit-learn 1.9"
)
def test_callbacks_see_every_iteration_and_can_stop():
    stopper = StopAfter(2)
    model = PartialAUCClassifier((0, 0.1), surrogate="structural", C=100.0, tol=1e-9)
    model.set_callbacks(stopper)
    model.fit(X, Y)
    assert stopper.heard.count("end iteration") == model.n_iter_ == 2
    assert model.status_ == str(Status.STOPPED_BY_CALLBACK)


def test_direct_training_never_falls_below_logistic_regression(data_dir):
    # Here the plain ramp is lowered by ties: its partial AUC falls from .040 to .018.
    table, y = load_adbench("yeast")
    table, _, y, _ = train_test_split(table, y, test_size=0.5, stratify=y, random_state=0)
    table = StandardScaler().fit_transform(table)
    model = PartialAUCClassifier((0.0, 0.05)).fit(table, y)
    reached, anchor = (
        partial_auc_score(y, table @ coef[0], fpr_range=(0.0, 0.05))
        for coef in (model.coef_, model.anchor_coef_)
    )
    assert anchor < 0.05
    assert reached > 2 * anchor
    # Two descents, one history, which follows the partial AUC.
    assert [row["iteration"] for row in model.history_] == list(range(1, model.n_iter_ + 1))
    assert any(row["merit"] == pytest.approx(reached) for row in model.history_)


def test_memory_order_does_not_change_a_kernel_model(data_dir):
    table, y = load_adbench("annthyroid")
    table = StandardScaler().fit_transform(table)
    scores = [
        PartialAUCClassifier((0, 0.05), kernel="rbf", random_state=0)
        .fit(np.asarray(table, order=order), y)
        .decision_function(table)
        for order in "CF"
    ]
    np.testing.assert_allclose(*scores, rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", ["annthyroid", "Wilt"])
def test_direct_kernel_fits_end_before_their_limit(data_dir, name):
    table, y = load_adbench(name)
    table = StandardScaler().fit_transform(table)
    model = PartialAUCClassifier((0, 0.05), kernel="rbf", random_state=0).fit(table, y)
    assert model.status_.startswith("Converged")
    assert model.n_iter_ < 100
    assert partial_auc_score(y, model.decision_function(table)) > 0.8
