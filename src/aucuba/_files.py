"""Output files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def written_atomically(path: str | Path) -> Iterator[Path]:
    """A temporary path beside ``path`` that takes its place when the block ends well.

    The replacement is one rename within the folder, so a reader sees the old file or the new one,
    and an error or an interrupt leaves nothing behind.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from aucuba._files import written_atomically
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with written_atomically(Path(folder) / "a.txt") as draft:
    ...         _ = draft.write_text("whole")
    ...     [file.name for file in Path(folder).iterdir()]
    ['a.txt']
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise ValueError(f"The folder {path.parent} for {path.name} does not exist; make it first.")
    if path.is_dir():
        raise ValueError(f"{path} is a folder; name a file to write.")
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


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
