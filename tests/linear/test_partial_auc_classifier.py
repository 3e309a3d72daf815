import logging
import pickle

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_moons
from sklearn.decomposition import KernelPCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    TunedThresholdClassifierCV,
    cross_val_score,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import aucuba.linear._svc
from aucuba import PartialAUCClassifier, PartialAUCSVC
from aucuba._base._callbacks import LOG
from aucuba._base._warnings import FewRowsWarning
from aucuba._roc._threshold import threshold_for
from aucuba.metrics import make_metric_scorer, partial_auc_score
from aucuba.risks import HingeDifference, Sample
from aucuba.solvers import Status
from reproductions.data.imbalanced import load_adbench
from tests.linear.data import LOSSES, X, Y, make_model
from tests.listeners import StopAfter


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("fpr_range", [(0.0, 0.1), (0.0, 1.0), (0.1, 0.3)])
def test_all_kinds_of_tables_give_the_same_model(loss, fpr_range):
    model = make_model(loss, fpr_range, tol=1e-5)
    dense = model.fit(X, Y).coef_
    for table in (sparse.csr_array(X), sparse.csr_matrix(X), np.asfortranarray(X)):
        np.testing.assert_allclose(clone(model).fit(table, Y).coef_, dense, atol=2e-2)
    single = clone(model).fit(X.astype(np.float32), Y)
    score, single_score = model.decision_function(X), single.decision_function(X.astype(np.float32))
    assert np.corrcoef(score, single_score)[0, 1] > 0.999
    order = np.random.default_rng(0).permutation(600)
    np.testing.assert_allclose(clone(model).fit(X[order], Y[order]).coef_, dense, atol=1e-4)


@pytest.mark.parametrize("loss", ["tight", "structural"])
def test_certificate_and_solvers_agree(loss):
    bundle = make_model(loss, (0.05, 0.3), C=5.0, tol=1e-4).fit(X, Y)
    plain = clone(bundle).set_params(solver="cutting_plane").fit(X, Y)
    for model in (bundle, plain):
        assert model.gap_ <= 1e-4
        assert model.lower_bound_ <= model.objective_
        assert model.gap_ == pytest.approx((model.objective_ - model.lower_bound_) / 5.0)
        assert model.status_ == str(Status.CONVERGED)
        assert len(model.history_) == model.n_iter_
    assert bundle.objective_ == pytest.approx(plain.objective_, abs=5e-4)
    assert bundle.n_iter_ < plain.n_iter_


def test_the_anchored_fit_has_no_certificate_and_improves_on_its_anchor():
    model = PartialAUCClassifier((0.0, 0.2)).fit(X, Y)
    assert not hasattr(model, "gap_")
    assert "there is no certificate" in model.summary()
    direct = partial_auc_score(Y, X @ model.coef_[0], fpr_range=(0, 0.2))
    anchor = partial_auc_score(Y, X @ model.anchor_coef_[0], fpr_range=(0, 0.2))
    assert direct > anchor
    assert (X @ model.coef_[0]).std() == pytest.approx(1.0)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("upper", [0.05, 0.1, 0.333])
def test_training_fpr_is_the_upper_limit(loss, upper):
    model = make_model(loss, (0.0, upper)).fit(X, Y)
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
    model = PartialAUCSVC((0.0, 1.0), loss="structural").fit(X, Y)
    score = model.decision_function(X)
    best = max(
        (np.mean(score[Y == 1] > t) + np.mean(score[Y == 0] <= t)) / 2 for t in np.append(score, -9)
    )
    got = (np.mean(score[Y == 1] > 0) + np.mean(score[Y == 0] <= 0)) / 2
    assert got == pytest.approx(best)


@pytest.mark.parametrize("loss", ["tight", "structural"])
def test_zero_as_good_is_a_warning_with_a_remedy(loss):
    rng = np.random.default_rng(1)
    table = rng.normal(size=(400, 2))
    y = np.arange(400) < 30
    table[y] *= 0.05
    model = make_model(loss, (0, 0.1))
    with pytest.warns(ConvergenceWarning, match="tol=0.001.*Use PartialAUCClassifier, widen"):
        model.fit(table, y)
    assert model.coef_.any()
    assert model.lower_bound_ >= 1 - 1e-3
    assert 0 <= model.gap_ <= 1e-3
    assert "zero is as good" in model.status_
    assert "zero is as good" in model.summary()


def test_too_few_iterations_are_reported():
    model = PartialAUCSVC((0.02, 0.05), loss="structural", C=1e3, max_iter=2)
    with pytest.warns(
        ConvergenceWarning, match="after 2 iterations with a gap of .* Raise max_iter"
    ):
        model.fit(X, Y)


def test_difference_program_lowers_the_hinge_on_the_range():
    limits, C = (0.1, 0.3), 3.0
    risk = HingeDifference(Sample(Y == 1), limits)

    def objective(w):
        return w @ w / 2 + C * risk.value_and_gradient(X @ w)[0]

    bound = PartialAUCSVC(limits, loss="tight", C=C, tol=1e-5).fit(X, Y)
    dc = PartialAUCSVC(limits, loss="tight_dc", C=C, tol=1e-5).fit(X, Y)
    assert dc.objective_ == pytest.approx(objective(dc.coef_[0]))
    assert dc.objective_ <= objective(bound.coef_[0]) + 1e-6
    assert not hasattr(dc, "gap_")
    assert "there is no certificate" in dc.summary()
    # Several convex programs, one history.
    assert [row["iteration"] for row in dc.history_] == list(range(1, dc.n_iter_ + 1))
    for count in ("n_evaluations", "seconds"):
        assert np.all(np.diff([row[count] for row in dc.history_]) >= 0)


def test_weighted_rates_and_two_way_regions():
    falling = PartialAUCSVC((0.0, 1.0), fpr_weight=lambda rate: np.exp(-20 * rate), loss="tight")
    assert falling.fit(X, Y).gap_ < 1e-3
    # A gap of tol leaves coefficients free by about its root, so the comparison needs a small one.
    tight = {"loss": "tight", "tol": 1e-6}
    same = PartialAUCSVC((0.0, 1.0), fpr_weight=lambda rate: 1.0 * (rate <= 0.2), **tight)
    ranged = PartialAUCSVC((0.0, 0.2), **tight)
    np.testing.assert_allclose(same.fit(X, Y).coef_, ranged.fit(X, Y).coef_, atol=5e-3)
    for loss in ("tight", "ramp"):
        two_way = make_model(loss, (0.0, 0.3), min_tpr=0.5).fit(X, Y)
        assert two_way.coef_.any()
        assert "true positive rates from 0.5" in two_way.summary()


def test_grid_search_chooses_C_in_the_region():
    rng = np.random.default_rng(3)
    table = rng.normal(size=(800, 4))
    y = table[:, 0] + 0.7 * rng.normal(size=800) > 1.2
    scorer = make_metric_scorer("partial_auc", fpr_range=(0.0, 0.2))
    grid = {"C": [0.3, 1.0, 100.0]}
    search = GridSearchCV(PartialAUCSVC((0.0, 0.2), loss="tight"), grid, scoring=scorer)
    search.fit(table, y)
    held_out = [
        cross_val_score(search.estimator.set_params(C=C), table, y, scoring=scorer).mean()
        for C in grid["C"]
    ]
    assert search.best_params_["C"] == grid["C"][int(np.argmax(held_out))]
    assert search.best_score_ == pytest.approx(max(held_out))
    assert search.best_estimator_.gap_ <= 1e-3
    assert search.best_estimator_.relative_gap_ <= 1e-3
    assert search.score(table, y) > 0.4


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_grid_search_passes_weights_and_queries_on():
    table, y, qid = queries(np.random.default_rng(2))
    weight = np.random.default_rng(3).integers(1, 4, size=qid.size)
    with sklearn.config_context(enable_metadata_routing=True):
        asked = {"sample_weight": True, "qid": True}
        scorer = make_metric_scorer("partial_auc", fpr_range=(0.0, 0.5)).set_score_request(**asked)
        model = PartialAUCSVC((0.0, 0.5)).set_fit_request(**asked)
        folds = list(GroupKFold(3).split(table, y, qid))
        search = GridSearchCV(model, {"C": [0.1, 10.0]}, scoring=scorer, cv=folds)
        search.fit(table, y, sample_weight=weight, qid=qid)
    train, test = folds[0]
    by_hand = PartialAUCSVC((0.0, 0.5), C=0.1)
    by_hand.fit(table[train], y[train], sample_weight=weight[train], qid=qid[train])
    expected = partial_auc_score(
        y[test],
        by_hand.decision_function(table[test]),
        fpr_range=(0.0, 0.5),
        sample_weight=weight[test],
        qid=qid[test],
    )
    assert search.cv_results_["split0_test_score"][0] == pytest.approx(expected)


def queries(rng, n_queries=30, size=20):
    qid = np.repeat(np.arange(n_queries), size)
    shift = rng.normal(size=n_queries)[qid] * 5
    y = np.tile(np.arange(size) < 5, n_queries)
    table = rng.normal(size=(qid.size, 3))
    table[:, 0] += y
    table[:, 1] += shift
    return table, y, qid


@pytest.mark.parametrize("loss", LOSSES)
def test_queries_are_ranked_within(loss):
    table, y, qid = queries(np.random.default_rng(2))
    model = make_model(loss, (0.0, 0.5)).fit(table, y, qid=qid)
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
        PartialAUCSVC((0.0, 0.5), loss="tight").fit(table, y, qid=qid)
    with pytest.raises(ValueError, match="None of the 600 queries"):
        PartialAUCClassifier((0.0, 0.5)).fit(table, y, qid=np.arange(600))


MOONS = make_moons(300, noise=0.25, random_state=0)


def on_kernel_features(kernel, fpr_range, n_components=300, **params):
    """The pipeline of the guide: Nystroem features, and a descent that ends early."""
    features = Nystroem(kernel=kernel, n_components=n_components, random_state=0, **params)
    return make_pipeline(features, PartialAUCClassifier(fpr_range, tol=1e-3))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_kernels_learn_what_a_line_cannot(loss, kernel):
    table, y = MOONS
    line = PartialAUCClassifier((0.0, 0.2)).fit(table, y).decision_function(table)
    if loss == "ramp":
        model = on_kernel_features(kernel, (0.0, 0.2)).set_params(partialaucclassifier__C=100.0)
    else:
        model = PartialAUCSVC((0.0, 0.2), loss=loss, kernel=kernel, C=100.0)
    model.fit(table, y)
    curve = model.decision_function(table)
    assert partial_auc_score(y, curve, fpr_range=(0, 0.2)) > 0.03 + partial_auc_score(
        y, line, fpr_range=(0, 0.2)
    )
    if loss != "ramp":
        assert model.gap_ <= 1e-3
        assert "kernel model" in model.summary()


def test_precomputed_kernel_is_the_kernel():
    table, y = MOONS
    weight = np.ones(300)
    weight[::7] = 0
    gamma = 0.5
    own = PartialAUCSVC((0.0, 0.2), loss="tight", kernel="rbf", gamma=gamma)
    own.fit(table, y, sample_weight=weight)
    given = PartialAUCSVC((0.0, 0.2), loss="tight", kernel="precomputed")
    given.fit(rbf_kernel(table, gamma=gamma), y, sample_weight=weight)
    new = np.random.default_rng(0).normal(size=(20, 2))
    one = own.decision_function(new)
    two = given.decision_function(rbf_kernel(new, table, gamma=gamma))
    np.testing.assert_allclose(one, two, atol=1e-6)
    with pytest.raises(ValueError, match="must be square"):
        clone(given).fit(rbf_kernel(table, table[:5]), y)


def test_principal_components_carry_a_precomputed_kernel_to_the_anchored_model():
    table, y = MOONS
    anchored = PartialAUCClassifier((0.0, 0.2), tol=1e-3)
    given = make_pipeline(KernelPCA(30, kernel="precomputed"), anchored)
    given.fit(rbf_kernel(table, gamma=0.5), y)
    own = on_kernel_features("rbf", (0.0, 0.2), 30, gamma=0.5).fit(table, y)
    new = np.random.default_rng(0).normal(size=(20, 2))
    one = own.decision_function(new)
    two = given.decision_function(rbf_kernel(new, table, gamma=0.5))
    # The two maps approximate the kernel differently.
    assert np.corrcoef(one, two)[0, 1] > 0.95


def test_linear_kernel_matrix_equals_the_linear_model():
    model = PartialAUCSVC((0.0, 0.3), loss="tight", tol=1e-6).fit(X, Y)
    dual = PartialAUCSVC((0.0, 0.3), loss="tight", kernel="precomputed", tol=1e-6).fit(X @ X.T, Y)
    assert dual.objective_ == pytest.approx(model.objective_, abs=1e-5)


def test_large_kernels_switch_to_features_and_say_so(monkeypatch):
    monkeypatch.setattr(aucuba.linear._svc, "MAX_KERNEL_ROWS", 200)
    table, y = MOONS
    model = PartialAUCSVC((0.0, 0.2), loss="tight", kernel="rbf", n_components=50, random_state=0)
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


def test_a_column_that_varies_in_few_rows_is_not_badly_scaled():
    # Evenly spaced rows show 1e-9 of it.
    rare = np.full(5000, 1e-9) * np.random.default_rng(0).normal(size=5000)
    rare[1::1000] = 1.0
    table = np.column_stack([np.random.default_rng(1).normal(size=5000), rare])
    PartialAUCClassifier((0.0, 0.3)).fit(table, table[:, 0] > 1.0)


BAD = [
    ({"C": 0}, "C must be a number above 0, got 0"),
    ({"C": np.nan}, "C must be a number above 0"),
    ({"tol": -1}, "tol must be a number above 0"),
    ({"max_iter": 0}, "max_iter must be a whole number above 0"),
    ({"fpr_range": (0.5, 0.1)}, "lower limit below"),
    ({"fpr_range": (0.5, 2)}, r"fpr_range\[1\] must lie"),
    ({"min_tpr": 1.0}, "min_tpr must lie"),
    ({"fpr_weight": 3}, "fpr_weight must be None, a function"),
    ({"fpr_weight": lambda u: 0 * u}, "not all zero"),
    ({"fpr_weight": lambda u: u - 0.5}, "non-negative"),
]
BAD_SVC = [
    *BAD,
    ({"loss": "hinge"}, "loss must be one of 'structural', 'tight', 'tight_dc', got 'hinge'"),
    ({"kernel": "sigmoid"}, "kernel must be one of"),
    ({"solver": "newton"}, "solver must be one of"),
    ({"rtol": 0}, "rtol must be a number above 0"),
    ({"loss": "structural", "min_tpr": 0.5}, "has no two-way form; use 'tight' with min_tpr=0.5"),
    ({"loss": "tight_dc"}, "for ranges that start above 0"),
    ({"loss": "tight_dc", "fpr_range": (0.1, 0.3), "fpr_weight": "log"}, "without fpr_weight"),
    (
        {"loss": "tight_dc", "fpr_range": (0.1, 0.3), "solver": "cutting_plane"},
        "loss='tight_dc' is solved by bundle methods, got solver='cutting_plane'",
    ),
    (
        {"loss": "tight_dc", "fpr_range": (0.1, 0.3), "rtol": 0.1},
        r"ends by tol alone, got rtol=0\.1; leave rtol out, or use loss='tight'",
    ),
    ({"loss": "tight", "kernel": "rbf", "gamma": -1}, "gamma must be a number above 0"),
    ({"loss": "tight", "kernel": "rbf", "gamma": "auto"}, "gamma must be one of 'scale'"),
    ({"kernel": "rbf", "n_components": 0}, "n_components must be"),
]


@pytest.mark.parametrize(("params", "message"), BAD)
def test_bad_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        PartialAUCClassifier(**params).fit(X, Y)


@pytest.mark.parametrize(("params", "message"), BAD_SVC)
def test_bad_parameters_of_the_svc(params, message):
    with pytest.raises(ValueError, match=message):
        PartialAUCSVC(**params).fit(X, Y)


def test_the_difference_program_takes_no_queries():
    model = PartialAUCSVC((0.1, 0.5), loss="tight_dc")
    with pytest.raises(ValueError, match="loss='tight_dc' does not take qid; use loss='tight'"):
        model.fit(X, Y, qid=np.arange(600) // 60)


def test_bad_data():
    model = PartialAUCClassifier()
    with pytest.raises(ValueError, match="only one class"):
        model.fit(X, np.ones(600))
    with pytest.raises(ValueError, match=r"Only binary classification is supported.*y == "):
        model.fit(X, np.arange(600) % 3)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(X > 2, np.nan, X), Y)
    with pytest.raises(ValueError, match="qid has 3 entries for 600 rows"):
        model.fit(X, Y, qid=[1, 2, 3])
    with pytest.raises(ValueError, match=r"only one class .* among the rows of positive weight"):
        model.fit(X, Y, sample_weight=Y)


def test_an_interrupt_keeps_the_model_and_is_raised(monkeypatch):
    model = PartialAUCSVC((0.0, 0.1), loss="structural", C=100.0, tol=1e-9, verbose=1)

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
        model = PartialAUCSVC(loss="tight", verbose=1).fit(X, Y)
    assert len(caplog.records) == model.n_iter_
    assert "gap" in caplog.records[-1].getMessage()


def test_warm_start_begins_at_the_present_model():
    model = PartialAUCSVC((0, 0.2), loss="structural", C=100.0, warm_start=True, tol=1e-4)
    cold = model.fit(X, Y).n_iter_
    again = model.fit(X, Y).n_iter_
    assert again < cold


@pytest.mark.parametrize("loss", LOSSES)
def test_it_works_with_the_rest_of_scikit_learn(loss):
    model = make_model(loss, (0.0, 0.2))
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
    "model",
    [
        PartialAUCClassifier(),
        PartialAUCSVC(loss="tight", kernel="rbf"),
        on_kernel_features("poly", (0.0, 0.05)),
    ],
)
def test_pickle_and_skops(model, tmp_path):
    import skops.io

    model = clone(model).fit(X, Y)
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
            models.append([make_model(s, (0, 0.1)).fit(table, y).coef_ for s in LOSSES])
    for one, two in zip(*models, strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.skipif(
    not aucuba._base._callbacks.HAS_CALLBACKS, reason="sklearn.callback came with scikit-learn 1.9"
)
def test_callbacks_see_every_iteration_and_can_stop():
    stopper = StopAfter(2)
    model = PartialAUCSVC((0, 0.1), loss="structural", C=100.0, tol=1e-9)
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


@pytest.fixture(scope="module", params=["annthyroid", "Wilt"])
def scaled_table(request, data_dir):
    table, y = load_adbench(request.param)
    return StandardScaler().fit_transform(table), y


def test_memory_order_does_not_change_a_kernel_model(scaled_table):
    table, y = scaled_table
    scores = [
        on_kernel_features("rbf", (0, 0.05))
        .fit(np.asarray(table, order=order), y)
        .decision_function(table)
        for order in "CF"
    ]
    np.testing.assert_allclose(*scores, rtol=0, atol=1e-6)


def test_fits_on_kernel_features_end_before_their_limit(scaled_table):
    table, y = scaled_table
    model = on_kernel_features("rbf", (0, 0.05)).fit(table, y)
    assert model[-1].status_.startswith("Converged")
    assert model[-1].n_iter_ < 100
    assert partial_auc_score(y, model.decision_function(table)) > 0.8


def test_a_range_of_less_than_one_negative_is_widened_too():
    rng = np.random.default_rng(0)
    y = np.arange(300) < 50
    table = rng.normal(size=(300, 2)) + y[:, np.newaxis]
    with pytest.warns(FewRowsWarning, match=r"training on \[0, 0.04\], which covers 10"):
        narrow = PartialAUCClassifier((0.0, 0.001)).fit(table, y)
    wide = PartialAUCClassifier((0.0, 0.04)).fit(table, y)
    np.testing.assert_array_equal(narrow.coef_, wide.coef_)
    with pytest.warns(FewRowsWarning, match="is returned: the data have 50 positives and 9 neg"):
        PartialAUCClassifier((0.0, 0.5)).fit(table[:59], y[:59])


def test_an_array_after_a_frame_has_no_names():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = X[:, 0] > 0.5
    model = PartialAUCSVC((0.0, 0.5)).fit(pandas.DataFrame(X, columns=list("abc")), y)
    assert model.feature_names_in_.tolist() == list("abc")
    of_frame = model.coef_
    model.fit(X[:, :2], y)
    assert model.n_features_in_ == 2
    assert not hasattr(model, "feature_names_in_")
    with pytest.raises(ValueError, match="3 features, but PartialAUCSVC is expecting 2"):
        model.predict(X)
    np.testing.assert_allclose(model.fit(X, y).coef_, of_frame, rtol=1e-9)
