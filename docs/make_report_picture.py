"""Draw ``docs/_static/report_explorer.png``: the line-search explorer in a real browser.

Needs selenium, Chromium and its driver. Run ``python docs/make_report_picture.py``.
"""

import tempfile
from pathlib import Path

from headless import headless_browser

from aucuba.demo import main

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
        _, explorer = main(Path(folder))
        draw(explorer)
    print(f"Picture: {PICTURE}")
