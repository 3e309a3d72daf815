"""Take pictures of the documentation and of a report, for a person to look at.

    python docs/make_screenshots.py docs/_build/html artefacts

The landing page, a guide and a report, 1300 and 390 pixels wide, light and dark. Exits with 1 if a page
is wider than its window. Says so and takes none where Chromium, its driver or selenium is missing.
"""

from __future__ import annotations

import argparse
import base64
import itertools
import sys
import tempfile
from pathlib import Path
from typing import Any

from headless import headless_browser, missing_part

WIDTHS = (1300, 390)
SCHEMES = ("light", "dark")
# Enough of a page to judge it; a guide is many screens long.
MOST_PIXELS = 3000


def write_report(folder: Path) -> Path:
    """Write the report of a model on the rows of the demo."""
    from sklearn.linear_model import LogisticRegression

    from aucuba import PartialAUCClassifierCV
    from aucuba.demo import FPR_RANGE, two_kinds_of_fraud
    from aucuba.report import ScoredSample, classifier_report, write_page

    X, X_new, y, y_new = two_kinds_of_fraud()
    model = PartialAUCClassifierCV(FPR_RANGE, random_state=0).fit(X, y)
    sample = ScoredSample.from_models(model, X_new, y_new, LogisticRegression().fit(X, y))
    title = "PartialAUCClassifierCV on two kinds of fraud"
    page = classifier_report(model, sample, fpr_range=FPR_RANGE, X=X_new, title=title)
    return write_page(page, folder / "report.html")


def take(browser: Any, page: Path, width: int, scheme: str, picture: Path) -> str | None:
    """Save one picture; return what is wrong with the page, if anything."""
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    feature = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": feature})
    browser.get(page.resolve().as_uri())
    wide, high = browser.execute_script(
        "const page = document.documentElement; return [page.scrollWidth, page.scrollHeight]"
    )
    clip = {"x": 0, "y": 0, "width": width, "height": min(high, MOST_PIXELS), "scale": 1}
    options = {"clip": clip, "captureBeyondViewport": True}
    shot = browser.execute_cdp_cmd("Page.captureScreenshot", options)
    picture.write_bytes(base64.b64decode(shot["data"]))
    return f"{picture.stem}: {wide} pixels wide in a window of {width}" if wide > width else None


def main(built: Path, out: Path) -> list[str]:
    """Take every picture; return the problems."""
    out.mkdir(parents=True, exist_ok=True)
    problems = []
    with tempfile.TemporaryDirectory() as folder, headless_browser() as browser:
        pages = {
            "landing": built / "index.html",
            "guide": built / "guides" / "operating_points.html",
            "report": write_report(Path(folder)),
        }
        for (name, page), width, scheme in itertools.product(pages.items(), WIDTHS, SCHEMES):
            picture = out / f"{name}_{width}_{scheme}.png"
            problems.append(take(browser, page, width, scheme, picture))
    return [problem for problem in problems if problem]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("built", type=Path, help="folder of the built pages")
    parser.add_argument("out", type=Path, help="folder of the pictures")
    words = parser.parse_args()
    reason = missing_part()
    if reason is not None:
        print(f"No screenshots: {reason}.")
        sys.exit(0)
    found = main(words.built, words.out)
    print("\n".join(found) or f"Screenshots: {words.out}")
    sys.exit(bool(found))
