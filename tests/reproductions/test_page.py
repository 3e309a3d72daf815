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
