"""What the pictures show."""

from __future__ import annotations

import numpy as np
import pytest

from aucuba.changepoint import ChangepointDisplay, Label, SupervisedChangepointDetector

pytest.importorskip("matplotlib").use("Agg")

SIGNAL = np.repeat([0.0, 4.0, 0.0], 10) + np.tile([0.1, -0.1], 15)
LABELS = [Label(2, 8, "at_least_one"), Label(8, 12, "one"), Label(15, 25, "none")]


@pytest.fixture(autouse=True)
def close_figures():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def colors(display):
    from matplotlib.colors import to_hex

    return [to_hex(patch.get_facecolor()) for patch in display.label_patches_]


def test_colours_tell_the_kind_of_error():
    display = ChangepointDisplay.from_changepoints(SIGNAL, [10, 20], LABELS)
    assert colors(display) == ["#377eb8", "#4daf4a", "#e41a1c"]
    legend = {text.get_text() for text in display.ax_.get_legend().get_texts()}
    assert legend == {"correct", "false positive", "false negative"}
    assert [mark[2:] for mark in display.label_marks()] == [
        ("≥1", "false negative"),
        ("1", "correct"),
        ("0", "false positive"),
    ]
    edges = [line.get_xdata()[0] for line in display.change_lines_]
    assert edges == [9.5, 19.5]


def test_mean_line_has_the_segment_means():
    display = ChangepointDisplay.from_changepoints(SIGNAL, [10, 20])
    height = display.mean_line_.get_ydata()
    assert np.isnan(height).sum() == 3
    np.testing.assert_allclose(np.unique(height[np.isfinite(height)].round(9)), [0, 4])
    assert display.label_patches_ == []


def test_penalty_selects_what_is_drawn():
    few = ChangepointDisplay.from_penalty(SIGNAL, 20.0, LABELS)
    right = ChangepointDisplay.from_penalty(SIGNAL, 2.0, LABELS)
    assert few.changepoints.size == 0
    np.testing.assert_array_equal(right.changepoints, [10, 20])
    ax = right.plot_errors()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "false positives",
        "false negatives",
        "chosen penalty",
    ]
    values = ax.patches[1].get_data().values
    np.testing.assert_allclose(values - 0.03, right.errors.fn[::-1])


def test_detector_and_positions():
    rng = np.random.default_rng(0)
    signals = [
        np.repeat([0.0, 9.0 * s * (k % 2)], 15) + s * rng.normal(size=30)
        for k, s in enumerate(rng.uniform(0.1, 3, 12))
    ]
    labels = [[Label(5, 25, "one" if k % 2 else "none")] for k in range(12)]
    model = SupervisedChangepointDetector(4, random_state=0).fit(signals, labels)
    display = ChangepointDisplay.from_detector(model, signals[1], labels[1])
    np.testing.assert_array_equal(display.changepoints, model.predict([signals[1]])[0])
    far = ChangepointDisplay.from_changepoints(SIGNAL, [10], positions=100 + np.arange(30.0))
    assert far.change_lines_[0].get_xdata()[0] == 109.5


def test_errors_need_labels():
    with pytest.raises(ValueError, match="with labels"):
        ChangepointDisplay.from_penalty(SIGNAL, 0.0).plot_errors()
