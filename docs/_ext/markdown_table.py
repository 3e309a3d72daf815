"""The directive ``markdown-table``: a table of a results file, so that its numbers cannot drift.

::

    .. markdown-table:: ../benchmarks/results/partial_auc_quality.md
       :after: | method
       :columns: method, cells, wins

shows the first table of the file, or the first one whose header begins with ``after``, whole or some of
its columns.
"""

from __future__ import annotations

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective


def markdown_rows(text: str, after: str = "|") -> list[list[str]]:
    """Header and rows of the first pipe table whose header begins with ``after``."""
    lines = text.splitlines()
    starts = [
        k
        for k, line in enumerate(lines[:-1])
        if line.startswith(after) and lines[k + 1].startswith("|--")
    ]
    if not starts:
        raise ValueError(f"no table begins with {after!r}")
    rows = []
    for line in lines[starts[0] :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip().strip("|").split("|")])
    del rows[1]
    return rows


class MarkdownTable(SphinxDirective):
    """A pipe table as a ``list-table``; single backticks become code."""

    required_arguments = 1
    final_argument_whitespace = True
    option_spec = {"after": directives.unchanged, "columns": directives.unchanged}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        _, path = self.env.relfn2path(self.arguments[0])
        self.env.note_dependency(path)
        with open(path, encoding="utf-8") as file:
            try:
                rows = markdown_rows(file.read(), self.options.get("after", "|"))
            except ValueError as error:
                raise self.error(f"{self.arguments[0]}: {error}") from None
        if "columns" in self.options:
            places = [rows[0].index(name.strip()) for name in self.options["columns"].split(",")]
            rows = [[row[place] for place in places] for row in rows]
        lines = [".. list-table::", "   :header-rows: 1", ""]
        for row in rows:
            for k, cell in enumerate(row):
                text = cell.replace("`", "``")
                lines.append(f"   {'*' if k == 0 else ' '} - {text}".rstrip())
        node = nodes.Element()
        self.state.nested_parse(StringList(lines, source=path), self.content_offset, node)
        return node.children


def setup(app) -> dict[str, bool]:
    app.add_directive("markdown-table", MarkdownTable)
    return {"parallel_read_safe": True}
