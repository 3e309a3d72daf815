"""The checker of the documentation's links, and what continuous integration keeps of the pages."""

import importlib.util
import inspect
import itertools
import re
import sys
import textwrap
from pathlib import Path

import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

import aucuba.objectives
from aucuba import PartialAUCClassifierCV
from aucuba.demo import two_kinds_of_fraud
from aucuba.metrics import make_metric_scorer

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def broken_links():
    spec = importlib.util.spec_from_file_location("check_links", ROOT / "docs" / "check_links.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.broken_links


def site(folder, **pages):
    for name, body in pages.items():
        (folder / f"{name}.html").write_text(f"<html><body>{body}</body></html>")
    return folder


def test_links_that_lead_somewhere(tmp_path, broken_links):
    (tmp_path / "picture.png").write_bytes(b"")
    site(
        tmp_path,
        index='<a href="other.html#there">a</a> <a href="#here" id="here">b</a> <a href="#">c</a>'
        '<img src="picture.png?v=1"> <a href="https://example.org/x">d</a>',
        other='<h1 id="there">x</h1> <a href="index.html">e</a> <a href="mailto:a@b.c">f</a>',
    )
    assert broken_links(tmp_path) == []


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ('<a href="gone.html">a</a>', "index.html: gone.html (no such file)"),
        ('<a href="#gone">a</a>', "index.html: #gone (no such place)"),
        ('<a href="index.html#gone">a</a>', "index.html: index.html#gone (no such place)"),
        ('<img src="gone.png">', "index.html: gone.png (no such file)"),
        ('<script src="gone.js"></script>', "index.html: gone.js (no such file)"),
        ('<link rel="icon" href="gone.svg">', "index.html: gone.svg (no such file)"),
    ],
)
def test_links_that_lead_nowhere(tmp_path, broken_links, body, problem):
    assert broken_links(site(tmp_path, index=body)) == [problem]


def test_pictures_of_examples_that_were_not_run(tmp_path, broken_links):
    site(tmp_path, index='<img src="images/sphx_glr_plot_a_001.png"> <img src="images/b.png">')
    assert broken_links(tmp_path, with_gallery=False) == ["index.html: images/b.png (no such file)"]
    assert len(broken_links(tmp_path)) == 2


def test_a_folder_without_pages_is_an_error(tmp_path, broken_links):
    with pytest.raises(ValueError, match="no html page below"):
        broken_links(tmp_path)


def test_fenced_output_of_a_result_stays_as_it_is():
    spec = importlib.util.spec_from_file_location(
        "results_pages", ROOT / "docs" / "_ext" / "results_pages.py"
    )
    sys.path.insert(0, str(ROOT / "docs" / "_ext"))
    try:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.pop(0)
    text = "# A\n\nA *star*:\n\n```\n== 2 passed ==\n# a_b | c\n```\n\nMore.\n"
    assert module.restructured(text).splitlines() == [
        *("A", "=", "", "A \\*star\\*:", "", ".. code-block:: text", ""),
        *("   == 2 passed ==", "   # a_b | c", "", "", "More."),
    ]


@pytest.mark.parametrize("name", ["PartialAUCLoss", "AUMLoss"])
def test_the_reference_lists_the_parameters_of_the_losses(name):
    pytest.importorskip("torch")
    text = (ROOT / "docs" / "api" / "objectives.rst").read_text(encoding="utf-8")
    entry = text.partition(f".. py:class:: {name}(")[2].partition(".. py:class::")[0]
    signature = inspect.signature(getattr(aucuba.objectives, name))
    assert re.findall(r":param (\w+):", entry) == list(signature.parameters)
    shown = " ".join(entry.partition(")\n")[0].replace("\\", " ").split())
    for one in signature.parameters.values():
        default = f'"{one.default}"' if isinstance(one.default, str) else one.default
        assert f"{one.name}={default}" in shown


def test_pages_install_from_a_checkout():
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.rst"), *(ROOT / "docs/guides").glob("*")]
    named = [path.name for path in pages if "aucuba[" in path.read_text(encoding="utf-8")]
    assert named == []


def test_continuous_integration_checks_links_and_keeps_pictures():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert makefile.count("python docs/check_links.py") == 2
    assert "make screenshots" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    taken, kept = workflow.index("docs/make_screenshots.py"), workflow.index("name: screenshots")
    assert taken < kept


def test_the_lines_of_the_landing_page_print_what_they_say(capsys):
    text = (ROOT / "docs" / "index.rst").read_text(encoding="utf-8")
    lines = text.partition(".. code-block:: python\n")[2].splitlines()
    block = itertools.takewhile(lambda line: not line or line[:3] == "   ", lines)
    code = textwrap.dedent("\n".join(block))
    exec(code, {})
    logistic, ours, promise = capsys.readouterr().out.splitlines()
    assert (f"{float(logistic):.2f}", f"{float(ours):.2f}") == ("0.10", "0.28")
    assert "# 0.10, then 0.28" in code
    assert "at most 0.01, with confidence 0.95" in promise


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"])
def test_links_of_the_front_pages_lead_to_files(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    linked = re.findall(r"\]\((?!https?:|mailto:|#)([^)#]+)[^)]*\)", text)
    assert [one for one in linked if not (ROOT / one).exists()] == []
    assert linked or name != "README.md"


def test_numbers_in_the_text_of_the_readme():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    X, X_new, y, y_new = two_kinds_of_fraud()
    boosting = HistGradientBoostingClassifier(max_depth=3, random_state=0).fit(X, y)
    found = make_metric_scorer("partial_auc", fpr_range=(0.0, 0.01))(boosting, X_new, y_new)
    assert f"depth 3, reaches {found:.2f}" in text
    linear = (LogisticRegression(), PartialAUCClassifierCV((0.0, 0.01), random_state=0))
    auc = [roc_auc_score(y_new, model.fit(X, y).decision_function(X_new)) for model in linear]
    assert "(AUC {:.2f} against {:.2f})".format(*auc) in text
