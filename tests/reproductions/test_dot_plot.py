"""The picture of all cells shows every cell of the studies, and counts as their tables do."""

import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from benchmarks import dot_plot

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def found():
    return dot_plot.panels()


def row_of(study, method, rival):
    text = (dot_plot.RESULTS / f"{study}.md").read_text(encoding="utf-8")
    found = re.search(rf"^\| {method} \| {rival} \| (.*) \|$", text, re.MULTILINE)
    return None if found is None else found[1].split(" | ")


def test_counts_are_those_of_the_table():
    row = row_of("any_model_quality", "stack", "LightGBM")
    paths = [dot_plot.RESULTS / "any_model_quality.csv"]
    cells = dot_plot.compared_cells(paths, "stack", "LightGBM")
    n_cells, mean, _, wins, losses = row[:5]
    assert dot_plot.counts(cells).split("\n")[0] == f"{wins} won, {losses} lost of {n_cells}"
    assert np.mean([cell.gain for cell in cells]) == pytest.approx(float(mean), abs=0.006)


def test_every_cell_is_a_dot_and_losses_stay(found, tmp_path):
    drawn = dot_plot.against_rivals(found)
    assert ("RegionStack", "PartialAUCClassifierCV") in found.keys() - drawn.keys()
    figure = dot_plot.draw(drawn, tmp_path / "cells.png")
    for ax, cells in zip(figure.axes, drawn.values(), strict=True):
        dots = [line for line in ax.lines if len(line.get_xdata()) == 1]
        assert sorted(float(dot.get_xdata()[0]) for dot in dots) == sorted(
            cell.gain for cell in cells
        )
        low, high = ax.get_xlim()
        assert all(low < cell.gain < high for cell in cells)
        hollow = sum(dot.get_markerfacecolor() == "white" for dot in dots)
        assert hollow == sum(not cell.is_clear for cell in cells)
    assert any(cell.gain < 0 for cells in found.values() for cell in cells)
    assert (tmp_path / "cells.png").stat().st_size > 10_000


def test_a_cell_needs_every_split_of_both(tmp_path):
    lines = ["set,split,range,method,pauc,seconds"]
    for split in range(5):
        lines += [f'a,{split},"(0.0, 0.1)",mine,{0.5 + split / 100},1']
        lines += [f'a,{split},"(0.0, 0.1)",other,{0.4 + split / 50},1']
        lines += [f'b,{split},"(0.0, 0.1)",mine,0.5,1']
    lines += ['b,0,"(0.0, 0.1)",other,0.1,1']
    path = tmp_path / "cells.csv"
    path.write_text("\n".join(lines))
    (cell,) = dot_plot.compared_cells([path], "mine", "other")
    assert (cell.name, cell.limits) == ("a", "(0.0, 0.1)")
    assert cell.gain == pytest.approx(8.0)


def test_the_summary_is_that_of_the_cells():
    gains = {"a": (3.0, 5.0), "b": (-2.0, -2.0), "c": (1.0, 0.0), "d": (9.0, 9.0)}
    cells = [
        dot_plot.Cell(name, "(0.0, 0.1)", gain, 0.001 if name in "ab" else 0.5)
        for name, both in gains.items()
        for gain in both
    ]
    row = dot_plot.summary({("mine", "other"): cells}).splitlines()[-1]
    best, worst = "d +9.0; a +4.0; c +0.5", "b -2.0; c +0.5; a +4.0"
    assert row == f"| mine | other | 8 | 2 | 2 | +2.9 | +2.0 | {best} | {worst} |"


def test_the_committed_table_has_every_comparison(found):
    for ours, rival in found:
        assert row_of("dot_plot", ours, rival) is not None


def test_the_picture_is_shown():
    assert dot_plot.PICTURE.is_file()
    assert "docs/_static/two_comparisons.png" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert "_static/all_cells.png" in (ROOT / "docs/how_to_choose.rst").read_text(encoding="utf-8")
