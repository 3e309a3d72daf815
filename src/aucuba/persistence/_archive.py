"""A model file on disk: a zip archive of a header, a schema and arrays."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aucuba.persistence._errors import DamagedFileError

FORMAT = 1
HEADER, SCHEMA = "aucuba.json", "schema.json"


def packed(entries: Mapping[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    """Put entries into an archive."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in entries.items():
            # Of a fixed date, so that equal models are equal files.
            archive.writestr(zipfile.ZipInfo(name), content, compression)
    return buffer.getvalue()


def unpacked(archive: zipfile.ZipFile) -> dict[str, bytes]:
    """Read all entries, each of its own name and with the right checksum."""
    entries: dict[str, bytes] = {}
    for name in archive.namelist():
        if name in entries or not name.isprintable():
            raise DamagedFileError(f"an entry of the name {name!a}")
        try:
            entries[name] = archive.read(name)
        # Unpacking fails in as many ways as there are ways to damage an archive.
        except Exception:
            raise DamagedFileError(f"in {name}") from None
    return entries


def check_size(archive: zipfile.ZipFile, path: str | os.PathLike[str], max_size: int) -> None:
    """Refuse an archive that would unpack to more than ``max_size`` bytes."""
    size = sum(entry.file_size for entry in archive.infolist())
    if size > max_size:
        raise ValueError(
            f"{path} unpacks to {size / 1e6:.0f} MB, more than the limit of {max_size / 1e6:.0f} MB. "
            "If you know where it comes from, load it in Python with "
            f"load_model(path, max_size={size})."
        )


def read_header(content: bytes) -> dict[str, Any]:
    """Read the header of a model file, and check its keys and types."""
    given = json.loads(content)
    header = {"format": given["format"], "metadata": {}, "versions": {}, "labels": None, **given}
    tables = header["metadata"], header["versions"]
    if type(header["format"]) is not int or header["format"] < 1:
        raise DamagedFileError("no format")
    if not all(isinstance(one, dict) for one in tables):
        raise DamagedFileError("no metadata")
    labels = header["labels"]
    if labels is not None and [type(one) for one in labels] not in ([str] * 2, [int] * 2):
        raise DamagedFileError("no labels")
    if not all(str(text).isprintable() for text in header["versions"].values()):
        raise DamagedFileError("no versions")
    return header


def check_format(header: Mapping[str, Any], path: Path, version: str) -> None:
    """Refuse files of a newer format than this release reads."""
    wanted, writer = header["format"], header["versions"].get("aucuba", "an unknown release")
    if wanted > FORMAT:
        raise ValueError(
            f"{path} was written by aucuba {writer} in format {wanted}; this is aucuba {version}, "
            f"which reads format {FORMAT}. Upgrade aucuba."
        )
