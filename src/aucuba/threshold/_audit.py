"""Audits: which rows to label in order to learn a rate, and the interval from the labels."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.isotonic import IsotonicRegression
from sklearn.utils import check_random_state

from aucuba._base._files import reading_json
from aucuba._base._stream_labels import StreamLabels
from aucuba._base._typing import ArrayLike, BoolArray, FloatArray, IntArray
from aucuba._base._validation import (
    binary_target,
    check_choice,
    check_fraction,
    check_positive_number,
    finite_scores,
    one_per_row,
)
from aucuba.metrics import ScoreInterval
from aucuba.threshold._audit_bets import CountedRows, limits
from aucuba.threshold._audit_design import AuditedTable, counted, expected_rows

_RATES = ("tpr", "fpr", "precision")


@dataclass(frozen=True)
class AuditPlan:
    """The rows to label, in order, and the facts about the table that `audit_interval` needs.

    Attributes
    ----------
    rate : str
        The rate to learn.
    n_rows : int
        Rows of the table that the rate is about.
    rows : ndarray of int
        Indices of the rows to label, in the order in which to label them.
    flags, probability : ndarray
        Whether each of these rows was flagged, and the probability with which it was drawn.
    look_sizes : ndarray of int
        How many of ``rows`` are labelled at each look; the last is all.
    confidence : float
        Confidence of the intervals of all looks together.
    expected_half_width : float
        Half-width of the last interval if the given probabilities are right; nan without them.
    low_part : float
        Part of the error given to the lower limit, chosen for the narrowest expected interval.
    least : tuple of float
        The smallest probability below 1 of rows that may hit, and of rows that may miss.
    expected : ndarray of shape (n_bins, 3) or None
        Probability, expected hits and expected misses of bins of rows; None if nothing was known.
        ``least`` and ``expected`` set the bets, before any label is seen.
    inclusion_probability : ndarray of shape (n_rows,) or None
        Probability of every row of the table; not part of the JSON text.
    """

    rate: str
    n_rows: int
    rows: IntArray
    flags: BoolArray
    probability: FloatArray
    look_sizes: IntArray
    confidence: float
    expected_half_width: float
    low_part: float
    least: tuple[float, float]
    expected: FloatArray | None = field(repr=False)
    inclusion_probability: FloatArray | None = field(default=None, repr=False)

    def to_frame(self) -> Any:
        """Return the rows to label as a pandas DataFrame, in their order.

        Returns
        -------
        DataFrame
            Columns ``row``, ``flag``, ``probability`` and ``look``.
        """
        import pandas as pd

        look = np.searchsorted(self.look_sizes, np.arange(self.rows.size), side="right") + 1
        columns = {"row": self.rows, "flag": self.flags, "probability": self.probability}
        return pd.DataFrame({**columns, "look": look})

    def to_json(self) -> str:
        """Return the plan as text that `from_json` reads, so that labels may come later.

        Returns
        -------
        str
            A JSON object.
        """
        content: dict[str, Any] = {"aucuba_audit": 1}
        for name in ("rate", "n_rows", "confidence", "low_part"):
            content[name] = getattr(self, name)
        for name in ("rows", "flags", "probability", "look_sizes"):
            content[name] = getattr(self, name).tolist()
        # JSON has neither infinity nor nan.
        content["expected_half_width"] = _finite_or_none(self.expected_half_width)
        content["least"] = [_finite_or_none(one) for one in self.least]
        content["expected"] = None if self.expected is None else self.expected.tolist()
        return json.dumps(content, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> AuditPlan:
        """Restore a plan from the text of `to_json`.

        Parameters
        ----------
        text : str
            The JSON object.

        Returns
        -------
        AuditPlan
            The plan.
        """
        with reading_json(text, "aucuba_audit", "AuditPlan") as content:
            rows = np.array(content["rows"], dtype=np.intp)
            least = tuple(np.inf if one is None else float(one) for one in content["least"])
            expected = content["expected"]
            width = content["expected_half_width"]
            plan = cls(
                rate=check_choice(content["rate"], "rate", _RATES),
                n_rows=int(content["n_rows"]),
                rows=rows,
                flags=np.array(content["flags"], dtype=bool),
                probability=np.array(content["probability"], dtype=np.float64),
                look_sizes=np.array(content["look_sizes"], dtype=np.intp),
                confidence=check_fraction(content["confidence"], "confidence"),
                expected_half_width=np.nan if width is None else float(width),
                low_part=check_fraction(
                    content["low_part"], "low_part", low_open=True, high_open=True
                ),
                least=(least[0], least[1]),
                expected=None if expected is None else np.array(expected, dtype=np.float64),
            )
            plan._check()
        return plan

    def _check(self) -> None:
        n = self.rows.shape
        if self.flags.shape != n or self.probability.shape != n or len(n) != 1:
            raise ValueError("rows, flags and probabilities of different lengths")
        if n[0] and not (self.rows.min() >= 0 and self.rows.max() < self.n_rows):
            raise ValueError(f"rows outside the {self.n_rows} of the table")
        sizes = self.look_sizes
        if not sizes.size or sizes[0] < 0 or (np.diff(sizes) < 0).any() or sizes[-1] != n[0]:
            raise ValueError("looks that do not end with all rows")
        if self.expected is not None:
            one, columns = self.expected, 3
            if (
                one.ndim != 2
                or one.shape[1] != columns
                or not (np.isfinite(one) & (one >= 0)).all()
            ):
                raise ValueError("expected hits and misses of another shape")
            if not ((one[:, 0] > 0) & (one[:, 0] <= 1)).all():
                raise ValueError("probabilities of bins outside (0, 1]")
        for least in self.least:
            if not least > 0:
                raise ValueError(f"a smallest probability of {least}")
        if not ((self.probability > 0) & (self.probability <= 1)).all():
            raise ValueError("probabilities outside (0, 1]")


def plan_audit(
    flags: ArrayLike,
    *,
    budget: int,
    rate: str = "tpr",
    positive_probability: ArrayLike | None = None,
    pilot: tuple[ArrayLike, ArrayLike] | None = None,
    scores: ArrayLike | None = None,
    looks: int = 1,
    confidence: float = 0.95,
    random_state: Any = None,
) -> AuditPlan:
    r"""Choose the rows to label in order to learn a rate of a running classifier from few labels.

    Every row of the table gets a probability of being labelled, and rows are drawn independently, so
    the number of labels varies by about the square root of ``budget``. Rows that decide the rate are
    drawn more often; the rest of the budget is spread evenly, since positives may hide where nobody
    expects them. The interval of `audit_interval` is valid even if the probabilities given here are
    wrong; wrong ones only make it wider.

    Parameters
    ----------
    flags : array-like of shape (n_rows,)
        Which rows the classifier flagged: booleans, or 0 and 1.
    budget : int
        Expected number of labels.
    rate : {"tpr", "fpr", "precision"}, default="tpr"
        What to learn: sensitivity (recall), false positive rate, or precision, of these rows.
    positive_probability : array-like of shape (n_rows,), default=None
        The probability that each row is positive.
    pilot : tuple (scores, y), default=None
        Labelled rows (1 for positive) from which to learn ``positive_probability`` as an increasing
        function of ``scores``. Rows labelled before this plan do not count as its labels.
    scores : array-like of shape (n_rows,), default=None
        Scores of the rows of the table, with ``pilot``.
    looks : int, default=1
        How many intervals may be computed as labels come in. The rows are then in random order, and
        the error is divided among the looks, which are fixed here.
    confidence : float, default=0.95
        Probability that the intervals of all looks hold.
    random_state : int, RandomState instance or None, default=None
        Seeds the draw.

    Returns
    -------
    AuditPlan
        The ``rows`` to label, in order, and the ``expected_half_width``.

    See Also
    --------
    audit_interval : The interval from the labels.

    Notes
    -----
    Without probabilities or a pilot, flagged rows and the others get half of the budget each.

    Examples
    --------
    >>> import numpy as np
    >>> from aucuba.threshold import audit_interval, plan_audit
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(20_000) < 0.02
    >>> score = rng.normal(size=20_000) + 3 * y
    >>> chance = 1 / (1 + 49 * np.exp(4.5 - 3 * score))
    >>> plan = plan_audit(score > 2, budget=1_500, positive_probability=chance, random_state=0)
    >>> plan.rows.size, round(plan.expected_half_width, 2)
    (1614, 0.12)
    >>> print(audit_interval(plan, y[plan.rows]))
    0.8451 [0.6490, 0.9352] (95% interval, betting; tpr of the 20,000 rows of the plan)
    >>> round(float((score > 2)[y].mean()), 4)
    0.8299
    """
    check_choice(rate, "rate", _RATES)
    flagged, _ = StreamLabels.named((0, 1)).read(flags, "flags")
    if not flagged.size:
        raise ValueError("flags is empty: there is no row to audit.")
    table = AuditedTable.of(
        flagged, rate, _probability(flagged.size, positive_probability, pilot, scores)
    )
    budget = int(check_positive_number(budget, "budget", integer=True))
    n_looks = int(check_positive_number(looks, "looks", integer=True))
    error = 1.0 - check_fraction(confidence, "confidence", low_open=True, high_open=True)
    design = table.best_inclusion(min(budget, int(table.relevant.sum())), error / n_looks)
    inclusion = design.inclusion
    rng = check_random_state(random_state)
    drawn = np.flatnonzero(rng.random_sample(flagged.size) < inclusion)
    # A row belongs to look j if its time is at most j / n_looks. Every row is then in the first j looks
    # with j / n_looks of its probability, independently of the other rows.
    time = rng.random_sample(drawn.size)
    order = np.argsort(time, kind="stable")
    sizes = np.searchsorted(time[order], np.arange(1, n_looks + 1) / n_looks, side="right")
    rows = drawn[order]
    return AuditPlan(
        rate=rate,
        n_rows=flagged.size,
        rows=rows,
        flags=flagged[rows],
        probability=inclusion[rows],
        look_sizes=sizes,
        confidence=1.0 - error,
        expected_half_width=design.half_width,
        low_part=design.low_part,
        least=table.least(inclusion),
        expected=design.expected,
        inclusion_probability=inclusion,
    )


def audit_interval(plan: AuditPlan, y: ArrayLike, *, labels: Any = None) -> ScoreInterval:
    """Compute the interval of the audited rate from the labels of the plan's rows.

    The interval is valid for any number of labels, any labels and any inclusion probabilities. It
    holds with the plan's confidence over the draw of the rows, and it is about the rows of the plan's
    table, not about future rows.

    Parameters
    ----------
    plan : AuditPlan
        What `plan_audit` returned.
    y : array-like
        Labels of ``plan.rows``, or of its first ``look_sizes[j]`` rows, in the plan's order.
    labels : pair (negative, positive), default=None
        The labels in ``y``, as in `RateMonitor`: any other value is an error. None takes booleans, 0
        and 1, or text with an unmistakable positive label such as "fraud".

    Returns
    -------
    ScoreInterval
        ``value`` (each row weighted by 1 / probability; nan if no labelled row counts), ``low``,
        ``high``; ``about`` and the print name the rate and the number of rows of the table.
    """
    positive, known = StreamLabels.named(labels).read(y, "y")
    if known.lack_a_positive:
        raise ValueError(
            f"y has the labels {list(known.negative)[:5]}; name the positive one: labels=(negative, "
            "positive)."
        )
    n_labels = positive.size
    places = np.flatnonzero(plan.look_sizes == n_labels)
    if not places.size:
        sizes = " or ".join(str(size) for size in np.unique(plan.look_sizes))
        raise ValueError(
            f"y has {n_labels} labels, but the plan has intervals for {sizes} labels in the plan's "
            "order; any other interval would not be valid. Label the rest, or plan with more looks."
        )
    n_looks = plan.look_sizes.size
    part = (places[-1] + 1) / n_looks
    flagged, probability = plan.flags[:n_labels], plan.probability[:n_labels] * part
    counts, hits = counted(plan.rate, positive, flagged)
    kinds = (counts & hits, counts & ~hits)
    each = [
        # Before the last look no row is certain to be labelled.
        CountedRows.labelled(probability[kind], min(least, 1.0 if part < 1 else np.inf) * part)
        for kind, least in zip(kinds, plan.least, strict=True)
    ]
    expected = None if plan.expected is None else expected_rows(plan.expected, part)
    error = (1.0 - plan.confidence) / n_looks
    low, high = limits((each[0], each[1]), expected, error, plan.low_part)
    totals = [float((1.0 / probability[kind]).sum()) for kind in kinds]
    value = totals[0] / sum(totals) if sum(totals) else math.nan
    about = f"{plan.rate} of the {plan.n_rows:,} rows of the plan"
    return ScoreInterval(value, low, high, plan.confidence, 0, "betting", "audit", about=about)


def _probability(
    n_rows: int, positive_probability: Any, pilot: Any, scores: Any
) -> FloatArray | None:
    """Return the probability that each row is positive, as given or learned from a pilot."""
    if positive_probability is not None:
        if pilot is not None or scores is not None:
            raise ValueError("Give positive_probability, or pilot and scores, not both.")
        column = one_per_row(positive_probability, n_rows, "positive_probability")
        chance = finite_scores(column, "positive_probability").astype(np.float64)
        if chance.size and (chance.min() < 0 or chance.max() > 1):
            raise ValueError(
                f"positive_probability must lie in [0, 1], got values from {chance.min():g} to "
                f"{chance.max():g}."
            )
        return chance
    if pilot is None and scores is None:
        return None
    if pilot is None or scores is None:
        raise ValueError(
            "pilot=(scores, y) of labelled rows needs scores=, the scores of the rows of the table."
        )
    of_table = finite_scores(one_per_row(scores, n_rows, "scores"), "scores")
    of_pilot = finite_scores(pilot[0], "pilot[0]")
    positive = binary_target(pilot[1], None, of_pilot.size, "pilot[1]")
    # Half a positive and half a negative are added to keep probabilities away from 0 and 1.
    share = (positive.sum() + 0.5) / (positive.size + 1.0)
    learned = IsotonicRegression(out_of_bounds="clip").fit(of_pilot, positive)
    trusted = positive.size / (positive.size + 1.0)
    chance = trusted * learned.predict(of_table) + (1.0 - trusted) * share
    return np.asarray(chance, dtype=np.float64)


def _finite_or_none(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
