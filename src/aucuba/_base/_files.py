"""Output files that appear whole or not at all and never replace an input; damaged text."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:
    # Windows has other locks.
    fcntl = None  # type: ignore[assignment]


class Written:
    """What a program has written so far; see `noting_what_is_written`."""

    def __init__(self) -> None:
        self._moves: list[tuple[Path, int]] = []
        self._streams: list[str] = []

    def will_move(self, draft: Path, path: Path) -> None:
        """Note a draft that is about to replace a file, unless it is interrupted."""
        self._moves.append((path, draft.stat().st_ino))

    def to_stream(self, name: str) -> None:
        """Note a pipe, device or stdout, which may have received only a part."""
        self._streams.append(name)

    def __str__(self) -> str:
        """Return the end of a message: what was written; nothing else was."""
        done = [str(path) for path, number in self._moves if _number_of(path) == number]
        said = (
            [f"{' and '.join(done)} {'was' if len(done) == 1 else 'were'} written"] if done else []
        )
        said += [f"what {name} got may be incomplete" for name in self._streams]
        return ", ".join(said) or "nothing was written"


_noted: ContextVar[Written | None] = ContextVar("noted", default=None)


@contextmanager
def noting_what_is_written() -> Iterator[Written]:
    """Yield a record of the files that the block writes, exact at any moment."""
    written = Written()
    token = _noted.set(written)
    try:
        yield written
    finally:
        _noted.reset(token)


def note_stream(name: str) -> None:
    """Note that a program begins to write to a pipe, a device or stdout."""
    written = _noted.get()
    if written is not None:
        written.to_stream(name)


@contextmanager
def written_atomically(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside ``path`` that replaces it if the block ends without an error.

    The replacement is one rename within the folder, after the content is on the disk, so a reader sees
    either the old or the new file, even after a power failure; an error or an interrupt leaves nothing
    behind. A replaced file keeps its permissions, and its owner if the system allows it. A link stays a
    link, and its target is written. A pipe or a device is never replaced; it gets the finished content.

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
            note_stream(str(path))
            with errors_naming(path), draft.open("rb") as content, path.open("wb") as stream:
                shutil.copyfileobj(content, stream)
        return
    check_place(path)
    given, path, written = path, Path(os.path.realpath(path)), _noted.get()
    # Named before it is made, so that an interrupt at any moment finds it.
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    try:
        _make(draft)
        with errors_naming(path, draft):
            yield draft
            _take_permissions(draft, path)
            _sync(draft)
            if written is not None:
                written.will_move(draft, given)
            os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)
    if os.name == "posix":
        # Elsewhere a folder cannot be opened, and a rename needs no sync.
        _sync(path.parent)


@contextmanager
def only_writer(path: Path) -> Iterator[None]:
    """Wait until no other process is in a block of this kind for a file of the same folder.

    A program that reads a file, changes the content and replaces the file takes the lock before it
    reads. The lock is on the folder, since the file itself is replaced, and ends with the process. On
    file systems and operating systems without such locks there is none.
    """
    if fcntl is None:
        yield
        return
    handle = os.open(Path(os.path.realpath(path)).parent, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


@contextmanager
def errors_naming(path: Path, draft: Path | None = None) -> Iterator[None]:
    """Name the path in system errors, such as a full disk, that name no file or the draft."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename not in (None, str(draft)):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def is_stream(path: Path) -> bool:
    """Return whether the path is a pipe or a device: neither a file nor a folder."""
    return path.exists() and not path.is_file() and not path.is_dir()


def check_place(path: Path, *inputs: Path | None) -> None:
    """Raise an error if a file cannot be written, or is one of the inputs under any name or link."""
    place = Path(os.path.realpath(path))
    if not place.parent.is_dir():
        raise ValueError(
            f"The folder {place.parent} for {path.name} does not exist; create it first."
        )
    if path.is_dir():
        raise ValueError(f"{path} is a folder; name a file to write.")
    for other in inputs:
        if other is not None and other.is_file() and path.is_file() and path.samefile(other):
            raise ValueError(
                f"The output {path} is the input {other}, which would be lost; choose another name."
            )


def _make(draft: Path) -> None:
    """Make an empty file that nobody else may read or write yet."""
    try:
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except PermissionError:
        raise ValueError(
            f"No permission to write in {draft.parent}; choose another folder."
        ) from None


def _number_of(path: Path) -> int | None:
    """Return the number of the file's inode, or None if there is no file."""
    try:
        return path.stat().st_ino
    except OSError:
        return None


def _take_permissions(draft: Path, path: Path) -> None:
    """Give the draft the mode and owner of the file it replaces, or the mode of a new file."""
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
def reading_json(text: str | bytes, mark: str, name: str) -> Iterator[dict[str, Any]]:
    """Yield the content of a text of format 1; turn every error that damage causes into one.

    ``mark`` is the key of the format's number, ``name`` the class whose ``to_json`` wrote the text.
    nan and infinity, which JSON lacks but Python's reader accepts, are damage too.
    """
    try:
        content = json.loads(text, parse_constant=_refuse_constant)
        if content.pop(mark) != 1:
            raise ValueError("another format")
        yield content
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


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} in place of a number")
