"""A headless Chromium for the scripts that take pictures of pages."""

from __future__ import annotations

import importlib.util
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run")


def _chromium() -> str | None:
    return shutil.which("chromium") or shutil.which("google-chrome")


def missing_part() -> str | None:
    """Say what there is no browser without, or None."""
    if importlib.util.find_spec("selenium") is None:
        return "selenium is not installed"
    if _chromium() is None or shutil.which("chromedriver") is None:
        return "Chromium and its driver are not installed (Debian: chromium chromium-driver)"
    return None


@contextmanager
def headless_browser() -> Iterator[Any]:
    """Yield a browser of selenium with a profile of its own."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = _chromium()
    with tempfile.TemporaryDirectory() as profile:
        for flag in (*_FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        service = webdriver.ChromeService(executable_path=shutil.which("chromedriver"))
        browser = webdriver.Chrome(options=options, service=service)
        try:
            yield browser
        finally:
            browser.quit()
