"""Label errors, target intervals and error functions against counting and reference tables."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aucuba.changepoint import Label, LabelErrors, Segmentation, label_errors, target_intervals
from aucuba.changepoint._labels import LABEL_KINDS, label_table, labels_by_sequence


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.integers(0, 12), min_size=2, max_size=8, unique=True),
    st.sets(st.integers(1, 12)),
    st.data(),
)
def test_errors_equal_counting(edges, changes, data):
    edges = sorted(edges)
    labels = [
        Label(
            a,
            b,
            data.draw(st.sampled_from(list(LABEL_KINDS))),
            data.draw(st.sampled_from([1.0, 2.0])),
        )
        for a, b in itertools.pairwise(edges)
    ]
    false_positive, false_negative = label_table(labels).errors(np.array(sorted(changes), float))
    for label, fp, fn in zip(labels, false_positive, false_negative, strict=True):
        count = sum(label.start < change <= label.end for change in changes)
        low, high = {"none": (0, 0), "one": (1, 1), "at_least_one": (1, 99)}[label.kind]
        assert fp == label.weight * (count > high)
        assert fn == label.weight * (count < low)


def test_region_is_open_on_the_left_and_closed_on_the_right():
    table = label_table([Label(1.5, 3.5, "none")])
    assert table.errors(np.array([1.5]))[0].sum() == 0
    assert table.errors(np.array([3.5]))[0].sum() == 1


def test_label_error_reference(reference):
    import pandas as pd

    folder = reference / "penaltylearning_reference"
    changes = pd.read_csv(folder / "label_error_changes.csv")
    regions = pd.read_csv(folder / "label_error_labels.csv")
    expected = pd.read_csv(folder / "label_error_output.csv")
    kinds = {"0changes": "none", "1change": "one", ">0changes": "at_least_one"}
    labels = pd.DataFrame(
        {"start": regions["min"], "end": regions["max"], "kind": regions["annotation"].map(kinds)}
    )
    models = expected.sort_values("n.segments")
    firsts = [
        np.sort(changes.loc[changes["n.segments"] == size, "pos"].to_numpy(dtype=int)).tolist()
        for size in models["n.segments"]
    ]
    # A change at sample i lies at i - 0.5; samples at 0.5, 1.5, ... put it on the table's position.
    found = Segmentation.from_table(models["loss"], firsts, positions=np.arange(100) + 0.5)
    errors = label_errors(found, labels)
    np.testing.assert_array_equal(errors.fp, expected["fp"])
    np.testing.assert_array_equal(errors.fn, expected["fn"])
    np.testing.assert_array_equal(errors.errors, expected["errors"])
    np.testing.assert_allclose(errors.min_log_penalty, expected["min.log.lambda"], atol=1e-12)
    np.testing.assert_allclose(errors.max_log_penalty, expected["max.log.lambda"], atol=1e-12)
    assert (errors.possible_fp, errors.possible_fn, errors.n_labels) == (2, 2, 3)


def test_target_intervals_of_all_neuroblastoma_profiles(reference, neuroblastoma):
    import pandas as pd

    problem = neuroblastoma
    table = pd.read_csv(
        reference / "penaltylearning_reference/target_intervals_neuroblastoma.csv.gz"
    )
    table.index = table["profile.id"].astype(str) + "_chr" + table["chromosome"].astype(str)
    table = table.loc[problem.name]
    assert len(table) == 3418
    limits = target_intervals(problem.errors)
    np.testing.assert_allclose(limits[:, 0], table["min.log.lambda"], rtol=0, atol=1e-9)
    np.testing.assert_allclose(limits[:, 1], table["max.log.lambda"], rtol=0, atol=1e-9)
    fewest = [errors.errors.min() for errors in problem.errors]
    np.testing.assert_array_equal(fewest, table["errors"])


def test_target_intervals_of_chipseq(reference, chipseq):
    import pandas as pd

    problem = chipseq
    path = reference / "chipseq/H3K4me3_TDH_immune/outputs.csv.xz"
    expected = pd.read_csv(path).set_index("sequenceID").loc[problem.name].to_numpy()
    np.testing.assert_allclose(target_intervals(problem.errors), expected, rtol=0, atol=1e-8)


def make_errors(fp, fn, edges):
    return LabelErrors.from_table(
        [-np.inf, *edges], [*edges, np.inf], fp, fn, possible_fp=9, possible_fn=9, n_labels=9
    )


@pytest.mark.parametrize(
    ("total", "edges", "expected"),
    [
        ([3, 0, 1, 0, 2], [0, 1, 2, 5], (2, 5)),
        ([3, 0, 0, 0, 2], [0, 1, 2, 5], (0, 5)),
        ([0, 1, 0, 2], [0, 1, 9], (-np.inf, 0)),
        ([1, 1], [0], (-np.inf, np.inf)),
        ([2, 1, 3, 1], [0, 7, 8], (8, np.inf)),
    ],
)
def test_target_interval_is_the_widest_minimum(total, edges, expected):
    errors = make_errors(total, np.zeros(len(total)), edges)
    assert tuple(target_intervals([errors])[0]) == expected


def test_at_reads_the_step_function():
    errors = make_errors([2, 1, 0], [0, 0, 1], [-1.0, 2.0])
    assert [errors.at(value) for value in (-5, -1, 0, 2, 99)] == [
        (2, 0),
        (1, 0),
        (1, 0),
        (0, 1),
        (0, 1),
    ]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([Label(0, 5, "none"), Label(4, 8, "one")], r"S: labels \(0, 5\] and \(4, 8\] overlap"),
        ([Label(20, 30, "none")], r"S: label \(20, 30\] lies outside .* 0 to 9"),
        ([Label(-9, 0, "none")], "S: .* lies outside"),
        ([Label(5, 5, "none")], "S: .* start before it ends"),
        ([Label(np.nan, 5, "none")], "S: .* start before it ends"),
        ([Label(1, 5, "some")], "S: label kind 'some' is not one of none, one, at_least_one"),
        ([Label(1, 5, "one", -1.0)], "S: label weights"),
        ([(1, 5, "one")], "S: labels must be a list of Label"),
    ],
)
def test_bad_labels(labels, message):
    with pytest.raises(ValueError, match=message):
        label_table(labels, np.arange(10.0), name="S")


def test_touching_and_unbounded_labels_are_fine():
    table = label_table([Label(5, np.inf, "none"), Label(-np.inf, 5, "one")], np.arange(10.0))
    np.testing.assert_array_equal(table.start, [-np.inf, 5])


def test_label_frames():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {"sequence": ["b", "a"], "start": [0, 1], "end": [4, 5], "kind": ["none", "one"]}
    )
    first, second, third = labels_by_sequence(frame, ["a", "b", "c"])
    assert label_table(first).start == [1]
    assert label_table(second).start == [0]
    assert label_table(third).start.size == 0
    with pytest.raises(ValueError, match="'b', which is not among"):
        labels_by_sequence(frame, ["a"])
    with pytest.raises(ValueError, match="lacks the column 'kind'"):
        label_table(frame.drop(columns="kind"))
    with pytest.raises(ValueError, match="column 'sequence'"):
        labels_by_sequence(frame.drop(columns="sequence"), ["a"])
    nameless = frame.assign(sequence=["a", None])
    with pytest.raises(ValueError, match="1 of 2 labels have no sequence, the first in row 1"):
        labels_by_sequence(nameless, ["a", "b"])
    with pytest.raises(ValueError, match="2 signals but 1 label"):
        labels_by_sequence([[]], ["a", "b"])


@pytest.mark.parametrize(
    ("low", "high", "fp", "message"),
    [
        ([-np.inf, 1, 1], [1, 2, np.inf], [0, 0, 0], "S: two models begin at the log penalty 1"),
        ([-np.inf, 1], [0, np.inf], [0, 0], "S: the intervals of log penalties must follow"),
        ([0], [np.inf], [0], "S: the intervals .* -inf to inf"),
        ([-np.inf, 2], [2, 1], [0, 0], "S: every interval .* min below max"),
        ([-np.inf, 1], [1, np.inf], [5, 0], "S: fp must lie between 0 and possible_fp=2"),
        ([-np.inf, 1], [1, np.inf], [0], "S: the columns"),
    ],
)
def test_bad_error_tables(low, high, fp, message):
    with pytest.raises(ValueError, match=message):
        LabelErrors.from_table(
            low, high, fp, np.zeros(len(low)), possible_fp=2, possible_fn=2, n_labels=2, name="S"
        )
