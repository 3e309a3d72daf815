"""The page "What was reproduced" has every experiment and every table and figure of the papers."""

import re
from pathlib import Path

import pytest

from reproductions.__main__ import names
from reproductions.experiment import RESULTS

PAGE = Path(__file__).parents[2] / "docs" / "reproduced.rst"
TEXT = PAGE.read_text(encoding="utf-8")
PARTS = {
    "Narasimhan": [
        "Figures 1 and 2",
        "Table 1 and Figure 3",
        "Figure 4",
        "Algorithm 1",
        "Algorithm 2",
    ]
    + [f"Table {k}" for k in range(2, 6)],
    "Rosenfeld": ["Figure 1", "Figure 2", "Table 1 (top)", "Table 1 (bottom)", "Section 5"],
    "Fowler": [f"Figure {k}" for k in (1, 2, 5, 6)] + ["Figures 3 and 4", "Theorems 1 and 2"],
}


@pytest.mark.parametrize("name", names())
def test_every_experiment_is_indexed_and_shown(name):
    assert f"``{name}``" in TEXT
    assert f"reproductions/results/{name}.md" in TEXT
    if (RESULTS / f"{name}.png").exists():
        assert f"reproductions/results/{name}.png" in TEXT


def test_every_file_named_exists():
    for file in re.findall(r"reproductions/results/[\w.]+", TEXT):
        assert (RESULTS.parents[1] / file).exists(), file


def list_table(heading):
    """Cells of the first list-table after a heading, row by row, without its header."""
    body = TEXT.partition(f"\n{heading}\n---")[2].partition(".. list-table::")[2]
    body = re.split(r"\n\n(?=\S)", body)[0]
    rows = re.split(r"\n   \* - ", body)[2:]
    return [[" ".join(cell.split()) for cell in re.split(r"\n     -", row)] for row in rows]


OVERVIEW = list_table("All experiments")


def test_the_overview_has_every_experiment():
    assert all(len(row) == 6 for row in OVERVIEW)
    shown = {name for row in OVERVIEW for name in re.findall(r"``(\w+)``", row[4])}
    assert shown == set(names())
    verdicts = ("hold", "cannot be decided here", "no statement", "significant", "ahead")
    assert all(any(word in row[3] for word in verdicts) for row in OVERVIEW)
    for name in names():
        minutes = [row[5] for row in OVERVIEW if f"``{name}``" in row[4] and row[5]]
        assert len(minutes) == 1
        assert float(minutes[0]) >= 0


@pytest.mark.parametrize("row", OVERVIEW, ids=lambda row: row[0][:40])
def test_numbers_of_the_overview_stand_in_their_tables(row):
    tables = "".join(
        (RESULTS / f"{name}.md").read_text(encoding="utf-8")
        for name in re.findall(r"``(\w+)``", row[4])
    )
    for number in re.findall(r"[-+]?\d+\.\d+", row[2]):
        assert re.search(rf"(?<![\d.]){re.escape(number)}(?!\d)", tables), number


def test_what_is_not_as_in_the_papers_is_counted():
    rows = list_table("What is not as in the papers")
    assert len(rows) == 18
    assert all(len(row) == 2 and row[1].endswith(".") for row in rows)
    intro = " ".join(TEXT.partition("What is not as in the papers")[2][:400].split())
    assert "85 algorithms" in intro
    assert "67 are here as printed. The other 18" in intro


@pytest.mark.parametrize("paper", PARTS)
def test_every_part_of_a_paper_is_in_its_index(paper):
    index = TEXT.partition("\nIndex\n")[2]
    section = next(part for part in re.split(r"\n\^{20,}\n", index)[1:] if part.strip())
    for heading, body in zip(
        re.findall(r"\n([^\n]+)\n\^{20,}\n", index),
        re.split(r"\n[^\n]+\n\^{20,}\n", index)[1:],
        strict=True,
    ):
        if heading.startswith(paper):
            section = body
            break
    missing = [part for part in PARTS[paper] if part not in section]
    assert not missing
