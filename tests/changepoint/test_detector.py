"""The detector from raw signals to changes, its descent and its errors."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from aucuba.aum import AUMDescent, LabelledData
from aucuba.aum._step_rules import STEP_RULES
from aucuba.changepoint import (
    Label,
    LabelErrors,
    SupervisedChangepointDetector,
    error_functions,
    penalty_roc,
)
from aucuba.design import TableDesign
from aucuba.solvers import Status
from reproductions.data.changepoints import AnnotatedSeries, load_tcpd
from reproductions.experiments.aum_figure6 import descend


def make_signals(n, seed=0, jump=8.0):
    """Noise of very different sizes; every second signal has changes at 20 and 40."""
    rng = np.random.default_rng(seed)
    signals, labels = [], []
    for k in range(n):
        noise = 10.0 ** rng.uniform(-1, 1)
        signals.append(
            np.repeat([0.0, jump * noise * (k % 2), 0.0], 20) + noise * rng.normal(size=60)
        )
        kind = "one" if k % 2 else "none"
        labels.append([Label(10, 30, kind), Label(45, 58, "none")])
    return signals, labels


def test_finds_changes_that_no_constant_penalty_finds():
    signals, labels = make_signals(60)
    model = SupervisedChangepointDetector(8, random_state=0).fit(signals[:30], labels[:30])
    assert model.score(signals[30:], labels[30:]) > 0.95
    found = model.predict(signals[30:])
    assert sum(found[k].tolist() == ([20, 40] if k % 2 else []) for k in range(30)) > 25
    errors = model.prepare(signals[30:], labels[30:])[1]
    constant = penalty_roc(errors, np.zeros(30))
    roc = model.roc(signals[30:], labels[30:])
    assert roc.errors < constant.best_fp + constant.best_fn
    assert roc.auc > constant.auc


def test_score_counts_labels_of_the_predicted_changes():
    signals, labels = make_signals(24, jump=1.0)
    model = SupervisedChangepointDetector(6, random_state=1).fit(signals, labels)
    wrong = 0
    for changes, table in zip(model.predict(signals), labels, strict=True):
        for label in table:
            count = np.sum((changes - 0.5 > label.start) & (changes - 0.5 <= label.end))
            low, high = {"none": (0, 0), "one": (1, 1)}[label.kind]
            wrong += not low <= count <= high
    assert wrong > 0
    assert model.score(signals, labels) == pytest.approx(1 - wrong / 48)


def test_without_descent_it_is_interval_regression_with_another_constant():
    signals, labels = make_signals(24, jump=2.0)
    model = SupervisedChangepointDetector(6, random_state=0, max_iter=0)
    X, errors = model.prepare(signals, labels)
    model.fit_features(X, errors)
    start = model.interval_regression_.predict(X[:, model.used_features_])
    difference = model.predict_log_penalty_features(X) - start
    np.testing.assert_allclose(difference, difference[0], atol=1e-9)


def test_intercept_makes_the_fewest_training_errors():
    for seed in range(3):
        signals, labels = make_signals(24, seed, jump=1.0)
        model = SupervisedChangepointDetector(6, random_state=0)
        X, errors = model.prepare(signals, labels)
        model.fit_features(X, errors)
        roc = penalty_roc(errors, model.predict_log_penalty_features(X))
        assert roc.errors == roc.best_fp + roc.best_fn


def test_persistence():
    io = pytest.importorskip("skops.io")
    signals, labels = make_signals(16)
    model = SupervisedChangepointDetector(6, random_state=0).fit(signals, labels)
    dumped = io.dumps(model)
    again = io.loads(dumped, trusted=io.get_untrusted_types(data=dumped))
    np.testing.assert_array_equal(
        again.predict_log_penalty(signals), model.predict_log_penalty(signals)
    )
    assert again.history_ == model.history_


def test_names_mappings_and_frames_agree():
    pd = pytest.importorskip("pandas")
    signals, labels = make_signals(16)
    names = [f"s{k}" for k in range(16)]
    frame = pd.DataFrame(
        [{"sequence": n, **vars(label)} for n, t in zip(names, labels, strict=True) for label in t]
    )
    plain = SupervisedChangepointDetector(6, random_state=0).fit(signals, labels)
    named = SupervisedChangepointDetector(6, random_state=0).fit(
        dict(zip(names, signals, strict=True)), frame
    )
    np.testing.assert_array_equal(plain.coef_, named.coef_)


def test_random_state_fixes_the_result_and_clone_keeps_parameters():
    signals, labels = make_signals(20, jump=3.0)
    model = SupervisedChangepointDetector(6, random_state=3, step="linear")
    first, second = clone(model).fit(signals, labels), clone(model).fit(signals, labels)
    np.testing.assert_array_equal(first.coef_, second.coef_)
    assert first.get_params()["step"] == "linear"


def test_own_features():
    signals, labels = make_signals(24)
    model = SupervisedChangepointDetector(
        6, features=lambda y: [np.log(np.median(np.abs(np.diff(y)))), 5.0, np.nan], random_state=0
    ).fit(signals, labels)
    np.testing.assert_array_equal(model.used_features_, [True, False, False])
    assert model.coef_[0] < 0
    assert model.predict_log_penalty(signals).shape == (24,)


def chipseq_part(problem, rows):
    X = problem.features[:, np.isfinite(problem.features).all(axis=0)]
    X = X[:, np.ptp(X, axis=0) > 0]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return LabelledData(TableDesign(X[rows]), error_functions(problem.subset(rows)))


@pytest.mark.parametrize("step", list(STEP_RULES))
def test_descent_decreases_what_its_rule_promises(chipseq, step):
    subtrain = chipseq_part(chipseq, np.arange(0, 120, 2))
    validation = chipseq_part(chipseq, np.arange(1, 120, 2))
    start = subtrain.design.zeros()
    start[0] = -0.1
    descent = AUMDescent(step, tol=1e-5, n_iter_no_change=1, max_iter=8)
    found = descent.solve(subtrain, start, validation)
    history = [found.start, *found.history]
    assert len(history) > 1
    measured = {"first_max_auc": "auc", "subtrain_auc": "auc", "validation_auc": "validation_auc"}
    name = measured.get(step, "aum")
    sign = 1.0 if name == "aum" else -1.0
    values = sign * np.array([row[name] for row in history])
    # The rules for AUC are exact to 1e-4.
    assert np.all(np.diff(values[:-1]) < (0 if name == "aum" else 1e-4))
    # The first maximum of AUC may be the stretch of the start: then AUM alone falls.
    if step == "first_max_auc":
        values = np.array([row["aum"] for row in history])
    assert values.min() < values[0]
    best = max(row["validation_auc"] for row in history)
    assert history[found.best_iteration]["validation_auc"] == best
    again = validation.curves(validation.design.scores(found.coef)).auc
    assert again == pytest.approx(best, abs=1e-9)


def test_all_crossings_find_the_least_aum(chipseq):
    part = chipseq_part(chipseq, np.arange(60))
    start = part.design.zeros()
    start[0] = -0.1
    least = {
        step: AUMDescent(step, max_iter=1).solve(part, start).history[0]["aum"]
        for step in ("all", "grid", "first_min")
    }
    assert least["all"] <= least["first_min"] + 1e-12
    assert least["all"] <= least["grid"] + 1e-12


FIGURE6_STEPS = {1: (53, 55), 2: (110, 29), 3: (104, 29), 4: (39, 18)}


@pytest.mark.parametrize("fold", [1, 4])
@pytest.mark.parametrize("start", ["as_paper_code", "negated"])
def test_grid_descent_equals_the_published_code_step_by_step(reference, chipseq, fold, start):
    import pandas as pd

    problem = chipseq
    weights = pd.read_csv(reference / "aum_reference/fig6_init_weights.csv")
    weights = weights[weights["test.fold"] == fold]
    X = problem.features[:, [problem.feature_name.index(name) for name in weights["feature"]]]
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    train = np.flatnonzero(problem.fold != fold)
    parts = [
        LabelledData(TableDesign(X[rows]), error_functions(problem.subset(rows)))
        for rows in (train[::2], train[1::2])
    ]
    sign = 1.0 if start == "as_paper_code" else -1.0
    found = descend(parts[0], sign * weights["weight"].to_numpy(), parts[1], "grid")
    trace = pd.read_csv(reference / "aum_reference/fig6_traces.csv.gz")
    rows = (trace["test.fold"] == fold) & (trace["init"] == start) & (trace["method"] == "grid")
    trace = trace[rows]
    assert len(found) - 1 == FIGURE6_STEPS[fold][start == "negated"]
    history = pd.DataFrame(found)
    np.testing.assert_allclose(history["aum"], trace["subtrain"], atol=1e-9)
    np.testing.assert_allclose(history["validation_auc"], trace["auc.validation"], atol=1e-9)


def test_labels_of_one_kind_keep_the_constant():
    signals, _ = make_signals(12)
    labels = [[Label(0, 59, "none")] for _ in signals]
    model = SupervisedChangepointDetector(5, random_state=0).fit(signals, labels)
    assert model.status_.startswith("The constant is kept")
    assert model.history_ == []
    assert all(changes.size == 0 for changes in model.predict(signals[::2]))


def test_descent_without_gain_is_not_used():
    signals, labels = make_signals(16)
    model = SupervisedChangepointDetector(6, random_state=0).fit(signals, labels)
    assert "Descent on AUM does not pay" in model.status_
    assert (model.history_, model.best_step_) == ([], 0)


def test_descent_with_a_gain_is_used(neuroblastoma):
    """On half of the sequences held-out errors fall by more than their standard error."""
    rows = np.flatnonzero(neuroblastoma.fold != 1)[::2]
    model = SupervisedChangepointDetector(random_state=0)
    X, errors = neuroblastoma.features[rows], neuroblastoma.subset(rows)
    model.fit_features(X, errors)
    used = "Descent on AUM pays" in model.status_
    assert used == bool(model.history_)
    if used:
        assert model.status_.endswith(str(Status.CONVERGED))


def test_no_validation_part():
    signals, labels = make_signals(16, jump=3.0)
    model = SupervisedChangepointDetector(6, validation_fraction=None, random_state=0)
    model.fit(signals, labels)
    with pytest.raises(ValueError, match="needs a validation_fraction"):
        clone(model).set_params(step="validation_auc").fit(signals, labels)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda s, la: (s, {**la, "b": [Label(0, 9, "none"), Label(5, 30, "one")]}),
            "'b'.*overlap",
        ),
        (lambda s, la: (s, {**la, "b": [Label(100, 200, "one")]}), "'b'.*outside the signal"),
        (lambda s, la: ({**s, "b": []}, la), "'b' is empty"),
        (lambda s, la: ({**s, "b": [1.0, np.nan] * 9}, la), "'b' contains 9 NaN"),
        (lambda s, la: ({**s, "b": np.ones((20, 2))}, la), "'b' must have one column"),
        (lambda s, la: (s, {**la, "z": []}), "'z', which is not among"),
        (lambda s, la: ({}, {}), "signals is empty"),
        (lambda s, la: (s, {k: [] for k in la}), "nothing can be learned"),
    ],
)
def test_bad_input_names_the_sequence(change, message):
    signals, labels = make_signals(4)
    names = ["a", "b", "c", "d"]
    signals, labels = change(
        dict(zip(names, signals, strict=True)), dict(zip(names, labels, strict=True))
    )
    with pytest.raises(ValueError, match=message):
        SupervisedChangepointDetector(6).fit(signals, labels)


def test_samples_whose_fourth_powers_overflow_name_the_sequence():
    signals, labels = make_signals(16)
    model = SupervisedChangepointDetector(6, random_state=0)
    large = [1e200 * signal for signal in signals]
    with pytest.raises(
        ValueError, match=r"Sequence 0 has a value of magnitude .*e\+200, too large"
    ):
        model.fit(large, labels)
    small = [1e67 * signal for signal in signals]
    assert model.fit(small, labels).score(small, labels) > 0.9
    with pytest.raises(ValueError, match=r"Sequence 1 has .* Scale all signals by one factor"):
        model.predict([small[0], large[1]])


def test_negative_counts_name_the_sequence():
    signals, labels = make_signals(4)
    with pytest.raises(ValueError, match="Sequence 0: The Poisson loss"):
        SupervisedChangepointDetector(6, loss="poisson").fit(signals, labels)


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"step": "newton"}, "step must be one of"),
        ({"tol": -1}, "tol"),
        ({"validation_fraction": 1.0}, "validation_fraction"),
        ({"max_iter": 2.5}, "max_iter"),
        ({"max_segments": "8"}, "^max_segments must be a whole number above 0, got '8'"),
        ({"max_segments": 2.5}, "^max_segments must be a whole number"),
        ({"loss": "huber"}, "^loss must be one of 'l2', 'poisson', 'variance', got 'huber'"),
    ],
)
def test_bad_settings(kwargs, message):
    signals, labels = make_signals(6)
    model = SupervisedChangepointDetector(**{"max_segments": 6, **kwargs})
    for use in (model.fit, model.prepare):
        with pytest.raises(ValueError, match=message):
            use(signals, labels)


def test_a_score_needs_labels():
    signals, labels = make_signals(16)
    model = SupervisedChangepointDetector(6, random_state=0).fit(signals, labels)
    weightless = [Label(10, 30, "one", weight=0.0)]
    for nothing in ([[], []], [[], weightless]):
        with pytest.raises(ValueError, match=r"No label has a positive weight.*2 signals"):
            model.score(signals[:2], nothing)


def test_too_few_sequences_to_hold_one_out_keep_the_interval_regression():
    signals, labels = make_signals(16)
    model = SupervisedChangepointDetector(6, validation_fraction=0.01, random_state=0)
    model.fit(signals, labels)
    assert model.status_.endswith(
        "No descent: validation_fraction=0.01 of 16 sequences holds out none; use more than 1/16, or "
        "None. The interval regression is kept."
    )
    assert model.best_step_ == 0
    model.set_params(validation_fraction=0.1).fit(signals, labels)
    assert "holds out none" not in model.status_


def test_bad_features():
    signals, labels = make_signals(16)
    model = SupervisedChangepointDetector(6, random_state=0).fit(signals, labels)
    with pytest.raises(ValueError, match="2 features, but the detector was fitted with 93"):
        model.predict_log_penalty_features(np.zeros((1, 2)))
    with pytest.raises(ValueError, match="one row per sequence"):
        model.fit_features(np.zeros((3, 2)), [])
    with pytest.raises(ValueError, match=r"errors is empty: .* at least one sequence"):
        model.fit_features(np.zeros((0, 2)), [])
    with pytest.raises(ValueError, match="put a single signal in a list"):
        model.predict(signals[0])
    table = LabelErrors.from_table(
        [-np.inf, 0], [0, np.inf], [1, 0], [0, 1], possible_fp=1, possible_fn=1, n_labels=1
    )
    with pytest.raises(ValueError, match="No feature is finite and varies"):
        model.fit_features(np.full((6, 1), np.nan), [table] * 6)


def test_published_features_and_errors(chipseq):
    problem = chipseq
    train, test = problem.fold != 4, problem.fold == 4
    model = SupervisedChangepointDetector(random_state=0, max_iter=50)
    model.fit_features(problem.features[train], problem.subset(train))
    log_penalty = model.predict_log_penalty_features(problem.features[test])
    learned = penalty_roc(problem.subset(test), log_penalty)
    constant = penalty_roc(problem.subset(test), np.zeros(test.sum()))
    assert learned.auc > constant.auc
    assert learned.errors < constant.best_fp + constant.best_fn


def test_poisson_counts():
    rng = np.random.default_rng(0)
    signals, labels = [], []
    for k in range(20):
        rate = rng.uniform(2, 50)
        signals.append(rng.poisson(np.repeat([rate, rate * (1 + 2 * (k % 2))], 30)).astype(float))
        labels.append([Label(20, 40, "one" if k % 2 else "none"), Label(45, 59, "none")])
    model = SupervisedChangepointDetector(5, loss="poisson", random_state=0)
    assert model.fit(signals[:12], labels[:12]).score(signals[12:], labels[12:]) > 0.8


def test_tcpd_loader(reference):
    series = load_tcpd()
    assert len(series) == 31
    nile = next(item for item in series if item.name == "nile")
    assert nile.signal.size == 100
    assert [28] in [marks.tolist() for marks in nile.annotations]
    assert all(np.all(np.isfinite(item.signal)) for item in series)


def test_labels_from_annotations():
    marks = [np.array([30]), np.array([31, 60]), np.array([28, 90])]
    series = AnnotatedSeries("s", np.zeros(120), marks)
    assert series.labels(margin=4) == [
        Label(0.0, 24.0, "none"),
        Label(24.0, 35.0, "at_least_one"),
        Label(35.0, 56.0, "none"),
        Label(64.0, 86.0, "none"),
        Label(94.0, 119.0, "none"),
    ]
    nobody = AnnotatedSeries("s", np.zeros(20), [np.empty(0, dtype=int)] * 3)
    assert nobody.labels() == [Label(0.0, 19.0, "none")]
