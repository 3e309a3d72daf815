"""Output files that appear whole or not at all, never in the place of an input; damaged text."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def written_atomically(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside ``path`` that takes its place when the block ends well.

    The replacement is one rename within the folder, of content that is on the disk, so a reader sees
    the old file or the new one, also after a loss of power; an error or an interrupt leaves nothing
    behind. A file that is replaced keeps its permissions, and its owner where the system allows it. A
    link stays a link: the file that it names is written. A pipe or a device is never replaced; it gets
    the finished content.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from aucuba._base._files import written_atomically
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
            with errors_naming(path), draft.open("rb") as content, path.open("wb") as stream:
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
        with errors_naming(path, draft):
            yield draft
            _take_permissions(draft, path)
            _sync(draft)
            os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)
    if os.name == "posix":
        # Elsewhere a folder cannot be opened, and a rename needs no sync.
        _sync(path.parent)


@contextmanager
def errors_naming(path: Path, draft: Path | None = None) -> Iterator[None]:
    """Name the path in errors of the system, such as a full disk, that name no file or the draft."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename not in (None, str(draft)):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def is_stream(path: Path) -> bool:
    """Tell whether the path is a pipe or a device: something that is no file and no folder."""
    return path.exists() and not path.is_file() and not path.is_dir()


def check_place(path: Path, *inputs: Path | None) -> None:
    """Raise an error if a file cannot be written, or is an input under whatever name or link."""
    place = Path(os.path.realpath(path))
    if not place.parent.is_dir():
        raise ValueError(
            f"The folder {place.parent} for {path.name} does not exist; make it first."
        )
    if path.is_dir():
        raise ValueError(f"{path} is a folder; name a file to write.")
    for other in inputs:
        if other is not None and other.is_file() and path.is_file() and path.samefile(other):
            raise ValueError(
                f"The output {path} is the input {other}, which would be lost; choose another name."
            )


def _take_permissions(draft: Path, path: Path) -> None:
    """Give the draft mode and owner of the file it replaces, or the mode of any new file."""
    try:
        old = path.stat()
    except FileNotFoundError:
        draft.chmod(0o666 & ~_umask())
        return
    if os.name == "posix":
        # Only a superuser may give a file away; others may set a group of their own.
        for owner, group in ((-1, old.st_gid), (old.st_uid, -1)):
            with suppress(PermissionError):
                os.chown(draft, owner, group)
    draft.chmod(stat.S_IMODE(old.st_mode))


def _sync(path: Path) -> None:
    """Wait until the content of a file or folder is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


@contextmanager
def reading_text_of(name: str) -> Iterator[None]:
    """Turn whatever damaged JSON text provokes into one error that names its class."""
    try:
        yield
    except (
        AttributeError,
        IndexError,
        KeyError,
        OverflowError,
        RecursionError,
        TypeError,
        ValueError,
    ) as error:
        raise ValueError(f"This is not the text of {name}.to_json: {error}.") from error
