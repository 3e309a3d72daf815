"""Pictures without matplotlib: Displays say what to install, pages are complete."""

import sys

import numpy as np
import pytest

from aucuba import PartialAUCClassifier
from aucuba.aum import ErrorFunctions, line_search_path
from aucuba.changepoint import ChangepointDisplay, Label, SupervisedChangepointDetector
from aucuba.metrics import PredictiveValueDisplay, RocRegionDisplay
from aucuba.report import ScoredSample, changepoint_report, classifier_report
from aucuba.threshold import GuaranteedRocDisplay, RateMonitor

Y = np.repeat([0, 1], [60, 20])
SCORE = np.random.default_rng(0).normal(size=80) + Y


def draw_path():
    line_search_path(ErrorFunctions.from_labels(Y), SCORE, -SCORE).plot()


def draw_monitor():
    monitor = RateMonitor(0.1)
    monitor.update(SCORE > 2, Y)
    monitor.plot()


DRAWINGS = {
    "changepoints": lambda: ChangepointDisplay.from_changepoints(SCORE, [60]),
    "line search": draw_path,
    "monitor": draw_monitor,
    "predictive values": lambda: PredictiveValueDisplay.from_predictions(Y, SCORE, threshold=0.0),
    "promised curve": lambda: GuaranteedRocDisplay.from_predictions(Y, SCORE),
    "region": lambda: RocRegionDisplay.from_predictions(Y, SCORE),
}


@pytest.fixture
def no_matplotlib(monkeypatch):
    for name in ("matplotlib", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.usefixtures("no_matplotlib")
@pytest.mark.parametrize("name", DRAWINGS)
def test_displays_name_what_to_install(name):
    with pytest.raises(ImportError, match="pip install matplotlib"):
        DRAWINGS[name]()


@pytest.mark.usefixtures("no_matplotlib")
def test_pages_need_no_matplotlib():
    X = np.column_stack([SCORE, Y + SCORE[::-1]])
    model = PartialAUCClassifier((0.0, 0.2)).fit(X, Y)
    html = classifier_report(model, ScoredSample.from_models(model, X, Y)).html()
    assert html.count('class="curve model"') >= 2
    rng = np.random.default_rng(0)
    signals = [np.repeat([0, 5 * (k % 2)], 20) + rng.normal(size=40) for k in range(12)]
    labels = [[Label(10, 30, "one" if k % 2 else "none")] for k in range(12)]
    detector = SupervisedChangepointDetector(5, cv=2, random_state=0).fit(signals, labels)
    assert changepoint_report(detector, signals, labels).html().count('class="mean"') == 12
