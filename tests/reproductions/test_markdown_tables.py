"""The directive of the documentation reads what the tables' writer writes."""

import importlib.util
from pathlib import Path

import pytest

from reproductions.tables import markdown_table, signature

FILE = Path(__file__).parents[2] / "docs" / "_ext" / "pipe_tables.py"
spec = importlib.util.spec_from_file_location("pipe_tables", FILE)
pipe_tables = importlib.util.module_from_spec(spec)
spec.loader.exec_module(pipe_tables)


def test_rows_and_note_are_read_back():
    text = "\n\n".join(
        [
            "# Title",
            markdown_table(["a", "b"], [["x", 1], ["y", 2]]),
            "A `note`.",
            "## Next",
            "|c|d|\n|---|---:|\n|z|3|",
            signature("reproductions letters"),
        ]
    )
    assert pipe_tables.markdown_rows(text) == [["a", "b"], ["x", "1"], ["y", "2"]]
    assert pipe_tables.markdown_rows(text, "|c") == [["c", "d"], ["z", "3"]]
    assert [line for line in pipe_tables.note_lines(text) if line] == ["A `note`."]
    assert pipe_tables.note_lines(text, "|c")[-1].startswith("Written by ")
    with pytest.raises(ValueError, match=r"no table begins with '\| q'"):
        pipe_tables.markdown_rows(text, "| q")
