"""The report of a binary classifier."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from aucuba._base._estimator import positive_scores
from aucuba._base._tables import count_text, html_table, p_text
from aucuba._base._typing import ArrayLike, IntArray
from aucuba._base._validation import check_fpr_range, check_length
from aucuba._roc._flagged import promised_rate
from aucuba._roc._prevalence import target_range
from aucuba.ensemble import RowReasons
from aucuba.linear import AUMClassifier
from aucuba.report._decisions import decision_section
from aucuba.report._ledger import ledger_section
from aucuba.report._line_search import line_search_section
from aucuba.report._models import model_sections, promise_section
from aucuba.report._page import Page, Section, facts, paragraph
from aucuba.report._roc import operating_point_section, roc_section, verdict_on
from aucuba.report._scored_sample import (
    ScoredSample,
    positive_index,
    region_measures,
    score_sign,
)
from aucuba.report._statistics import benefit_section, precision_section, segment_section
from aucuba.threshold import PromiseLedger

_MOST_COLUMNS = 20
_KINDS = {"b": "yes or no", "i": "number", "u": "number", "f": "number", "M": "date"}


def classifier_report(
    model: Any,
    sample: ScoredSample,
    *,
    fpr_range: tuple[float, float] = (0.0, 0.05),
    X: Any = None,
    table: Any = None,
    feature_names: Sequence[str] | None = None,
    title: str = "Classifier",
    labels: tuple[str, str] | None = None,
    baseline_name: str = "logistic regression",
    random_state: Any = 0,
    note: str = "",
    reasons: tuple[Sequence[int], RowReasons] | None = None,
    by: ArrayLike | None = None,
    target_prevalence: Any = None,
    ledger: PromiseLedger | None = None,
) -> Page:
    """Build the report page of one model on one labelled sample.

    Parameters
    ----------
    model : estimator
        A fitted classifier of this library, or a pipeline that ends in one.
    sample : ScoredSample
        Labels with the scores of the model and, if there is one, of a baseline. The scores are the
        model's ``decision_function``, negated if its ``pos_label_`` is the first class;
        `ScoredSample.from_models` computes them.
    fpr_range : (float, float), default=(0.0, 0.05)
        The region.
    X : array, sparse matrix or DataFrame, default=None
        The input of the model's ``decision_function``, for the kinds of columns, missing values, the
        net benefit of a model with ``predict_proba`` and the line-search explorer of an
        `aucuba.AUMClassifier`.
    table : DataFrame or array, default=None
        The rows before preprocessing, if X is preprocessed.
    feature_names : sequence of str, default=None
        Names of the columns of ``X``.
    title : str
        Heading of the page.
    labels : (str, str), default=None
        Names of the negative and the positive class; by default the labels of the sample.
    baseline_name : str
        Name of the baseline.
    random_state : int, RandomState instance or None, default=0
        Seed of the bootstrap.
    note : str, default=""
        A remark about the rows, such as how they differ from those of training.
    reasons : (sequence of int, RowReasons), default=None
        Indices of some rows of the sample, and what `aucuba.explain_rows` returned for them.
    by : array-like of shape (n_rows,), default=None
        Segment of each row: the page then has the region in every segment.
    target_prevalence : float or pair of float, default=None
        Share of positives at which precision and flagged rows are shown, as in
        `aucuba.metrics.rates_at_threshold`; None takes that of the sample.
    ledger : PromiseLedger, default=None
        The record of the model's calibrations, drawn over time.

    Returns
    -------
    Page
        Write it with `write_page`, or take its ``html()``.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from aucuba import PartialAUCClassifier
    >>> from aucuba.report import ScoredSample, classifier_report
    >>> X, y = make_classification(300, random_state=0)
    >>> model = PartialAUCClassifier((0.0, 0.2)).fit(X, y)
    >>> page = classifier_report(model, ScoredSample(y, model.decision_function(X)))
    >>> [section.title for section in page.sections][3:]
    ['Operating points', 'Precision and gains', 'Coefficients', 'Training']
    """
    low, high = check_fpr_range(fpr_range)
    _check_names(model, feature_names)
    names = (type(model).__name__, baseline_name)
    promise, decisions = promised_rate(model) is not None, decision_section(model, sample, X)
    target = None if target_prevalence is None else target_range(target_prevalence)
    raw = X if table is None else table
    sections = [data_section(sample, labels or sample.labels, raw, feature_names, note)]
    if promise:
        sections.append(promise_section(model, sample, target))
    if decisions is not None:
        sections.append(decisions)
    if ledger is not None:
        sections.append(ledger_section(ledger))
    sections += [
        roc_section(sample, (low, high), names),
        _region_section(sample, (low, high), names, random_state),
        operating_point_section(
            model, sample, (low, high), promise or decisions is not None, target
        ),
        precision_section(sample, names, random_state),
        *_benefit(model, sample, X),
        *([] if by is None else [segment_section(sample, (low, high), by, random_state)]),
        *([] if reasons is None else [reason_section(sample, labels, *reasons)]),
        *model_sections(model, feature_names, score_sign(model)),
    ]
    if isinstance(model, AUMClassifier) and X is not None:
        sections.append(line_search_section(model, sample, X, random_state))
    lead = f"{names[0]}, measured at false positive rates from {low:g} to {high:g}."
    positive = (labels or sample.labels)[1]
    verdict = _verdict(sample, high, positive, baseline_name) + verdict_on(model, sample)
    return Page(title, lead, sections, verdict)


def _benefit(model: Any, sample: ScoredSample, X: Any) -> list[Section]:
    """Show the net benefit of a model that gives probabilities of the rows."""
    if X is None or not hasattr(model, "predict_proba"):
        return []
    found, known = positive_scores(model, X, positive_index(model), "predict_proba")
    return [benefit_section(sample, found)] if known else []


def _verdict(sample: ScoredSample, fpr: float, positive: str, baseline_name: str) -> str:
    """Return a sentence on what the model finds at the highest false positive rate of the region."""
    if fpr == 1.0:
        # At a rate of 1 every row may be flagged; the middle of the range says more.
        fpr = 0.5
    said = []
    for score in (sample.score, sample.baseline):
        if score is not None:
            at, low, high = sample.point_at_fpr(fpr, score)
            said.append(f"{100 * at.tpr:.0f} % [{100 * low:.0f}, {100 * high:.0f}]")
    known = positive.lower() in ("1", "true", "yes", "positive")
    whom = "the positives" if known else f"the rows of class {positive}"
    other = "".join(f"; {baseline_name} {one}" for one in said[1:])
    found, _, interval = said[0].partition(" [")
    return f"At {100 * fpr:g} % false alarms it finds {found} of {whom} [{interval}{other}."


def _check_names(model: Any, feature_names: Sequence[str] | None) -> None:
    if feature_names is not None:
        expected = getattr(model, "n_features_in_", len(feature_names))
        check_length(feature_names, expected, "feature_names", "features")


def _region_section(
    sample: ScoredSample,
    fpr_range: tuple[float, float],
    names: tuple[str, str],
    random_state: Any,
) -> Section:
    rows = []
    measures = region_measures(sample, fpr_range, random_state)
    for measure in measures:
        interval, other = measure.interval, measure.comparison
        row = [measure.name, f"{interval.value:.4f} [{interval.low:.4f}, {interval.high:.4f}]"]
        if other is not None:
            row += [
                f"{other.values[1]:.4f}",
                f"{other.difference:+.4f} [{other.low:+.4f}, {other.high:+.4f}]",
                p_text(other.p_value),
            ]
        rows.append(row)
    header = ["measure", names[0]]
    if sample.baseline is not None:
        header += [names[1], "difference", "p-value"]
    unit = "rows" if sample.query is None else "queries"
    first = measures[0].interval
    how = {
        "wilson": "inverting tests with the variance at the limit",
        "delong": f"DeLong's standard errors over {unit}",
    }
    intervals = f"95 % intervals are by {how[first.method]}"
    text = (
        "pAUC is the mean true positive rate over the region: 1 is perfect, uninformative scores "
        f"give {sum(fpr_range) / 2:g}. It is not McClish-scaled. {intervals}; differences are paired."
    )
    body = html_table(header, rows) + paragraph(text, "fine")
    body += "".join(paragraph(one.caution) for one in measures if one.caution)
    return Section("region", "In the region", body)


def reason_section(
    sample: ScoredSample,
    labels: tuple[str, str] | None,
    rows: Sequence[int],
    reasons: RowReasons,
) -> Section:
    """List the reasons for the scores of some rows, the strongest first."""
    names = labels or sample.labels
    listed = [
        [f"{row + 1:,}", f"{sample.score[row]:z.4f}", names[int(sample.y[row])], "; ".join(texts)]
        for row, texts in zip(rows, reasons.reasons, strict=True)
    ]
    text = (
        "Each reason is a condition that the row meets, with its points; the points of all conditions "
        "add up to the total."
        if reasons.unit == "total"
        else "Each reason says by how much a column raises the score of the row, compared with what is "
        "typical; contributions of all columns, of which these are the largest, add up to the "
        "difference of the scores."
    )
    text += " They describe the model, not the causes of the outcome."
    body = html_table(["row", "score", "class", "reasons"], listed) + paragraph(text, "fine")
    return Section("reasons", "Why the top rows score high", body)


def data_section(
    sample: ScoredSample,
    labels: tuple[str, str],
    X: Any = None,
    feature_names: Sequence[str] | None = None,
    note: str = "",
) -> Section:
    """Describe the rows and, if X is a DataFrame, the kinds of its columns.

    There can be more features than columns of X if categories were encoded.
    """
    n_rows, n_positive = int(sample.y.size), int(sample.y.sum())
    entries: dict[str, Any] = {
        "rows": f"{n_rows:,}",
        f"positive ({labels[1]})": f"{n_positive:,} ({n_positive / n_rows:.1%})",
        f"negative ({labels[0]})": f"{n_rows - n_positive:,}",
    }
    if X is not None:
        entries["columns"] = f"{X.shape[1]:,}"
    if feature_names is not None and (X is None or len(feature_names) != X.shape[1]):
        entries["features"] = f"{len(feature_names):,}"
    if sample.query is not None:
        entries["queries"] = f"{np.unique(sample.query).size:,}"
    if sample.weight is not None:
        entries["total weight"] = count_text(sample.weight.sum())
    remark = paragraph(note) if note else ""
    body = facts(entries | _kinds(X)) + remark + _missing(X, feature_names)
    return Section("data", "Data", body)


def _is_frame(X: Any) -> bool:
    return hasattr(X, "dtypes") and hasattr(X, "iloc")


def _kinds(X: Any) -> dict[str, str]:
    """Count the columns of a DataFrame by kind; return nothing for arrays."""
    letters = [getattr(dtype, "kind", "O") for dtype in X.dtypes] if _is_frame(X) else []
    counts = Counter(_KINDS.get(letter, "category or text") for letter in letters)
    return {f"of kind {name}": str(count) for name, count in sorted(counts.items())}


def _missing(X: Any, feature_names: Sequence[str] | None) -> str:
    """Build a table of the columns with missing values, those with the most first."""
    counts = _missing_counts(X)
    if not counts.any():
        return paragraph("No value is missing.", "fine") if _is_frame(X) else ""
    names = _column_names(X, feature_names)
    order = [k for k in np.argsort(-counts, kind="stable") if counts[k]]
    rows = [
        [names[k], f"{counts[k]:,}", f"{counts[k] / X.shape[0]:.1%}"] for k in order[:_MOST_COLUMNS]
    ]
    caption = f"Missing values in {len(order)} of {counts.size} columns."
    if len(order) > len(rows):
        caption += f" The {len(rows)} with the most:"
    return html_table(["column", "missing", "share"], rows, caption)


def _missing_counts(X: Any) -> IntArray:
    if X is None:
        return np.zeros(0, dtype=np.intp)
    if _is_frame(X):
        return np.asarray(X.isna().sum(axis=0), dtype=np.intp)
    if sparse.issparse(X):
        stored = sparse.coo_array(X)
        return np.bincount(stored.col[np.isnan(stored.data)], minlength=X.shape[1])
    values = np.asarray(X)
    if values.dtype.kind != "f":
        return np.zeros(values.shape[1], dtype=np.intp)
    return np.asarray(np.isnan(values).sum(axis=0), dtype=np.intp)


def _column_names(X: Any, feature_names: Sequence[str] | None) -> Sequence[str]:
    if _is_frame(X):
        return [str(name) for name in X.columns]
    if feature_names is not None and len(feature_names) == X.shape[1]:
        return feature_names
    return [f"x{column}" for column in range(X.shape[1])]
