"""Lay the built documentation of a version beside those of earlier ones.

    python docs/publish_pages.py docs/_build/html PAGES v0.1.0

``PAGES/v0.1.0/`` then holds the pages, ``PAGES/index.html`` leads to the newest version that is no
pre-release (to the newest of all while there is none), and ``PAGES/versions.json`` lists all.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from packaging.version import Version

PAGE = """<!doctype html>
<meta charset="utf-8">
<title>aucuba</title>
<meta http-equiv="refresh" content="0; url={newest}/index.html">
<a href="{newest}/index.html">Documentation of aucuba {newest}</a>
"""


def publish(built: Path, pages: Path, name: str) -> str:
    """Copy the pages of a version and return the version that the front page leads to."""
    if not (built / "index.html").is_file():
        raise SystemExit(f"{built} has no index.html: run `make docs` first.")
    Version(name)
    shutil.rmtree(pages / name, ignore_errors=True)
    shutil.copytree(built, pages / name)
    # Pages of folders that begin with an underscore are left out otherwise.
    (pages / ".nojekyll").touch()
    folders = [path.name for path in pages.glob("v[0-9]*") if path.is_dir()]
    known = sorted(folders, key=Version, reverse=True)
    newest = next((one for one in known if not Version(one).is_prerelease), known[0])
    (pages / "versions.json").write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    (pages / "index.html").write_text(PAGE.format(newest=newest), encoding="utf-8")
    return newest


if __name__ == "__main__":
    print(publish(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]))
