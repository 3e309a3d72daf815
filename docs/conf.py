"""Sphinx configuration; ``make docs`` builds with warnings as errors and without network."""

import importlib.metadata
from pathlib import Path

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
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "gallery/**/*.py", "gallery/**/*.ipynb"]

# Single backticks in docstrings name objects of the library.
default_role = "py:obj"
# Named, since a build that goes on from an earlier one would miss the entries of new pages.
autosummary_generate = [str(page) for page in Path(__file__).parent.glob("api/*.rst")]
autodoc_typehints = "none"
# Signatures show the names of types as written, not the unions behind them.
autodoc_type_aliases = {"ArrayLike": "ArrayLike"}
numpydoc_show_class_members = False
# The bibliography also lists works that no page cites.
suppress_warnings = ["ref.citation"]

sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"/plot_",
    "subsection_order": ["../examples/metrics", "*"],
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "doc_module": ("aucuba",),
    "backreferences_dir": "api/generated/backreferences",
    "reference_url": {"aucuba": None},
    "show_memory": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "aucuba"
html_static_path = ["_static"]
html_theme_options = {
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "header_links_before_dropdown": 6,
}
html_show_sourcelink = False


def skip_members_of_others(app, what, name, member, skip, options):
    """Leave out methods inherited from scikit-learn or the standard library."""
    home = getattr(member, "__module__", None) or "aucuba"
    return None if home.startswith("aucuba") else True


def setup(app):
    app.connect("autodoc-skip-member", skip_members_of_others)
