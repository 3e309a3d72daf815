"""No eight lines of code stand twice in the library.

Run as a script, ``python tests/test_twins.py [N]`` lists all pairs of N equal lines or more.
"""

import ast
import io
import sys
import tokenize
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "aucuba"
FEWEST = 8


def left_out(tree):
    """Lines of docstrings, imports, signatures and calls that hand a signature on to the base."""
    for node in ast.walk(tree):
        is_handed_on = isinstance(node, ast.Call) and ast.unparse(node.func) == "super().__init__"
        if is_handed_on or isinstance(node, ast.Import | ast.ImportFrom):
            yield from range(node.lineno, node.end_lineno + 1)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
            first = node.body[0] if node.body else None
            if not isinstance(node, ast.Module):
                start = min([node.lineno, *(one.lineno for one in node.decorator_list)])
                yield from range(start, first.lineno)
            is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
            if is_text and isinstance(first.value.value, str):
                yield from range(first.lineno, first.end_lineno + 1)


def code_lines(source):
    """(number, text) of the lines of code, comments and spaces removed."""
    skipped = set(left_out(ast.parse(source)))
    kept = defaultdict(list)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENDMARKER):
            continue
        if token.string.strip() and token.start[0] not in skipped:
            kept[token.start[0]].append(token.string)
    lines = [(number, " ".join(parts)) for number, parts in sorted(kept.items())]
    # The methods of a protocol have no code.
    return [(number, text) for number, text in lines if text != "..."]


def twins(sources, fewest=FEWEST):
    """Pairs of places (name, first line) that begin a run of so many equal lines of code."""
    seen = {}
    for name, source in sources.items():
        lines = code_lines(source)
        for start in range(len(lines) - fewest + 1):
            window = tuple(text for _, text in lines[start : start + fewest])
            place = (name, lines[start][0])
            if window in seen:
                yield seen[window], place
            else:
                seen[window] = place


def library():
    return {
        str(path.relative_to(PACKAGE)): path.read_text(encoding="utf-8")
        for path in sorted(PACKAGE.rglob("*.py"))
    }


def test_no_code_stands_twice():
    assert list(twins(library())) == []


def test_twins_are_found_through_comments_docstrings_and_spaces():
    body = [f"    x = step({k})" for k in range(FEWEST)]
    one = "def a(x):\n" + "\n".join(body) + "\n    return x\n"
    two = 'def b(\n    x,\n):\n    """Differ."""\n' + "\n    # why\n\n".join(body) + "\n"
    assert list(twins({"one": one, "two": two})) == [(("one", 2), ("two", 5))]
    assert list(twins({"one": one, "two": two.replace("step(5)", "step( 6 )")})) == []


if __name__ == "__main__":
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else FEWEST
    for (name, line), (other, place) in twins(library(), wanted):
        sys.stdout.write(f"{name}:{line} ~ {other}:{place}\n")
