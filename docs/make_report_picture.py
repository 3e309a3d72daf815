"""Draw ``docs/_static/report_explorer.png``: the line-search explorer in a real browser.

Needs selenium, Chromium and its driver. Run ``python docs/make_report_picture.py``.
"""

import tempfile
from pathlib import Path

from headless import headless_browser

from aucuba import AUMClassifier
from aucuba.demo import FPR_RANGE, two_kinds_of_fraud
from aucuba.report import ScoredSample, classifier_report, write_page

PICTURE = Path(__file__).parent / "_static" / "report_explorer.png"


def draw(page: Path) -> None:
    with headless_browser() as browser:
        size = {"width": 900, "height": 5000, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        browser.get(page.resolve().as_uri())
        browser.execute_script("document.getElementById('ls-least').click()")
        browser.find_element("id", "linesearch").screenshot(str(PICTURE))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        X, X_new, y, y_new = two_kinds_of_fraud()
        model = AUMClassifier(max_iter=200, tol=1e-2).fit(X, y)
        sample = ScoredSample.from_models(model, X_new, y_new)
        page = classifier_report(model, sample, fpr_range=FPR_RANGE, X=X_new)
        draw(write_page(page, Path(folder) / "explorer.html"))
    print(f"Picture: {PICTURE}")
