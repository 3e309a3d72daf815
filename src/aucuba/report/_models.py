"""Sections about the model itself, by kind of model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from aucuba._base._estimator import pipeline_steps
from aucuba._base._tables import escaped, html_table
from aucuba._base._typing import FloatArray
from aucuba._roc._comparison import COMPARISONS
from aucuba._roc._flagged import promised_rate
from aucuba.ensemble import RegionReweighted, RegionStack
from aucuba.report._page import Section, facts, figures, paragraph
from aucuba.report._roc import rates_above_zero
from aucuba.report._scored_sample import ScoredSample
from aucuba.report._svg import Axes, padded
from aucuba.scorecard import RegionScorecard, Scorecard

_TOP = 20
# Length of the longest bar in drawing units; the page stretches it.
_REACH = 100.0
_SMALLEST_GAP = 1e-16
_NAMES = {
    "objective": "objective",
    "aum": "AUM",
    "auc": "AUC of the training rows",
    "validation_auc": "AUC of the held-out rows",
}


def model_sections(model: Any, feature_names: Sequence[str] | None, sign: int = 1) -> list[Section]:
    """Describe a model: its members, weights, or coefficients and training.

    ``sign`` is -1 if the model's scores decrease towards the positive class of the page.
    """
    has_rate = promised_rate(model) is not None
    inner = pipeline_steps(model.estimator_)[-1] if has_rate else model
    if isinstance(inner, RegionScorecard):
        return _card_sections(Scorecard.from_model(model), inner)
    if "promise_" in vars(model):
        return model_sections(*last_step(model.estimator_, feature_names), sign)
    if isinstance(model, RegionStack):
        return _stack_sections(model)
    if isinstance(model, RegionReweighted):
        return [_reweighted_section(model)]
    return [coefficient_section(model, feature_names, sign), training_section(model)]


def _card_sections(card: Scorecard, model: RegionScorecard) -> list[Section]:
    rows = []
    for one in [{"texts": ["The card above"], **model.training_}, *model.next_best_]:
        rows.append(["; ".join(one["texts"]), f"{one['partial_auc']:.4f}", f"{one['r2']:.4f}"])
    text = (
        "The points of the conditions that a row meets add up to its total. Risks and rows come from "
        "cards of other folds, placed at the total of equal risk; intervals are Wilson's, 95 %."
    )
    if np.isfinite(card.threshold):
        text += f" Scores on this page are totals less {card.threshold:g}."
    body = card.to_html() + paragraph(text, "fine")
    if model.next_best_:
        header = ["card", "partial AUC", "explained deviance"]
        body += html_table(header, rows, "Next-best cards, on the training rows.")
    return [Section("card", "Scorecard", body), training_section(model)]


def _stack_sections(model: RegionStack) -> list[Section]:
    rows = []
    for k, row in enumerate(model.report_):
        value = [row["member"], f"{row['partial_auc']:.4f}", f"{row['standard_error']:.4f}"]
        rows.append([*value, f"{row['coef']:+.3f}" if k < len(model.members_) else ""])
    text = (
        "Values on out-of-fold scores of the training rows, in the range that the stack was trained "
        "for. A weight multiplies the member's standardised score in the sum. Members that agree share "
        "their weight, so a small or negative weight does not make a member bad."
    )
    header = ["member", "partial AUC", "standard error", "weight"]
    members = Section("members", "Members", html_table(header, rows) + paragraph(text, "fine"))
    trained = {
        "estimator": type(model).__name__,
        "trained for": _range(model.fpr_range),
        "rows": f"{model.oof_scores_.shape[0]:,}",
        "folds": _folds(model.cv),
        "strength of the re-weighting": f"{model.strength:g}",
    }
    note = "The members are trained separately; their iterations are not shown."
    training = Section("training", "Training", facts(trained) + paragraph(note, "fine"))
    return [members, training]


def _reweighted_section(model: RegionReweighted) -> Section:
    weight = model.weights_[model.weights_ > 0]
    raised = weight > 1
    entries = {
        "estimator": _called(model.estimator),
        "trained for": _range(model.fpr_range),
        "strength": f"{model.strength:g}",
        "folds": _folds(model.cv),
        "training rows": f"{weight.size:,}",
        "of raised weight": f"{int(raised.sum()):,} ({raised.mean():.1%})",
        "their share of the weight": f"{weight[raised].sum() / weight.sum():.1%}",
        "largest factor": f"{weight.max():.3g}",
    }
    text = (
        "The score is the mean of two log-odds: of the plain estimator, and of the same estimator "
        "with more weight on rows near the thresholds of the range. Factors have mean 1 in each class."
    )
    return Section("training", "Training", facts(entries) + paragraph(text, "fine"))


def promise_section(
    model: Any, sample: ScoredSample, target: tuple[float, float] | None = None
) -> Section:
    """State the promise, its basis, and the rates of its threshold on these rows."""
    entries = {
        "promise": model.promise_,
        "confidence": f"{model.confidence:.3g}",
        "guaranteed": "yes" if model.guarantee_ else "no, a heuristic",
        "threshold of the base score": _listed(model.threshold_),
        "bound on P(promise broken)": (
            f"{model.violation_probability_:.3g}" if model.guarantee_ else "none"
        ),
        "base classifier": _called(model.estimator_),
    }
    if model.trivial_:
        entries["certified"] = "no: kept without a threshold on the score, see the promise"
    if model.guarantee_:
        text = (
            f"At most {1 - model.confidence:.3g} of such studies break the promise on new rows. It "
            "holds for rows drawn like the held-out rows, which may be used only once."
        )
    else:
        text = (
            "The held-out scores come from the models of several folds, but this model was fitted on "
            "all rows: no theorem covers that. Hold rows out (cv=0.5) if the promise must hold."
        )
    rates = rates_above_zero(model, sample, target)
    return Section("promise", "Promise", facts(entries) + paragraph(text) + rates)


def _listed(threshold: Any) -> str:
    """Write one threshold, or one per stratum."""
    return ", ".join(f"{one:.6g}" for one in np.atleast_1d(threshold))


def coefficient_section(model: Any, feature_names: Sequence[str] | None, sign: int = 1) -> Section:
    """List the largest coefficients, if the model has one per feature.

    Coefficients of scikit-learn's classifiers point towards ``classes_[1]``. Multiplied by ``sign``
    they point towards the positive class of the page.
    """
    key, title = "coefficients", "Coefficients"
    coef = vars(model).get("coef_")
    if coef is None or "feature_map_" in vars(model):
        return Section(
            key, title, paragraph("This model does not have one coefficient per feature.")
        )
    coef = sign * np.ravel(coef)
    if not coef.any():
        return Section(key, title, paragraph("All coefficients are zero."))
    names = feature_names
    if names is None:
        names = vars(model).get("feature_names_in_", [f"x{k}" for k in range(coef.size)])
    order = np.argsort(-np.abs(coef), kind="stable")[:_TOP]
    text = f"The {order.size} largest of {coef.size}, on the scale of the model's input."
    body = bar_table([str(names[k]) for k in order], coef[order]) + paragraph(text, "fine")
    return Section(key, title, body)


def last_step(model: Any, feature_names: Sequence[str] | None) -> tuple[Any, Sequence[str] | None]:
    """Return the last step of a pipeline, with the names of its input columns."""
    if not isinstance(model, Pipeline) or len(model.steps) == 1:
        return (model[-1] if isinstance(model, Pipeline) else model), feature_names
    try:
        return model[-1], list(model[:-1].get_feature_names_out(feature_names))
    except (AttributeError, ValueError):
        # A step cannot name its columns, or the names are not those of the training rows.
        return model[-1], None


def bar_table(names: Sequence[str], values: FloatArray) -> str:
    """Build a table of names, bars and numbers; long names wrap, so that numbers stay visible."""
    largest = float(np.abs(values).max())
    # Four significant digits of the largest value set the number of decimals.
    decimals = max(3 - int(np.floor(np.log10(largest))), 0)
    rows = "".join(
        f'<tr><th scope="row">{escaped(name)}</th><td>{_bar(float(value) / largest)}</td>'
        f"<td>{value:+.{decimals}f}</td></tr>"
        for name, value in zip(names, values, strict=True)
    )
    head = '<th scope="col">feature</th><td></td><th scope="col">coefficient</th>'
    return f'<table class="bars"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'


def _bar(share: float) -> str:
    width = abs(share) * _REACH
    css = "rod positive" if share > 0 else "rod negative"
    left = _REACH if share > 0 else _REACH - width
    return (
        f'<svg class="rods" viewBox="0 0 {2 * _REACH:g} 12" preserveAspectRatio="none" '
        f'aria-hidden="true"><rect class="{css}" x="{left:.2f}" y="1" width="{width:.2f}" '
        f'height="10"/><path class="grid" d="M{_REACH:g} 0V12"/></svg>'
    )


def _called(estimator: Any) -> str:
    """Name the steps of an estimator."""
    return ", ".join(type(step).__name__ for step in pipeline_steps(estimator))


def _range(fpr_range: tuple[float, float]) -> str:
    return "FPR {:g} to {:g}".format(*fpr_range)


def _folds(cv: Any) -> str:
    return str(cv) if isinstance(cv, int) else type(cv).__name__


def training_section(model: Any) -> Section:
    """Report the status and certificate of a model, with pictures of the history it kept."""
    known = vars(model)
    body = facts(_summary(model, known))
    if known.get("partial_auc_"):
        body += _candidates(known)
    pictures = _pictures(known.get("history_") or [])
    if pictures:
        body += figures(*pictures)
    if known.get("cv_results_"):
        body += _cross_validation(known["cv_results_"], known["C_"])
    return Section("training", "Training", body)


def _summary(model: Any, known: Mapping[str, Any]) -> dict[str, Any]:
    entries: dict[str, Any] = {"estimator": type(model).__name__}
    for name, text in (("loss", "loss"), ("step", "line search"), ("kernel", "kernel")):
        if name in known:
            entries[text] = known[name]
    if known.get("fpr_weight") is not None:
        entries["trained for"] = "a weighting of the false positive rates"
    elif "fpr_range" in known:
        entries["trained for"] = _range(known["fpr_range"])
    if "n_iter_" in known:
        entries["iterations"] = ", ".join(map(str, np.ravel(known["n_iter_"])))
    if np.isfinite(known.get("gap_", np.nan)):
        for name, text in (("objective_", "objective"), ("lower_bound_", "certified lower bound")):
            if name in known:
                entries[text] = f"{known[name]:.6g}"
        entries["certified gap"] = f"{known['gap_']:.2g}"
    elif "objective_" in known:
        entries["certified gap"] = "none: the problem is not convex"
    if "C_" in known:
        entries["C chosen"] = f"{known['C_']:g}"
    if "blend_" in known:
        entries["weight of the region's model"] = f"{known['blend_']:.3g}"
    if "status_" in known:
        entries["status"] = known["status_"]
    return entries


def _pictures(history: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Draw each quantity that the history follows, with its caption."""
    if len(history) < 2:
        return []
    iteration = np.array([row.get("iteration", k) for k, row in enumerate(history)], dtype=float)
    pictures = []
    gap = _followed(history, "gap")
    known = np.isfinite(gap)
    if known.sum() > 1:
        pictures.append(_gap_picture(iteration[known], np.maximum(gap[known], _SMALLEST_GAP)))
    for name, text in _NAMES.items():
        values = _followed(history, name)
        known = np.isfinite(values)
        if known.sum() > 1:
            bound = _followed(history, "lower_bound" if name == "objective" else "")
            pictures.append(_picture(iteration[known], values[known], bound[known], text))
    return pictures


def _followed(history: Sequence[Mapping[str, Any]], name: str) -> FloatArray:
    """Return one quantity over the iterations, with NaN where the history lacks it."""
    return np.array([row.get(name, np.nan) for row in history], dtype=np.float64)


def _picture(
    iteration: FloatArray, values: FloatArray, bound: FloatArray, name: str
) -> tuple[str, str]:
    # The first bounds of a bundle method lie far below and would flatten the rest.
    floor = values.min() - 1.5 * max(float(np.ptp(values)), 1e-9 * abs(float(values.min())))
    near = np.isfinite(bound) & (bound > floor)
    axes = Axes(_iterations(iteration), padded(values, bound[near]), height=260)
    inside = axes.path(iteration[near], bound[near], "curve baseline") if near.any() else ""
    inside += axes.path(iteration, values, "curve model")
    caption = f"{name}; dashed: its certified lower bound" if near.any() else name
    return axes.picture("iteration", name, inside, name), caption


def _gap_picture(iteration: FloatArray, gap: FloatArray) -> tuple[str, str]:
    name, power = "certified gap", np.log10(gap)
    low, high = float(np.floor(power.min())), float(np.ceil(power.max()))
    axes = Axes(_iterations(iteration), (low, high if high > low else low + 1), height=260)
    marks = np.arange(low, high + 1, max(1, int(np.ceil((high - low) / 6)))).tolist()
    inside, text = axes.path(iteration, power, "curve model"), [f"1e{mark:g}" for mark in marks]
    drawn = axes.picture("iteration", name, inside, name, y_ticks=marks, y_text=text)
    return drawn, f"{name}, logarithmic"


def _iterations(iteration: FloatArray) -> tuple[float, float]:
    return float(iteration[0]) - 0.5, float(iteration[-1]) + 0.5


def _candidates(known: Mapping[str, Any]) -> str:
    values, measure = (
        known["partial_auc_"],
        COMPARISONS[known.get("scoring", "partial_auc")].measure,
    )
    errors = known["partial_auc_error_"]
    rows = [[name, f"{value:.4f}"] for name, value in values.items()]
    why = "; ".join(f"{name} ± {error:.4f}" for name, error in errors.items())
    shown = html_table(
        ["candidate", f"out-of-sample {measure}"], rows, "Candidates of the cross-validation."
    )
    return shown + (paragraph(f"Standard errors of the differences: {why}.", "fine") * bool(why))


def _cross_validation(results: Mapping[str, Any], chosen: float) -> str:
    names = [name for name in results if name != "C"]
    rows = [
        [
            f"{C:g}{' (chosen)' if chosen == C else ''}",
            *(f"{results[name][k]:.4f}" for name in names),
        ]
        for k, C in enumerate(results["C"])
    ]
    header = ["C", *(name.replace("_", " ") for name in names)]
    return html_table(header, rows, "Cross-validation over C.")
