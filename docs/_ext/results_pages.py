"""Pages of all committed result tables, and links to them.

Before a build, every ``results/*.md`` of ``benchmarks`` and ``reproductions`` becomes a page below
``docs/results`` (not committed), and every ``benchmarks/results/name.md`` in code quotes, on any page,
becomes a link to it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from pipe_tables import RULE

ROOT = Path(__file__).parents[2]
PACKAGES = ("benchmarks", "reproductions")
_NAMED = re.compile(rf"({'|'.join(PACKAGES)})/results/(\w+)\.md")
_UNDERLINES = {"#": "=", "##": "-", "###": "^"}


def restructured(text: str) -> str:
    """Translate headings, paragraphs, lists, pipe tables and fenced output of Markdown."""
    lines = text.splitlines()
    found: list[str] = []
    is_output = False
    for place, line in enumerate(lines):
        mark, _, title = line.partition(" ")
        if line.startswith("```"):
            is_output = not is_output
            found += [".. code-block:: text", ""] if is_output else [""]
        elif is_output:
            found.append(f"   {line}".rstrip())
        elif mark in _UNDERLINES:
            found += [_prose(title), _UNDERLINES[mark] * len(_prose(title))]
        elif line.startswith("|"):
            if place + 1 < len(lines) and RULE.match(lines[place + 1]):
                found += [".. list-table::", "   :header-rows: 1", ""]
            if not RULE.match(line):
                cells = [_prose(cell.strip()) for cell in line.strip().strip("|").split("|")]
                starts = ["   * -", *["     -"] * (len(cells) - 1)]
                found += [f"{start} {cell}" for start, cell in zip(starts, cells, strict=True)]
        else:
            found.append(_prose(line))
    return "\n".join(found) + "\n"


def _prose(line: str) -> str:
    """Double the quotes of code, and escape what only reStructuredText takes for markup."""
    parts = line.split("`")
    return "".join(
        f"``{part}``" if k % 2 else re.sub(r"([\\*_|])", r"\\\1", part)
        for k, part in enumerate(parts)
    )


def write_pages(app: Any) -> None:
    """Write the pages of all tables, those that have changed."""
    for package in PACKAGES:
        folder = Path(app.srcdir) / "results" / package
        folder.mkdir(parents=True, exist_ok=True)
        tables = {path.stem: path for path in (ROOT / package / "results").glob("*.md")}
        for page in folder.glob("*.rst"):
            if page.stem not in tables:
                page.unlink()
        for name, path in tables.items():
            page, text = folder / f"{name}.rst", restructured(path.read_text(encoding="utf-8"))
            if not page.exists() or page.read_text(encoding="utf-8") != text:
                page.write_text(text, encoding="utf-8")


def link_tables(app: Any, doctree: Any) -> None:
    """Make a link of every table that a page names."""
    from docutils import nodes
    from sphinx import addnodes

    for literal in list(doctree.findall(nodes.literal)):
        named = _NAMED.fullmatch(literal.astext())
        if named and not isinstance(literal.parent, nodes.reference | addnodes.pending_xref):
            target = f"/results/{named[1]}/{named[2]}"
            wanted = {"refdomain": "std", "reftype": "doc", "reftarget": target}
            link = addnodes.pending_xref(
                "", refexplicit=True, refwarn=True, refdoc=app.env.docname, **wanted
            )
            literal.replace_self(link)
            link += literal


def setup(app: Any) -> dict[str, bool]:
    app.connect("builder-inited", write_pages)
    app.connect("doctree-read", link_tables)
    return {"parallel_read_safe": True}
