"""The path against integer arithmetic, on the data where rounding decides which lines meet."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from aucuba.aum import ErrorFunctions, aum, line_search_path, maximize_auc, minimize_aum
from aucuba.aum._lines import Segment
from tests.aum.oracle import changepoint_errors, exact_path, labels

FEATURES = {
    "binary": (lambda rng, shape: rng.integers(0, 2, shape), 1),
    "small": (lambda rng, shape: rng.integers(-2, 3, shape), 1),
    "tenths": (lambda rng, shape: rng.integers(-9, 10, shape), 10),
    "sevenths": (lambda rng, shape: rng.integers(-2, 3, shape), 7),
    "counts": (lambda rng, shape: rng.integers(0, 21, shape), 1),
}


def integer_problem(rng, kind, weight_scale):
    """A linear model on integer features: floats as a user has them, and exact integer lines.

    ``direction * unit`` and ``predictions * unit`` are integers on paper; the floats are rounded
    wherever rates, tenths or sevenths are.
    """
    draw, feature_scale = FEATURES[kind]
    n, p = int(rng.integers(6, 15)), int(rng.integers(2, 5))
    X, y = draw(rng, (n, p)), labels(rng, n)
    w = rng.integers(-3 * weight_scale, 3 * weight_scale + 1, p)
    errors = ErrorFunctions.from_labels(y)
    table = X / feature_scale
    predictions = table @ (w / weight_scale)
    n_pos, n_neg = int(y.sum()), int((1 - y).sum())
    # The gradient of the exact predictions: rounding may break ties, and with them choose another.
    gradient = aum(errors, (X @ w).astype(float)).gradient
    direction = -(table @ (table.T @ gradient))
    exact_gradient = np.rint(gradient * 2 * n_pos * n_neg).astype(np.int64)
    exact_direction = -(X @ (X.T @ exact_gradient))
    exact = (-(X @ w), -exact_direction, n_pos * (1 - y), -n_neg * y)
    step_unit = 2 * n_pos * n_neg * feature_scale / weight_scale
    aum_unit = 1.0 / (n_pos * n_neg * feature_scale * weight_scale)
    return errors, predictions, direction, exact, step_unit, aum_unit


def check_against(exact, path, step_unit, aum_unit):
    assert_allclose(path.step, exact.step * step_unit, rtol=1e-10)
    size = exact.aum.max() * aum_unit
    assert_allclose(path.aum, exact.aum * aum_unit, atol=1e-11 * size)
    assert_allclose(path.auc_at, exact.auc_at, atol=1e-12)
    assert_allclose(path.auc_after, exact.auc_after, atol=1e-12)


@pytest.mark.parametrize("weight_scale", [1, 10])
@pytest.mark.parametrize("kind", FEATURES)
def test_integer_features_exactly(kind, weight_scale):
    rng = np.random.default_rng([len(kind), weight_scale])
    compared = 0
    while compared < 210:
        problem = integer_problem(rng, kind, weight_scale)
        errors, predictions, direction, lines, step_unit, aum_unit = problem
        if not lines[1].any():
            continue
        compared += 1
        exact = exact_path(*lines)
        path = line_search_path(errors, predictions, direction, stop="all")
        check_against(exact, path, step_unit, aum_unit)
        row = exact.first_minimum_row()
        for best in (
            line_search_path(errors, predictions, direction).best_aum(),
            minimize_aum(errors, predictions, direction),
        ):
            assert_allclose(best.step, exact.step[row] * step_unit, rtol=1e-9, atol=1e-12)
            assert_allclose(best.aum, exact.aum[row] * aum_unit, atol=1e-11)
        top = max(exact.auc_after.max(), exact.auc_at[0])
        assert_allclose(path.best_auc().auc, top, atol=1e-12)
        if path.step[-1] > 0:
            best = maximize_auc(errors, predictions, direction, max_step=2 * path.step[-1])
            assert_allclose([best.auc, best.upper_bound], top, atol=1e-11)


@pytest.mark.parametrize("seed", range(60))
def test_non_monotone_errors_exactly(seed):
    rng = np.random.default_rng(seed)
    example, value, fp_diff, fn_diff = changepoint_errors(rng)
    errors = ErrorFunctions(example, value, fp_diff, fn_diff)
    predictions, direction = rng.integers(-6, 7, (2, errors.n_examples))
    direction[0] = 1
    e, v, fp, fn = errors.example, errors.value, errors.fp_diff, errors.fn_diff
    exact = exact_path(v - predictions[e], -direction[e], fp, fn)
    path = line_search_path(errors, predictions, direction, stop="all")
    check_against(exact, path, 1.0, 1.0)
    assert_allclose(path.slope, exact.slope, atol=1e-12)
    row = exact.first_minimum_row()
    for best in (
        line_search_path(errors, predictions, direction).best_aum(),
        minimize_aum(errors, predictions, direction),
    ):
        assert_allclose([best.step, best.aum], [exact.step[row], exact.aum[row]], atol=1e-11)
    best = maximize_auc(errors, predictions, direction, max_step=100.0)
    assert_allclose(best.auc, max(exact.auc_after.max(), exact.auc_at[0]), atol=1e-12)


@pytest.fixture
def random_problem():
    rng = np.random.default_rng(3)
    y = labels(rng, 40)
    return ErrorFunctions.from_labels(y), rng.normal(size=40), rng.normal(size=40) + y


def test_rows_agree_with_direct_evaluation(random_problem):
    errors, predictions, direction = random_problem
    path = line_search_path(errors, predictions, direction, stop="all")
    assert path.valid_to == np.inf
    assert path.n_crossings == path.n_rows - 1
    for step in np.r_[(path.step[1:] + path.step[:-1]) / 2, 2 * path.step[-1]]:
        direct = aum(errors, predictions + step * direction)
        point = path.evaluate(step)
        assert_allclose([point.aum, point.auc], [direct.aum, direct.auc], rtol=1e-11)


def test_every_stop_gives_the_beginning_of_the_whole_path(random_problem):
    whole = line_search_path(*random_problem, stop="all")
    first_fall = 1 + np.flatnonzero(np.diff(whole.auc_after) < -1e-12)[0]
    expected = {
        "first_min": 1 + np.flatnonzero(whole.slope > 0)[0],
        "first_max_auc": 1 + first_fall,
        "linear": 40,
        17: 17,
    }
    for stop, rows in expected.items():
        path = line_search_path(*random_problem, stop=stop)
        assert path.n_rows == rows
        assert path.valid_to == whole.step[rows]
        for name in ("step", "aum", "slope", "auc_at", "auc_after"):
            assert_array_equal(getattr(path, name), getattr(whole, name)[:rows])
    limited = line_search_path(*random_problem, stop="all", max_step=whole.step[9])
    assert limited.n_rows == 10


def test_evaluate_beyond_the_known_path(random_problem):
    errors, predictions, direction = random_problem
    path = line_search_path(errors, predictions, direction, stop=5)
    step = 3 * path.valid_to
    direct = aum(errors, predictions + step * direction)
    assert path.evaluate(step).aum == direct.aum
    assert path.evaluate(step).auc == direct.auc
    assert path.evaluate(path.step[2]).auc == path.auc_at[2]


def test_weights_are_replication(random_problem):
    rng = np.random.default_rng(0)
    y, predictions, direction = labels(rng, 12), rng.normal(size=12), rng.normal(size=12)
    weight = rng.integers(0, 4, 12)
    weight[:2] = 1
    rows = np.repeat(np.arange(12), weight)
    weighted = ErrorFunctions.from_labels(y, sample_weight=weight)
    one = line_search_path(weighted, predictions, direction, stop="all")
    copies = ErrorFunctions.from_labels(y[rows])
    other = line_search_path(copies, predictions[rows], direction[rows], stop="all")
    for name in ("step", "aum", "auc_at", "auc_after"):
        assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-11, atol=1e-13)


def test_order_of_examples_does_not_matter(random_problem):
    errors, predictions, direction = random_problem
    order = np.random.default_rng(1).permutation(40)
    place = np.argsort(order)
    moved = ErrorFunctions(place[errors.example], errors.value, errors.fp_diff, errors.fn_diff)
    one = line_search_path(errors, predictions, direction, stop="all")
    other = line_search_path(moved, predictions[order], direction[order], stop="all")
    assert_array_equal(one.step, other.step)
    assert_allclose(one.aum, other.aum, rtol=1e-12)


def test_rows_equal_on_paper_stay_tied():
    y = np.array([0, 1, 0, 1])
    predictions = np.array([0.3, 0.1 + 0.2, 1.0, 2.0])
    direction = np.array([1.0, 1.0, -0.5, 0.25])
    path = line_search_path(ErrorFunctions.from_labels(y), predictions, direction, stop="all")
    assert path.lines.n_lines == 3
    literal = line_search_path(
        ErrorFunctions.from_labels(y), predictions, direction, stop="all", tol=0.0
    )
    assert literal.lines.n_lines == 4


def test_frame_and_plot(random_problem):
    pytest.importorskip("pandas")
    plt = pytest.importorskip("matplotlib.pyplot")
    path = line_search_path(*random_problem)
    assert list(path.to_frame().columns) == ["step", "aum", "slope", "auc_at", "auc_after"]
    assert len(path.to_frame()) == path.n_rows
    figure = path.plot()
    assert [ax.get_ylabel() for ax in figure.axes] == ["AUC", "AUM", "threshold"]
    xy = figure.axes[1].lines[0].get_xydata()
    assert_allclose(xy[:-1], np.column_stack([path.step, path.aum]), rtol=1e-12)
    plt.close(figure)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"direction": np.zeros(40)}, "direction is zero"),
        ({"direction": np.full(40, np.nan)}, "direction contains 40 NaN"),
        ({"predictions": np.ones(39)}, "predictions has 39 entries for 40 examples"),
        ({"stop": "never"}, "stop must be one of 'first_min'"),
        ({"stop": 0}, "stop must be one of"),
        ({"stop": True}, "stop must be one of"),
        ({"max_step": -1.0}, "max_step must be a number above 0"),
        ({"tol": 1.0}, "tol must lie in"),
    ],
)
def test_bad_input(random_problem, change, message):
    errors, predictions, direction = random_problem
    arguments = {"predictions": predictions, "direction": direction, **change}
    with pytest.raises(ValueError, match=message):
        line_search_path(errors, **arguments)
    with pytest.raises(ValueError, match="step must be a finite number"):
        line_search_path(*random_problem).evaluate(-1.0)


@pytest.mark.parametrize("record", [True, False])
@pytest.mark.parametrize("stop", ["all", "linear", "first_min", "first_max_auc", 9])
def test_a_path_longer_than_its_first_table_goes_on_where_it_stopped(stop, record, monkeypatch):
    # With room for one new row per table, every row is the last of its table.
    for seed in range(8):
        rng = np.random.default_rng(seed)
        errors = ErrorFunctions.from_labels(rng.random(30) < 0.5)
        line = rng.normal(size=30), rng.normal(size=30)
        monkeypatch.setattr("aucuba.aum._walk._FIRST_ROOM", 1 << 10)
        monkeypatch.setattr("aucuba.aum._walk._LAST_ROOM", 1 << 16)
        whole = line_search_path(errors, *line, stop=stop, record=record)
        monkeypatch.setattr("aucuba.aum._walk._FIRST_ROOM", 2)
        monkeypatch.setattr("aucuba.aum._walk._LAST_ROOM", 2)
        pieces = line_search_path(errors, *line, stop=stop, record=record)
        for name in ("step", "aum", "slope", "auc_at", "auc_after", "valid_to", "n_crossings"):
            np.testing.assert_array_equal(getattr(pieces, name), getattr(whole, name), err_msg=name)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("stop", ["all", "linear", "first_min"])
def test_a_path_that_is_not_recorded_has_the_same_best_points(seed, stop):
    rng = np.random.default_rng(seed)
    errors = ErrorFunctions.from_labels(labels(rng, 20))
    if seed % 2:
        errors = ErrorFunctions(*changepoint_errors(rng, 8))
    line = rng.integers(-4, 5, (2, errors.n_examples)) + (np.arange(errors.n_examples) == 0)
    whole = line_search_path(errors, *line, stop=stop)
    short = line_search_path(errors, *line, stop=stop, record=False)
    assert short.n_rows <= 4
    assert (short.n_crossings, short.valid_to) == (whole.n_crossings, whole.valid_to)
    for name in ("best_aum", "best_auc"):
        assert getattr(short, name)() == getattr(whole, name)()
    with pytest.raises(ValueError, match="not recorded cannot be drawn"):
        short.plot()


@pytest.mark.parametrize("seed", range(20))
def test_the_last_meeting_is_the_last_of_all_pairs(seed):
    rng = np.random.default_rng(seed)
    errors = ErrorFunctions(*changepoint_errors(rng, 6))
    line = rng.normal(size=(2, errors.n_examples))
    segment = Segment.from_predictions(errors, *line)
    path = line_search_path(errors, *line, stop="all")
    assert segment.last_meeting == pytest.approx(path.step[-1])
