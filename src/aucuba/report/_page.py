"""Pages: template, style and script in one file that loads nothing from the network."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from aucuba import __version__
from aucuba._base._files import written_atomically
from aucuba._base._tables import escaped


@dataclass(frozen=True)
class Section:
    """One part of a page: HTML under a title, and the data for the script of the page."""

    key: str
    title: str
    body: str
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Page:
    """A title, a lead sentence, sections, and a verdict at the top in plain words."""

    title: str
    lead: str
    sections: Sequence[Section]
    verdict: str = ""

    def html(self) -> str:
        """Return the whole document."""
        links = "".join(
            f'<a href="#{part.key}">{escaped(part.title)}</a>' for part in self.sections
        )
        body = "".join(
            f'<section id="{part.key}" aria-labelledby="{part.key}-title">'
            f'<h2 id="{part.key}-title">{escaped(part.title)}</h2>{part.body}</section>'
            for part in self.sections
        )
        data = {part.key: part.data for part in self.sections if part.data}
        return filled(
            "page.html",
            title=escaped(self.title),
            verdict=paragraph(self.verdict, "verdict") if self.verdict else "",
            lead=escaped(self.lead),
            links=links,
            body=body,
            version=__version__,
            style=_content("page.css"),
            script=_content("page.js"),
            data=_embedded_json(data),
        )


def filled(template: str, **parts: Any) -> str:
    """Fill in an HTML template of this package."""
    return Template(_content(template)).substitute(parts)


def _content(name: str) -> str:
    return files("aucuba.report").joinpath(name).read_text(encoding="utf-8")


def write_page(page: Page, path: str | Path) -> Path:
    """Write a page; a failure leaves no partial file."""
    with written_atomically(path) as draft:
        draft.write_text(page.html(), encoding="utf-8")
    return Path(path)


def facts(entries: Mapping[str, Any]) -> str:
    """Build a list of names and values."""
    rows = "".join(
        f"<div><dt>{escaped(name)}</dt><dd>{escaped(str(value))}</dd></div>"
        for name, value in entries.items()
    )
    return f'<dl class="facts">{rows}</dl>'


def figures(*pictures: tuple[str, str]) -> str:
    """Arrange pictures with their captions, which may be empty."""
    parts = (
        f"<figure>{svg}{f'<figcaption>{escaped(caption)}</figcaption>' * bool(caption)}</figure>"
        for svg, caption in pictures
    )
    return f'<div class="figures">{"".join(parts)}</div>'


def paragraph(text: str, css: str = "") -> str:
    """Build a paragraph of plain text."""
    mark = f' class="{css}"' if css else ""
    return f"<p{mark}>{escaped(text)}</p>"


def _embedded_json(data: Mapping[str, Any]) -> str:
    """Encode data as JSON that cannot end the script element around it, whatever names it has."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")
