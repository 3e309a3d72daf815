"""Citations stand in three places; the BibTeX entries of `aucuba.citation` are the source."""

import re
from pathlib import Path

import pytest

import aucuba

ROOT = Path(__file__).parents[1]
ACCENTS = {r"{\v{e}}": "ě", r"{\"o}": "ö", r"{\`e}": "è"}


def plain(text):
    """A BibTeX field as a reader sees it."""
    for code, letter in ACCENTS.items():
        text = text.replace(code, letter)
    return " ".join(re.sub(r"[{}]", "", text).split())


def field(entry, name):
    return plain(re.search(rf"^  {name} = \{{(.*?)\}},$", entry, re.MULTILINE | re.DOTALL)[1])


def facts(entry):
    """Title, authors as (family, given) and year."""
    authors = tuple(tuple(one.split(", ")) for one in field(entry, "author").split(" and "))
    return field(entry, "title"), authors, field(entry, "year")


ENTRIES = aucuba.citation().split("\n\n")


def test_the_three_papers_behind_the_library_are_named():
    names = {re.match(r"@\w+\{(\w+),", entry)[1] for entry in ENTRIES}
    assert {"narasimhan2013structural", "rosenfeld2014learning", "fowler2024efficient"} <= names


def test_the_citation_file_lists_the_same_works():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8").partition("references:\n")[2]
    listed = set()
    for block in re.split(r"^  - type: ", text, flags=re.MULTILINE)[1:]:
        title = re.search(r"^    title: (.+)$", block, re.MULTILINE)[1]
        authors = re.findall(r"family-names: (.+)\n        given-names: (.+)", block)
        year = re.search(r"^    year: (\d+)$", block, re.MULTILINE)[1]
        listed.add((title, tuple(authors), year))
    assert listed == {facts(entry) for entry in ENTRIES}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: re.match(r"@\w+\{(\w+)", entry)[1])
def test_the_bibliography_has_every_work(entry):
    text = (ROOT / "docs" / "bibliography.rst").read_text(encoding="utf-8")
    works = [" ".join(work.split()) for work in re.split(r"^\.\. \[", text, flags=re.MULTILINE)]
    title, authors, year = facts(entry)
    work = next((work for work in works if f" {title}. " in work), None)
    assert work is not None, f"docs/bibliography.rst lacks {title!r}"
    assert year in work
    ascii_only = str.maketrans("ěöè", "eoe")
    for family, given in authors:
        assert f"{given[0]}. " in work
        assert re.search(rf"\b{family.translate(ascii_only)}\b", work.translate(ascii_only))
