"""Check that every link inside the built documentation leads somewhere, without network.

    python docs/check_links.py docs/_build/html [--without-gallery]

Pages, anchors, pictures, styles and scripts; addresses on other hosts are left alone. Prints what is
broken, and exits with 1 if anything is.
"""

from __future__ import annotations

import argparse
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_LINKS = {"a": "href", "link": "href", "img": "src", "script": "src", "source": "src"}


class Page(HTMLParser):
    """Anchors that a page has, and where its links lead."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.anchors |= {value for name in ("id", "name") if (value := given.get(name))}
        target = given.get(_LINKS.get(tag, ""))
        if target:
            self.links.append(target)


def broken_links(folder: Path, *, with_gallery: bool = True) -> list[str]:
    """Describe every link to a file or an anchor that is not there.

    Without the gallery, pictures that its examples would have drawn are not asked for.
    """
    listed = (path for path in sorted(folder.rglob("*.html")) if "_static" not in path.parts)
    pages = {path.resolve(): Page(path) for path in listed}
    if not pages:
        raise ValueError(f"There is no html page below {folder}; build the documentation first.")
    problems = []
    for path, page in pages.items():
        for link in dict.fromkeys(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            where = f"{path.relative_to(folder.resolve())}: {link}"
            if not with_gallery and target.name.startswith("sphx_glr_"):
                continue
            if not target.is_file():
                problems.append(f"{where} (no such file)")
            elif target in pages and parts.fragment:
                known = pages[target].anchors
                problems += [f"{where} (no such place)"] * (unquote(parts.fragment) not in known)
    return problems


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--without-gallery", action="store_true", help="the examples of the gallery were not run"
    )
    words = parser.parse_args()
    found = broken_links(words.folder, with_gallery=not words.without_gallery)
    print("\n".join(found) or "Every link leads somewhere.")
    sys.exit(bool(found))
