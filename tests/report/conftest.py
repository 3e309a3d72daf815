"""A real browser for the report tests, and a folder for its screenshots."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from aucuba.report import ScoredSample

_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """Headless Chromium; skips where it, its driver or selenium is missing."""
    webdriver = pytest.importorskip("selenium.webdriver")
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("Chromium and its driver are not installed (Debian: chromium chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (*_FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    session = webdriver.Chrome(
        options=options, service=webdriver.ChromeService(executable_path=driver)
    )
    yield session
    session.quit()


@pytest.fixture(scope="session")
def screenshots(tmp_path_factory):
    """Where pictures of the pages go: ``$AUCUBA_ARTEFACTS``, else a temporary folder."""
    chosen = os.environ.get("AUCUBA_ARTEFACTS")
    folder = Path(chosen) if chosen else tmp_path_factory.mktemp("screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def table():
    """300 rows, a fifth positive."""
    return make_classification(
        300, n_features=8, n_informative=4, weights=[0.8], flip_y=0.1, random_state=0
    )


@pytest.fixture(scope="session")
def scored(table):
    """Scores of a model with those of logistic regression."""

    def make(model, **rest):
        X, y = table
        baseline = LogisticRegression().fit(X, y).decision_function(X)
        score = np.asarray(model.decision_function(X))
        return ScoredSample(y, score, baseline, **rest)

    return make
