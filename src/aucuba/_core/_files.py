"""Output files that appear whole or not at all, and never in the place of an input."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def written_atomically(path: str | Path) -> Iterator[Path]:
    """A temporary path beside ``path`` that takes its place when the block ends well.

    The replacement is one rename within the folder, so a reader sees the old file or the new one,
    and an error or an interrupt leaves nothing behind. A link stays a link: the file that it names
    is written. A pipe or a device is never replaced; it gets the finished content.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from aucuba._core._files import written_atomically
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with written_atomically(Path(folder) / "a.txt") as draft:
    ...         _ = draft.write_text("whole")
    ...     [file.name for file in Path(folder).iterdir()]
    ['a.txt']
    """
    path = Path(path)
    if is_stream(path):
        with tempfile.TemporaryDirectory() as folder:
            draft = Path(folder) / "draft"
            yield draft
            with draft.open("rb") as content, path.open("wb") as stream:
                shutil.copyfileobj(content, stream)
        return
    check_place(path)
    path = Path(os.path.realpath(path))
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    except PermissionError:
        raise ValueError(
            f"No permission to write in {path.parent}; choose another folder."
        ) from None
    os.close(handle)
    draft = Path(name)
    try:
        yield draft
        # mkstemp makes private files; the result gets the permissions of any new file.
        draft.chmod(0o666 & ~_umask())
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def is_stream(path: Path) -> bool:
    """Whether there is something at the path that is no file and no folder: a pipe or a device."""
    return path.exists() and not path.is_file() and not path.is_dir()


def check_place(path: Path, *inputs: Path | None) -> None:
    """One error where a file cannot be written, or is an input under whatever name or link."""
    place = Path(os.path.realpath(path))
    if not place.parent.is_dir():
        raise ValueError(
            f"The folder {place.parent} for {path.name} does not exist; make it first."
        )
    if path.is_dir():
        raise ValueError(f"{path} is a folder; name a file to write.")
    for other in inputs:
        if other is not None and other.is_file() and path.is_file() and path.samefile(other):
            raise ValueError(f"--out {path} is the input {other}; choose another name.")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
