"""Metadata that depends on where the project is published: links and the README of the package index.

The addresses stand once, in ``[tool.hatch.metadata.hooks.custom]`` of ``pyproject.toml``. While they
are empty, README goes out with its relative links, which lead nowhere outside a checkout, and
``make release-check`` says so. ``python hatch_build.py`` prints what is still to be filled in.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

try:
    from hatchling.metadata.plugin.interface import MetadataHookInterface
except ModuleNotFoundError:  # `make release-check` and the tests need only the functions
    MetadataHookInterface = object

ROOT = Path(__file__).parent
ADDRESSES = {
    "repository": "address of the repository, such as https://host/owner/aucuba",
    "documentation": "address of the published documentation, one folder per version below it",
    "contact": "e-mail address for reports to the maintainers (code of conduct, security)",
}
# ](target) or ](target "title") of Markdown, pictures included, whose target has no scheme.
_LINK = re.compile(r"(?P<picture>!?)(?P<text>\[[^\]]*\])\((?P<path>(?![a-z]+:|#)[^)\s]+)\)")
_PICTURES = {".png", ".svg", ".jpg", ".gif"}


def addresses() -> dict[str, str]:
    """Read the addresses of the project; empty where none is known yet."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    found = project["tool"]["hatch"]["metadata"]["hooks"]["custom"]
    return {name: found[name].rstrip("/") for name in ADDRESSES}


def absolute_links(text: str, known: dict[str, str], version: str) -> str:
    """Make the relative links of a Markdown text absolute, as far as addresses are known.

    Pages of the documentation lead to its built form, pictures to the raw file, everything else to
    the file in the repository, all of this version.
    """
    tag = f"v{version}"

    def absolute(link: re.Match[str]) -> str:
        path, _, place = link["path"].partition("#")
        source = Path(path)
        if source.parts[0] == "docs" and source.suffix == ".rst" and known["documentation"]:
            page = Path(*source.parts[1:]).with_suffix(".html").as_posix()
            target = f"{known['documentation']}/{tag}/{page}"
        elif known["repository"]:
            kind = "raw" if source.suffix in _PICTURES else "blob"
            target = f"{known['repository']}/{kind}/{tag}/{path}"
        else:
            return link[0]
        return f"{link['picture']}{link['text']}({target}{'#' * bool(place)}{place})"

    return _LINK.sub(absolute, text)


def project_urls(known: dict[str, str], version: str) -> dict[str, str]:
    """Return the links that the package index shows beside the package."""
    urls = {}
    if known["repository"]:
        urls["Repository"] = known["repository"]
        urls["Changelog"] = f"{known['repository']}/blob/v{version}/CHANGELOG.md"
        urls["Issues"] = f"{known['repository']}/issues"
    if known["documentation"]:
        urls["Documentation"] = known["documentation"]
    return urls


class CustomMetadataHook(MetadataHookInterface):
    """Called by hatchling for every build."""

    def update(self, metadata: dict[str, Any]) -> None:
        known, version = addresses(), metadata["version"]
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        text = absolute_links(text, known, version)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
        metadata["urls"] = project_urls(known, version)


def main() -> int:
    """Print the addresses that are missing; return how many."""
    missing = [name for name, value in addresses().items() if not value]
    for name in missing:
        sys.stderr.write(f"pyproject.toml: {name} is empty ({ADDRESSES[name]})\n")
    if missing:
        sys.stderr.write(
            "The package can be built but not published: fill these in under "
            "[tool.hatch.metadata.hooks.custom].\n"
        )
    return len(missing)


if __name__ == "__main__":
    sys.exit(main() > 0)
