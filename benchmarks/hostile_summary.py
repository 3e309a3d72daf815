"""One page of all hostile searches: cases tried and wrong per area, and the worst cells of the studies.

Run with ``python -m benchmarks hostile_summary`` after the others: it reads their committed pages.
"""

from __future__ import annotations

import re
from pathlib import Path

from reproductions.tables import markdown_table, read_signature, write_signed

RESULTS = Path(__file__).parent / "results"
RESULT = RESULTS / "hostile_summary.md"
AREAS = {
    "hostile_numbers": "partial AUC, certificates of convex fits, files of tables",
    "hostile_metrics": "weights over 24 decades, sketches, intervals",
    "hostile_searches": "line searches, segmentations, texts of monitors, killed workers",
    "hostile_structured": "rankings of graphs",
    "hostile_surfaces": "interrupts, SQL, ONNX, reports, unseen categories, a service",
    "hostile_model_files": "damaged and forged model files",
}


def tables(page: str) -> list[list[list[str]]]:
    """All tables of a committed page, each with its header."""
    found: list[list[list[str]]] = [[]]
    for line in (RESULTS / f"{page}.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("|"):
            cells = [one.strip() for one in line.split("|")[1:-1]]
            if not set(line) <= set("|-: "):
                found[-1].append(cells)
        elif found[-1]:
            found.append([])
    return [one for one in found if one]


def number(text: str) -> float:
    """The first number of a cell."""
    found = re.search(r"[-+]?[\d,]*\.?\d+", text)
    assert found is not None, text
    return float(found[0].replace(",", ""))


def counts(page: str) -> tuple[int, int]:
    """Cases tried and wrong; a last row of all counts alone."""
    header, *rows = next(one for one in tables(page) if "tried" in one[0])
    rows = [row for row in rows if row[0] == "all"] or rows
    tried, wrong = header.index("tried"), header.index("wrong")
    return sum(int(number(row[tried])) for row in rows), sum(
        int(number(row[wrong])) for row in rows
    )


def date(page: str) -> str:
    """When the page was made."""
    signature = read_signature((RESULTS / f"{page}.md").read_text(encoding="utf-8"))
    assert signature is not None, page
    return signature["date"]


def worst_coverage() -> list[str]:
    """The lowest coverage without a warning, within the populations of the rule and outside."""
    found: dict[bool, tuple[float, str]] = {}
    for header, *rows in tables("interval_coverage"):
        kind = re.fullmatch(r"([\d,]+ \+ [\d,]+, \w+)", header[0])
        for row in rows if kind else ():
            for shift, cell in zip(header[1:], row[1:], strict=True):
                if cell and "†" not in cell:
                    outside = header[0].endswith(("wide", "misses"))
                    name = f"{row[0]} of {header[0]}, distance {shift.split()[0]}"
                    found[outside] = min(found.get(outside, (101.0, "")), (number(cell), name))
    (within, where), (outside, beyond) = found[False], found[True]
    return [
        f"Coverage of 95 % intervals without a warning, at least 92.5: {within:.1f} % ({where}).",
        f"The same in two populations outside the rule: {outside:.1f} % ({beyond}).",
    ]


def worst_row(page: str, column: str, words: str, unit: str = " %") -> str:
    """The row of a table with the largest number in a column."""
    header, *rows = next(one for one in tables(page) if column in one[0])
    place = header.index(column)
    row = max(rows, key=lambda one: abs(number(one[place])))
    labels = [one for one in row[: place - 1] if not re.fullmatch(r"[\d,.]+ ?%?", one)]
    return f"{words}: {row[place].removesuffix(' %')}{unit} ({', '.join(labels)})."


def main() -> None:
    """Read the pages and write the table."""
    shown, totals = [], [0, 0]
    for page, words in AREAS.items():
        found = counts(page)
        totals = [a + b for a, b in zip(totals, found, strict=True)]
        shown.append([words, f"`{page}.md`", f"{found[0]:,}", f"{found[1]:,}", date(page)])
    shown.append(["all", "", *(f"{one:,}" for one in totals), ""])
    worst = [
        *worst_coverage(),
        worst_row(
            "interval_tests", "rejected at 5 % (%)", "Tests on groups that reject, at most 7"
        ),
        worst_row("interval_tests", "gap", "Plans against simulated studies, within 10"),
        worst_row("hostile_surfaces", "broken (%)", "Promises by `time=` that break, about 10"),
    ]
    lines = "\n".join(f"- {one}" for one in worst)
    text = f"""# Hostile cases: all areas

Every area has generators of random cases, each from its own seed, in `tests/hostile`; a few hundred run
as tests, the numbers below in one run each. Wrong is what the page of the area says.

{markdown_table(["area", "page", "tried", "wrong", "date"], shown)}

The worst cells of the studies that count frequencies, not faults:

{lines}
"""
    write_signed(RESULT, text, "benchmarks hostile_summary")


if __name__ == "__main__":
    main()
