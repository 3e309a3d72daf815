"""The report of a binary classifier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aucuba._validation import check_fpr_range
from aucuba.linear import AUMClassifier
from aucuba.report.convergence import training_section
from aucuba.report.line_search import line_search_section
from aucuba.report.measures import ScoredSample, operating_point, region_measures
from aucuba.report.page import Page, Section, facts, paragraph, table
from aucuba.report.roc import roc_section
from aucuba.report.svg import Axes

_RATES = (0.001, 0.01, 0.05, 0.1, 0.2)
_TOP = 20


def classifier_report(
    model: Any,
    sample: ScoredSample,
    *,
    fpr_range: tuple[float, float] = (0.0, 0.1),
    X: Any = None,
    feature_names: Sequence[str] | None = None,
    title: str = "Classifier",
    labels: tuple[str, str] = ("0", "1"),
    baseline_name: str = "logistic regression",
    random_state: Any = 0,
) -> Page:
    """A page on one model and one labelled sample.

    Parameters
    ----------
    model : estimator
        A fitted classifier of this library (the last step, where it is a pipeline).
    sample : ScoredSample
        Labels and scores, with those of a baseline if there is one.
    fpr_range : (float, float), default=(0.0, 0.1)
        The band.
    X : array or sparse matrix, default=None
        What the model's ``decision_function`` takes; for the line-search explorer of an
        `AUMClassifier`.
    feature_names : sequence of str, default=None
        Names of the columns of ``X``.
    title : str
        Heading of the page.
    labels : (str, str)
        Names of the negative and the positive class.
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
    ['Data', 'ROC curve', 'In the band', 'Thresholds', 'Coefficients', 'Training']
    """
    low, high = check_fpr_range(fpr_range)
    names = (type(model).__name__, baseline_name)
    sections = [
        _data_section(sample, labels, feature_names),
        roc_section(sample, (low, high), names),
        _region_section(sample, (low, high), names, random_state),
        _threshold_section(sample, (low, high)),
        _coefficient_section(model, feature_names),
        training_section(model),
    ]
    if isinstance(model, AUMClassifier) and X is not None:
        sections.append(line_search_section(model, sample, X, random_state))
    lead = f"{names[0]}, measured at false positive rates from {low:g} to {high:g}."
    return Page(title, lead, sections)


def _data_section(
    sample: ScoredSample, labels: tuple[str, str], feature_names: Sequence[str] | None
) -> Section:
    n_rows, n_positive = int(sample.y.size), int(sample.y.sum())
    entries: dict[str, Any] = {
        "rows": f"{n_rows:,}",
        f"positive ({labels[1]})": f"{n_positive:,} ({n_positive / n_rows:.1%})",
        f"negative ({labels[0]})": f"{n_rows - n_positive:,}",
    }
    if feature_names is not None:
        entries["features"] = f"{len(feature_names):,}"
    if sample.group is not None:
        entries["queries"] = f"{np.unique(sample.group).size:,}"
    if sample.weight is not None:
        entries["total weight"] = f"{sample.weight.sum():g}"
    return Section("data", "Data", facts(entries))


def _region_section(
    sample: ScoredSample,
    fpr_range: tuple[float, float],
    names: tuple[str, str],
    random_state: Any,
) -> Section:
    rows = []
    for measure in region_measures(sample, fpr_range, random_state):
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
    unit = "rows" if sample.group is None else "queries"
    text = (
        "pAUC is the mean true positive rate over the band: 1 is perfect, and scores without "
        f"information give {sum(fpr_range) / 2:g}. It is not McClish-scaled. Intervals are 95 % "
        f"percentiles of 1000 bootstrap resamples of the {unit}; differences are paired."
    )
    return Section("region", "In the band", table(header, rows) + paragraph(text, "fine"))


def _threshold_section(sample: ScoredSample, fpr_range: tuple[float, float]) -> Section:
    curve = sample.curve()
    rates = sorted({*_RATES, *(rate for rate in fpr_range if 0 < rate < 1)})
    rows = []
    for rate in rates:
        at = operating_point(sample, curve, rate)
        rows.append(
            [
                f"{rate:.1%}",
                "none" if np.isinf(at.threshold) else f"{at.threshold:.6g}",
                f"{at.fpr:.2%} [{at.fpr_interval[0]:.2%}, {at.fpr_interval[1]:.2%}]",
                f"{at.tpr:.1%} [{at.tpr_interval[0]:.1%}, {at.tpr_interval[1]:.1%}]",
                "" if np.isnan(at.precision) else f"{at.precision:.1%}",
                f"{at.flagged:g}",
            ]
        )
    header = ["FPR at most", "score from", "FPR here", "TPR", "precision", "flagged"]
    text = (
        "The lowest threshold on these rows that keeps the false positive rate. A threshold chosen "
        "and measured on the same rows is optimistic; for a promise on new rows use "
        "FixedFPRClassifier."
    )
    return Section("thresholds", "Thresholds", table(header, rows) + paragraph(text, "fine"))


def _coefficient_section(model: Any, feature_names: Sequence[str] | None) -> Section:
    key, title = "coefficients", "Coefficients"
    coef = vars(model).get("coef_")
    if coef is None or "feature_map_" in vars(model):
        return Section(key, title, paragraph("This model has no coefficient for each feature."))
    coef = np.ravel(coef)
    names = feature_names or [f"x{column}" for column in range(coef.size)]
    if len(names) != coef.size:
        raise ValueError(f"feature_names has {len(names)} entries for {coef.size} coefficients.")
    if not coef.any():
        return Section(key, title, paragraph("All coefficients are zero."))
    order = np.argsort(-np.abs(coef), kind="stable")[:_TOP]
    rows = [[names[column], f"{coef[column]:+.4g}"] for column in order]
    text = f"The {len(rows)} largest of {coef.size}, on the scale of the numbers the model sees."
    body = _bars(coef[order]) + table(["feature", "coefficient"], rows) + paragraph(text, "fine")
    return Section(key, title, f'<div class="beside">{body}</div>')


def _bars(values: np.ndarray) -> str:
    largest = float(np.abs(values).max())
    axes = Axes(
        (-1.05 * largest, 1.05 * largest),
        (-0.5 - values.size, -0.5),
        height=60 + 18.0 * len(values),
    )
    zero = float(axes.column(0.0))
    bars = []
    for index, value in enumerate(values):
        end, middle = float(axes.column(value)), float(axes.row(-1.0 - index))
        css = "bar positive" if value > 0 else "bar negative"
        bars.append(
            f'<rect class="{css}" x="{min(zero, end):.2f}" y="{middle - 6:.2f}" '
            f'width="{abs(end - zero):.2f}" height="12"/>'
        )
    ranks = [-1.0 - index for index in range(len(values))]
    frame = axes.frame(
        "coefficient", "rank", y_ticks=ranks, y_text=[str(k + 1) for k in range(len(values))]
    )
    drawn = axes.svg([frame, *bars], "Largest coefficients, in the order of the table")
    return f"<figure>{drawn}</figure>"
