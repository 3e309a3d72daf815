"""Sphinx configuration; ``make docs`` builds with warnings as errors and without network."""

import importlib.metadata
import importlib.util
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "aucuba"
author = "The aucuba developers"
copyright = "The aucuba developers"
release = importlib.metadata.version("aucuba")
version = release

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "markdown_table",
    "results_pages",
]
# Ships MathJax with the pages, so that formulas are drawn without network; from the CDN without it.
if importlib.util.find_spec("sphinx-mathjax-offline"):
    extensions.append("sphinx-mathjax-offline")
templates_path = ["_templates"]
exclude_patterns = ["_build", "gallery/**/*.py", "gallery/**/*.ipynb"]

# Single backticks in docstrings name objects of the library.
default_role = "py:obj"
# Named, since a build that goes on from an earlier one would miss the entries of new pages.
autosummary_generate = [str(page) for page in Path(__file__).parent.glob("api/*.rst")]
autodoc_typehints = "none"
# Optional packages that some modules import; their pages need only the docstrings.
autodoc_mock_imports = [
    name for name in ("cupy", "dask", "torch") if not importlib.util.find_spec(name)
]
# Signatures show the names of types as written, not the unions behind them.
autodoc_type_aliases = {"ArrayLike": "ArrayLike"}
numpydoc_show_class_members = False
# The bibliography also lists works that no page cites.
suppress_warnings = ["ref.citation"]
# Every name in backticks must lead somewhere; scikit-learn's pages are out of reach without network.
nitpicky = True
nitpick_ignore_regex = [("py:obj", r"(sklearn\..*)|StandardScaler|CalibratedClassifierCV")]

sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"/plot_",
    "subsection_order": [
        f"../examples/{name}"
        for name in ("metrics", "partial_auc", "any_model", "threshold", "aum", "structured")
    ]
    + ["*"],
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "doc_module": ("aucuba",),
    "backreferences_dir": "api/generated/backreferences",
    "show_memory": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "aucuba"
html_static_path = ["_static"]
html_logo = "_static/logo.svg"
html_favicon = "_static/favicon.svg"
html_theme_options = {
    "logo": {"text": "aucuba", "alt_text": "aucuba"},
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "header_links_before_dropdown": 5,
    "navbar_persistent": ["search-button"],
}
html_css_files = ["aucuba.css"]
# Pages without pages below them would show an empty navigation of their section.
html_sidebars = {
    page: []
    for page in (
        "index",
        "quickstart",
        "how_to_choose",
        "anatomy",
        "reproduced",
        "results",
        "faq",
        "glossary",
        "bibliography",
    )
}
html_show_sourcelink = False


def skip_members_of_others(app, what, name, member, skip, options):
    """Leave out methods inherited from scikit-learn or the standard library."""
    home = getattr(member, "__module__", None) or "aucuba"
    return None if home.startswith("aucuba") else True


def by_last_name(app, env, node, contnode):
    """Lead ``AUMClassifier`` or ``aucuba.linear.AUMClassifier`` to ``aucuba.AUMClassifier``.

    Only where one documented object has that last name.
    """
    if node.get("refdomain") != "py":
        return None
    domain = env.get_domain("py")
    last = "." + node["reftarget"].rpartition(".")[2]
    found = [
        name for name, one in domain.objects.items() if name.endswith(last) and not one.aliased
    ]
    if len(found) != 1:
        return None
    return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", found[0], node, contnode)


def setup(app):
    app.connect("autodoc-skip-member", skip_members_of_others)
    app.connect("missing-reference", by_last_name)
