"""The directive of the documentation reads what the tables' writer writes."""

import importlib.util
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from reproductions.tables import markdown_table, signature

ROOT = Path(__file__).parents[2]


def extension(name):
    """A module of the documentation, which is no package."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / "_ext" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


pipe_tables = extension("pipe_tables")
results_pages = extension("results_pages")


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


def test_a_results_file_as_a_page():
    table = "| m | n |\n|---|---|\n| `p` | -1 |\n|  | 2 |"
    text = f"# Title_s\n\nOf `a_b` and x * y.\n\n{table}\n\n## Part\n"
    assert results_pages.restructured(text).splitlines() == [
        r"Title\_s",
        "=" * 8,
        "",
        r"Of ``a_b`` and x \* y.",
        "",
        ".. list-table::",
        "   :header-rows: 1",
        "",
        "   * - m",
        "     - n",
        "   * - ``p``",
        "     - -1",
        "   * - ",
        "     - 2",
        "",
        "Part",
        "----",
    ]


def test_every_results_file_becomes_a_page(tmp_path):
    app = SimpleNamespace(srcdir=tmp_path)
    stale = tmp_path / "results" / "benchmarks" / "gone.rst"
    stale.parent.mkdir(parents=True)
    stale.write_text("gone")
    results_pages.write_pages(app)
    for package in ("benchmarks", "reproductions"):
        made = {path.stem for path in (tmp_path / "results" / package).glob("*.rst")}
        assert made == {path.stem for path in (ROOT / package / "results").glob("*.md")}
    page = tmp_path / "results" / "benchmarks" / "any_model_quality.rst"
    before = page.stat().st_mtime_ns
    results_pages.write_pages(app)
    assert page.stat().st_mtime_ns == before
