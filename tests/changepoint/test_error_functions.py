"""Error functions, ROC curves and totals against direct evaluation and reference tables."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from aucuba.aum import aum, line_search_path
from aucuba.changepoint import (
    Label,
    LabelErrors,
    best_shift,
    error_functions,
    label_errors,
    penalty_roc,
    segment,
    target_intervals,
)
from aucuba.changepoint._label_errors import ErrorTotals


@st.composite
def error_tables(draw):
    n = draw(st.integers(1, 4))
    tables = []
    for _ in range(n):
        edges = sorted(draw(st.sets(st.integers(-6, 6), max_size=5)))
        fp = [*draw(st.lists(st.integers(0, 3), min_size=len(edges), max_size=len(edges))), 0]
        fn = draw(st.lists(st.integers(0, 3), min_size=len(edges) + 1, max_size=len(edges) + 1))
        tables.append(
            LabelErrors.from_table(
                [-np.inf, *edges],
                [*edges, np.inf],
                fp,
                fn,
                possible_fp=3,
                possible_fn=3,
                n_labels=6,
            )
        )
    return tables


@settings(max_examples=200, deadline=None)
@given(error_tables(), st.data())
def test_totals_equal_evaluation_at_every_shift(tables, data):
    f = np.array([data.draw(st.integers(-4, 4)) for _ in tables], dtype=float)
    shift, fp, fn = ErrorTotals.from_tables(tables).along(f)
    edges = np.concatenate([[-99.0], shift, [99.0]])
    for k, middle in enumerate((edges[1:] + edges[:-1]) / 2):
        parts = np.array(
            [table.at(-(value + middle)) for table, value in zip(tables, f, strict=True)]
        )
        np.testing.assert_allclose([fp[k], fn[k]], parts.sum(axis=0))
    constant = best_shift(tables, f)
    at_best = sum(sum(table.at(-(v + constant))) for table, v in zip(tables, f, strict=True))
    assert at_best == pytest.approx((fp + fn).min())


@settings(max_examples=200, deadline=None)
@given(error_tables())
def test_breakpoints_add_up_to_the_errors(tables):
    lowest = [np.append(table.fn.min(), table.fn[1:]) for table in tables]
    assume(sum(t.fp[0] for t in tables) > 0)
    assume(sum(fn[-1] - fn[0] for fn in lowest) > 0)
    functions = error_functions(tables, rate=False)
    assert functions.n_examples == len(tables)
    for i, table in enumerate(tables):
        rows = functions.example == i
        for value in (-20.0, -1.5, 0.5, 2.5, 20.0):
            seen = functions.value[rows] <= value
            fp = functions.fp_diff[rows][seen].sum()
            fn = -functions.fn_diff[rows][~seen].sum()
            expected_fp, expected_fn = table.at(-value)
            if -value < table.max_log_penalty[0]:
                expected_fn = table.fn.min()
            assert fp == pytest.approx(expected_fp)
            assert fn == pytest.approx(expected_fn - table.fn.min())


def test_rates_reach_one():
    problem = [
        LabelErrors.from_table([-np.inf, 0], [0, np.inf], [2, 0], [0, 0], possible_fp=4,
                               possible_fn=0, n_labels=4),
        LabelErrors.from_table([-np.inf, 1], [1, np.inf], [0, 0], [1, 3], possible_fp=0,
                               possible_fn=3, n_labels=3),
    ]  # fmt: skip
    functions = error_functions(problem)
    assert (functions.total_fp, functions.total_fn) == (1.0, 1.0)
    assert error_functions(problem, rate=False).total_fn == 2.0


def test_only_one_kind_of_error_is_refused():
    flat = label_errors(segment([0, 1, 0, 1], 3), [Label(0, 3, "none")])
    with pytest.raises(ValueError, match="No penalty makes a false negative in these 1 sequences"):
        error_functions([flat])


@pytest.mark.parametrize("name", ["BIC", "constant"])
def test_roc_reference(reference, neuroblastoma, name):
    import pandas as pd

    problem = neuroblastoma
    expected = pd.read_csv(reference / f"penaltylearning_reference/rochange_{name}.csv")
    expected = expected.set_index("threshold")
    column = problem.features[:, problem.feature_name.index("log2.n")]
    roc = penalty_roc(problem.errors, column if name == "BIC" else np.zeros(len(column)))
    assert roc.auc == pytest.approx(expected.loc["predicted", "auc"], abs=1e-12)
    assert roc.aum == pytest.approx(expected.loc["predicted", "aum"], abs=1e-8)
    assert (roc.fp, roc.fn) == tuple(expected.loc["predicted", ["fp", "fn"]])
    # Several shifts tie for the fewest errors; the table's must be one of them. It adds its
    # threshold to the log penalty, we ours to minus the log penalty.
    best = expected.loc["min.error"]
    assert roc.best_fp + roc.best_fn == best["errors"]
    shift, fp, fn = ErrorTotals.from_tables(problem.errors).along(
        -column if name == "BIC" else np.zeros(len(column))
    )
    row = np.searchsorted(shift, -(best["min.thresh"] + best["max.thresh"]) / 2)
    assert (fp[row], fn[row]) == (best["fp"], best["fn"])
    limits = [-best["max.thresh"], -best["min.thresh"]]
    np.testing.assert_allclose(shift[row - 1 : row + 1], limits, atol=1e-9)
    around = np.searchsorted(roc.shift, 0.0)
    limits = expected.loc["predicted", ["min.thresh", "max.thresh"]].to_numpy(dtype=float)
    np.testing.assert_allclose(sorted(-limits), roc.shift[around - 1 : around + 1], atol=1e-9)
    assert roc.fpr[around] == pytest.approx(expected.loc["predicted", "FPR"])
    assert roc.tpr[around] == pytest.approx(expected.loc["predicted", "TPR"])


def figure4(reference):
    import pandas as pd

    folder = reference / "figure2_figure4"
    table = pd.read_csv(folder / "fig4_errors.csv")
    errors = [
        LabelErrors.from_table(
            rows["min.log.lambda"],
            rows["max.log.lambda"],
            rows["fp"],
            rows["fn"],
            possible_fp=rows["possible.fp"].iloc[0],
            possible_fn=rows["possible.fn"].iloc[0],
            n_labels=1,
        )
        for _, rows in sorted(table.groupby("profile.id"), reverse=True)
    ]
    return folder, errors


def test_figure4_breakpoints_and_line_search(reference):
    import pandas as pd

    folder, errors = figure4(reference)
    expected = pd.read_csv(folder / "fig4_error_diffs.csv")
    functions = error_functions(errors, rate=False)
    np.testing.assert_array_equal(functions.example, expected["example"])
    np.testing.assert_allclose(functions.value, expected["pred"], atol=1e-12)
    np.testing.assert_array_equal(functions.fp_diff, expected["fp_diff"])
    np.testing.assert_array_equal(functions.fn_diff, expected["fn_diff"])
    lines = pd.read_csv(folder / "fig4_lines.csv")
    start = functions.value[[0, 3]] - [lines["intercept"][0], lines["intercept"][1]]
    direction = -np.array([lines["slope"][0], lines["slope"][1]])
    path = line_search_path(functions, start, direction, stop="all")
    result = pd.read_csv(folder / "fig4_line_search_result.csv")
    np.testing.assert_allclose(path.step, result["step.size"], atol=1e-12)
    np.testing.assert_allclose(path.aum, result["aum"], atol=1e-12)
    np.testing.assert_allclose(path.auc_after, result["auc.after"], atol=1e-12)


def intreg_signal(folder, name):
    import pandas as pd

    table = pd.read_csv(folder / "intreg_signals.csv", dtype={"signal": str})
    return table[table["signal"] == name]


def test_figure2_raw_signals_give_the_published_models(reference):
    """Segmentation, selection, label errors and targets of seven raw profiles."""
    import pandas as pd

    folder = reference / "figure2_figure4"
    text = {"signal": str}
    breaks = pd.read_csv(folder / "intreg_breaks.csv", dtype=text)
    selection = pd.read_csv(folder / "intreg_selection.csv", dtype=text)
    intervals = pd.read_csv(folder / "intreg_intervals.csv", dtype=text).set_index("signal")
    regions = pd.read_csv(folder / "intreg_annotations.csv", dtype=text)
    kinds = {"0breakpoints": "none", "1breakpoint": "one"}
    assert len(intervals) == 7
    for name, rows in selection.groupby("signal"):
        raw = intreg_signal(folder, name)
        found = segment(raw["logratio"], 20, positions=raw["base"])
        for size, expected in breaks[breaks["signal"] == name].groupby("segments"):
            # The table rounds midpoints between bases.
            middle = found.change_positions(size - 1)
            np.testing.assert_allclose(middle, np.sort(expected["base"]), rtol=0, atol=0.5)
        mine = regions[regions["signal"] == name]
        labels = pd.DataFrame(
            {
                "start": mine["first.base"],
                "end": mine["last.base"],
                "kind": mine["annotation"].map(kinds),
            }
        )
        errors = label_errors(found, labels, name=name)
        np.testing.assert_allclose(errors.min_log_penalty, rows["min.L"], atol=1e-9)
        np.testing.assert_array_equal(found.sizes[errors.model], rows["segments"])
        np.testing.assert_array_equal(errors.errors, rows["cost"])
        np.testing.assert_allclose(
            target_intervals([errors])[0], intervals.loc[name, ["min.L", "max.L"]], atol=1e-9
        )


def test_figure2_profile_from_the_raw_signal(reference):
    """Profile 4, chromosome 2: its losses and error function come out of the raw signal."""
    import pandas as pd

    folder, errors = figure4(reference)
    raw = intreg_signal(folder, "4.2")
    region = pd.read_csv(folder / "fig2_labels.csv").set_index("sequenceID").loc["4_chr2"]
    label = Label(region["labelStart"], region["labelEnd"], "at_least_one")
    found = label_errors(segment(raw["logratio"], 20, positions=raw["base"]), [label])
    np.testing.assert_allclose(found.min_log_penalty, errors[1].min_log_penalty, atol=1e-9)
    np.testing.assert_array_equal(found.fn, errors[1].fn)
    np.testing.assert_array_equal(found.fp, errors[1].fp)


def test_no_sequences_have_no_curve():
    for compute in (error_functions, lambda errors: penalty_roc(errors, [])):
        with pytest.raises(ValueError, match=r"errors is empty: .* at least one sequence"):
            compute([])


def test_roc_checks_lengths():
    flat = label_errors(segment([0, 1, 0, 1], 3), [Label(0, 3, "none")])
    step = label_errors(segment([0, 0, 5, 5], 3), [Label(0, 3, "one")])
    with pytest.raises(ValueError, match="1 entries for 2 sequences"):
        penalty_roc([flat, step], [0.0])
    roc = penalty_roc([flat, step], [0.0, 0.0])
    assert roc.auc == aum(error_functions([flat, step]), [0.0, 0.0]).auc
