"""The report of a binary classifier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aucuba._base._validation import check_fpr_range
from aucuba.linear import AUMClassifier
from aucuba.report._data import data_section
from aucuba.report._line_search import line_search_section
from aucuba.report._models import PROMISED, model_sections, promise_section
from aucuba.report._operating_points import operating_point_section
from aucuba.report._page import Page, Section, paragraph
from aucuba.report._page import table as html_table
from aucuba.report._roc import roc_section
from aucuba.report._scored_sample import ScoredSample, region_measures, score_sign


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
) -> Page:
    """Build the report page of one model on one labelled sample.

    Parameters
    ----------
    model : estimator
        A fitted classifier of this library (the last step, where it is a pipeline).
    sample : ScoredSample
        Labels with the scores of the model and, if there is one, of a baseline. The scores are the
        model's ``decision_function``, negated if its ``pos_label_`` is the first class;
        `ScoredSample.from_models` computes them.
    fpr_range : (float, float), default=(0.0, 0.05)
        The region.
    X : array, sparse matrix or DataFrame, default=None
        The input of the model's ``decision_function``, for the kinds of columns, missing values and
        the line-search explorer of an `aucuba.AUMClassifier`.
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
    >>> [section.title for section in page.sections]
    ['Data', 'ROC curve', 'In the region', 'Operating points', 'Coefficients', 'Training']
    """
    low, high = check_fpr_range(fpr_range)
    _check_names(model, feature_names)
    names = (type(model).__name__, baseline_name)
    promise = isinstance(model, PROMISED)
    raw = X if table is None else table
    sections = [data_section(sample, labels or sample.labels, raw, feature_names)]
    if promise:
        sections.append(promise_section(model, sample))
    sections += [
        roc_section(sample, (low, high), names),
        _region_section(sample, (low, high), names, random_state),
        operating_point_section(model, sample, (low, high), promise),
        *model_sections(model, feature_names, score_sign(model)),
    ]
    if isinstance(model, AUMClassifier) and X is not None:
        sections.append(line_search_section(model, sample, X, random_state))
    lead = f"{names[0]}, measured at false positive rates from {low:g} to {high:g}."
    return Page(title, lead, sections)


def _check_names(model: Any, feature_names: Sequence[str] | None) -> None:
    if feature_names is None:
        return
    expected = getattr(model, "n_features_in_", len(feature_names))
    if len(feature_names) != expected:
        raise ValueError(f"feature_names has {len(feature_names)} entries for {expected} features.")


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
                f"{other.p_value:.3g}",
            ]
        rows.append(row)
    header = ["measure", names[0]]
    if sample.baseline is not None:
        header += [names[1], "difference", "p-value"]
    unit = "rows" if sample.query is None else "queries"
    first = measures[0].interval
    how = {
        "bca": f"{first.n_resamples} bootstrap resamples of the {unit}, corrected for bias and skew",
        "bootstrap": f"percentiles of {first.n_resamples} bootstrap resamples of the {unit}",
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
