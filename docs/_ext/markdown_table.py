"""The directive ``markdown-table``: a table of a results file, so that its numbers cannot drift.

::

    .. markdown-table:: ../benchmarks/results/partial_auc_quality.md
       :after: | method
       :columns: method, cells, wins
       :note:

shows the first table of the file, or the first one whose header begins with ``after``, whole or some of
its columns, and with ``note`` the paragraphs that follow the table, up to the next heading or table.
"""

from __future__ import annotations

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from pipe_tables import markdown_rows, note_lines
from sphinx.util.docutils import SphinxDirective


class MarkdownTable(SphinxDirective):
    """A pipe table as a ``list-table``; single backticks become code."""

    required_arguments = 1
    final_argument_whitespace = True
    option_spec = {  # noqa: RUF012
        "after": directives.unchanged,
        "columns": directives.unchanged,
        "note": directives.flag,
    }

    def run(self) -> list[nodes.Node]:
        _, path = self.env.relfn2path(self.arguments[0])
        self.env.note_dependency(path)
        after = self.options.get("after", "|")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        try:
            rows = markdown_rows(text, after)
        except ValueError as error:
            raise self.error(f"{self.arguments[0]}: {error}") from None
        if "columns" in self.options:
            places = [rows[0].index(name.strip()) for name in self.options["columns"].split(",")]
            rows = [[row[place] for place in places] for row in rows]
        lines = [".. list-table::", "   :header-rows: 1", ""]
        for row in rows:
            for k, cell in enumerate(row):
                content = cell.replace("`", "``")
                lines.append(f"   {'*' if k == 0 else ' '} - {content}".rstrip())
        if "note" in self.options:
            lines += ["", *(line.replace("`", "``") for line in note_lines(text, after))]
        node = nodes.Element()
        self.state.nested_parse(StringList(lines, source=path), self.content_offset, node)
        return node.children


def setup(app) -> dict[str, bool]:
    app.add_directive("markdown-table", MarkdownTable)
    return {"parallel_read_safe": True}
