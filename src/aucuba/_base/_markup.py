"""Text of users, such as names of columns and classes, inside HTML."""

from __future__ import annotations

import re
from html import escape

# Control characters, which HTML drops or forbids; marks that turn the text around them, so that an
# interval behind a name would read backwards; halves of characters, which no file can hold.
_UNSHOWN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff"
    "\ud800-\udfff]"
)


def escaped(text: str, *, quote: bool = True) -> str:
    r"""Escape text for HTML, and write characters that a page cannot show by their code.

    Examples
    --------
    >>> from aucuba._base._markup import escaped
    >>> print(escaped("<b>\x00\u202eabc"))
    &lt;b&gt;\u0000\u202eabc
    """
    return escape(_UNSHOWN.sub(lambda found: f"\\u{ord(found[0]):04x}", text), quote=quote)
