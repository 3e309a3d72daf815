"""Reports with hostile names of columns, classes, signals and graphs, in every section.

A case builds a page twice, with plain names and with hostile ones, and reads both as a browser does. It
is wrong where a name changes anything but text: another element or attribute, data that JSON does not
read, a character that turns text around or that no page may hold.
"""

import json
import warnings
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from aucuba import (
    AlertBudgetClassifier,
    AUMClassifier,
    FalseDiscoverySelector,
    FixedFPRClassifier,
    PartialAUCClassifier,
    PartialAUCClassifierCV,
    RegionReweighted,
    RegionScorecard,
    RegionStack,
    TriageClassifier,
    explain_rows,
)
from aucuba.changepoint import Label, SupervisedChangepointDetector
from aucuba.report import ScoredSample, changepoint_report, classifier_report, ranking_report
from aucuba.structured import RankingGraph, StructuredRanker
from aucuba.threshold import PromiseLedger

pd = pytest.importorskip("pandas")

NAMES = [
    *("<script>alert(1)</script>", "</style>", "</script><script>alert(1)//", "</title>", "<!--"),
    *('"', "'", '" onload="alert(1)', "' onfocus='x", "&amp;", "&lt;b&gt;", "&#0;", "&", "<", ">"),
    *("\u202e123 ,45", "\u2066a", "\u200fb", "\x00", "a\x00b", "\x1b[31m", "\x7f", "\x85", "-->"),
    *("$title", "${body}", "$$", "$", "%s", "{0}", "]]>", "<![CDATA[", "javascript:alert(1)"),
    *("x" * 10_000, "<" * 500, "𝒂", "é", "עברית", "\u2028", "</svg>", "<svg/onload=alert(1)>"),
    *("\ud800", "\uffff", "\\u003c", "\n", ""),
]
KINDS = (
    *("linear", "cv", "aum", "fixed", "alerts", "reweighted", "stack", "changes", "graphs"),
    *("selector", "triage", "segments", "ledger", "card", "reasons"),
)
FORBIDDEN = set("\x00\x0b\u202e\u2066\u200f\x1b\x7f\x85\uffff\ud800")


class Reader(HTMLParser):
    """Elements with their attributes, texts, and the data for the script."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.elements, self.data, self.inside = [], "", []

    def handle_starttag(self, tag, attrs):
        # Words for readers of the screen may hold a name.
        shown = [(name, value) for name, value in attrs if name not in ("aria-label", "data-name")]
        self.elements.append((tag, *shown))
        self.inside.append(dict(attrs).get("id"))

    def handle_endtag(self, tag):
        self.elements.append(("/", tag))
        if self.inside:
            self.inside.pop()

    def handle_data(self, text):
        if self.inside and self.inside[-1] == "page-data":
            self.data += text

    def handle_comment(self, text):
        self.elements.append(("comment", text))


def read(page) -> Reader:
    """Read a page as it is written: in UTF-8."""
    reader = Reader()
    reader.feed(page.html().encode("utf-8").decode("utf-8"))
    reader.close()
    return reader


def check_page(seed: int) -> None:
    rng = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)]
    hostile = rng.permutation(np.array(NAMES, dtype=object)).tolist()
    build = {"changes": _changes, "graphs": _graphs, "segments": _segments, "ledger": _ledger,
             "card": _card, "reasons": _reasons}.get(kind, _classifier)  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = _fitted(kind)
        plain = read(build(model, [f"name {place}" for place in range(len(NAMES))]))
        page = build(model, hostile)
        found = read(page)
    text = page.html()
    bad = sorted(FORBIDDEN & set(text))
    assert not bad, f"forbidden characters {bad!r}"
    assert [one[0] for one in found.elements] == [one[0] for one in plain.elements], "elements"
    for one, other in zip(found.elements, plain.elements, strict=True):
        assert _attributes(one) == _attributes(other), "attributes"
    if plain.data:
        assert json.loads(found.data).keys() == json.loads(plain.data).keys()


def _attributes(element):
    return [part[0] for part in element[1:] if isinstance(part, tuple)]


_KNOWN: dict = {}


def _fitted(kind):
    """A fitted model of a kind, and its rows; made once."""
    if kind not in _KNOWN:
        _KNOWN[kind] = _fit(kind)
    return _KNOWN[kind]


def _fit(kind):
    rng = np.random.default_rng(0)
    if kind == "changes":
        signals = [np.repeat([0, 5 * (k % 2)], 20) + rng.normal(size=40) for k in range(8)]
        labels = [[Label(10, 30, "one" if k % 2 else "none")] for k in range(8)]
        detector = SupervisedChangepointDetector(5, cv=2, random_state=0).fit(signals, labels)
        return detector, signals, labels
    if kind == "graphs":
        labels = [np.arange(12) < 4] * 4
        path = [[i, i + 1] for i in range(11)]
        graphs = [RankingGraph(y[:, None] + rng.normal(size=(12, 1)), path) for y in labels]
        return StructuredRanker(C=10).fit(graphs, labels), graphs, labels
    X = rng.normal(size=(160, 4))
    y = (X[:, 0] + rng.normal(size=160) > 0.3).astype(int)
    scaled = make_pipeline(StandardScaler(), LogisticRegression())
    if kind in ("card", "reasons"):
        # Names of columns and categories are those of training.
        return kind, X, y
    model = {
        "linear": lambda: PartialAUCClassifier((0.0, 0.3)),
        "segments": lambda: PartialAUCClassifier((0.0, 0.3)),
        "selector": lambda: FalseDiscoverySelector(scaled, 0.3, random_state=0),
        "triage": lambda: TriageClassifier(scaled, 0.3, 0.3, random_state=0),
        "ledger": lambda: FixedFPRClassifier(scaled, 0.3, random_state=0),
        "cv": lambda: PartialAUCClassifierCV((0.0, 0.3), cv=2, random_state=0),
        "aum": lambda: AUMClassifier(max_iter=20, random_state=0),
        "fixed": lambda: FixedFPRClassifier(scaled, [0.2, 0.4], random_state=0),
        "alerts": lambda: AlertBudgetClassifier(scaled, 0.3, random_state=0),
        "reweighted": lambda: RegionReweighted(scaled, (0.0, 0.3), cv=2, random_state=0),
        "stack": lambda: RegionStack(
            (0.0, 0.3), estimators=["linear", ("logistic", scaled)], cv=2, random_state=0
        ),
    }[kind]()
    return model.fit(X, y), X, y


def _segments(fitted, names):
    by = np.array(names[9:12], dtype=object)[np.arange(len(fitted[2])) % 3]
    return _classifier(fitted, names, by=by)


def _ledger(fitted, names):
    """A ledger from a file whose texts somebody changed."""
    model, X, y = fitted
    ledger = PromiseLedger()
    ledger.calibrate(model, X, y, time=np.datetime64("2026-01-01") + np.arange(len(y)) // 2)
    stored = json.loads(ledger.to_json())
    stored["entries"][0] |= {"promise": names[9], "model_hash": names[10], names[11]: names[12]}
    return _classifier(fitted, names, ledger=PromiseLedger.from_json(json.dumps(stored)))


def _named(fitted, names):
    """Rows of numbers and a category, all by these names; pandas holds no halves of characters."""
    _, X, y = fitted
    names = [name for name in names if name != "\ud800"]
    frame = pd.DataFrame(X[:, :3])
    frame["category"] = np.array(names[9:12], dtype=object)[(X[:, 3] > 0).astype(int) + y]
    frame.columns = pd.Index(names[:4], dtype=object)
    return frame, y


def _card(fitted, names):
    frame, y = _named(fitted, names)
    model = RegionScorecard((0.0, 0.3), max_items=3, cv=2, random_state=0).fit(frame, y)
    sample = ScoredSample(y, model.decision_function(frame))
    return classifier_report(model, sample, X=frame, title=names[4], labels=(names[5], names[6]))


def _reasons(fitted, names):
    frame, y = _named(fitted, names)
    model = RegionStack((0.0, 0.3), estimators=["linear"], cv=2, random_state=0).fit(frame, y)
    sample = ScoredSample(y, model.decision_function(frame))
    said = explain_rows(model, frame[:3], background=frame[3:30], n_walks=4)
    return classifier_report(
        model, sample, X=frame, reasons=(range(3), said), labels=(names[5], names[6])
    )


def _classifier(fitted, names, **options):
    model, X, y = fitted
    rows = X.copy()
    rows[::7, 0] = np.nan
    frame = pd.DataFrame(rows)
    frame.columns = pd.Index(names[:4], dtype=object)
    sample = ScoredSample(y, model.decision_function(X), baseline=X[:, 0])
    return classifier_report(
        model,
        sample,
        fpr_range=(0.0, 0.3),
        X=X,
        table=frame,
        feature_names=names[:4],
        title=names[4],
        labels=(names[5], names[6]),
        baseline_name=names[7],
        note=f"a {names[8]}",
        **options,
    )


def _changes(fitted, names):
    detector, signals, labels = fitted
    named = dict(zip(names, signals, strict=False))
    return changepoint_report(
        detector, named, dict(zip(names, labels, strict=False)), title=names[-1]
    )


def _graphs(fitted, names):
    ranker, graphs, labels = fitted
    return ranking_report(
        ranker,
        graphs,
        labels,
        title=names[0],
        node_names=names[1:2],
        graph_names=names[2:6],
    )
