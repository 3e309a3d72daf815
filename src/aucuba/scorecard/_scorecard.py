"""A fitted card as people print it: table, risks, and the total from which a row is flagged."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from aucuba._base._estimator import pipeline_steps
from aucuba._base._tables import count_text, escaped, html_table
from aucuba._roc._flagged import promised_rate
from aucuba.scorecard._conditions import Condition
from aucuba.scorecard._lines import card_lines
from aucuba.scorecard._region_scorecard import RegionScorecard
from aucuba.scorecard._table import of_items

# A total that only rounding keeps below the threshold.
_ROUNDING = 1e-9
# Smaller risks are written as below it.
_SMALLEST_SHARE = 1e-6
# The older fonts of LaTeX have other signs in the places of < > and |.
_LATEX = {
    "<=": r"$\leq$",
    "!=": r"$\neq$",
    "<": "$<$",
    ">": "$>$",
    "|": r"\textbar{}",
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}
_SPECIAL = re.compile("|".join(map(re.escape, _LATEX)))


@dataclass(frozen=True)
class Scorecard:
    """The items of a card, its risks, and the rule by which rows are flagged.

    ``str(card)`` is a table in plain text, and notebooks show it as HTML.

    Parameters
    ----------
    items : tuple of (Condition, int)
    risk : list of dict
        As ``risk_`` of `RegionScorecard`.
    label : object
        The class that points speak for.
    threshold : float
        Totals above it are flagged.
    rule : str
        What the threshold is for: a promise, or the rate of the training rows.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from aucuba import FixedFPRClassifier, RegionScorecard
    >>> from aucuba.scorecard import Scorecard
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> base = RegionScorecard((0.0, 0.1), max_items=2, cv=2, random_state=0)
    >>> model = FixedFPRClassifier(base, 0.1, pos_label=0, random_state=0)
    >>> card = Scorecard.from_model(model.set_params(estimator__pos_label=0).fit(X, y))
    >>> card.decision.startswith("Call at ")
    True
    """

    items: tuple[tuple[Condition, int], ...]
    risk: list[dict[str, Any]]
    label: Any
    threshold: float
    rule: str

    @classmethod
    def from_model(cls, model: Any) -> Scorecard:
        """Take the card out of a fitted `RegionScorecard`, or of a promised threshold on one.

        Parameters
        ----------
        model : RegionScorecard, promised threshold or Pipeline
        """
        check_is_fitted(model)
        outer = pipeline_steps(model)[-1]
        inner = outer if promised_rate(outer) is None else pipeline_steps(outer.estimator_)[-1]
        if not isinstance(inner, RegionScorecard):
            raise ValueError(
                f"{type(inner).__name__} has no card; a RegionScorecard is needed, or a promised "
                "threshold on one."
            )
        items = tuple(of_items(inner.items_))
        threshold = inner.threshold_
        rule = f"false positive rate of the training rows at most {inner.predict_fpr_:g}"
        if outer is not inner:
            if outer.pos_label_ != inner.pos_label_:
                raise ValueError(
                    f"The promise is for the class {outer.pos_label_!r} and the card for "
                    f"{inner.pos_label_!r}; give both the same pos_label."
                )
            if np.size(outer.threshold_) != 1:
                raise ValueError("The promise has one threshold per stratum; a card needs one.")
            threshold = float(np.ravel(outer.threshold_)[0]) + inner.threshold_
            rule = str(outer.promise_).rstrip(".")
        return cls(items, inner.risk_, inner.pos_label_, threshold, rule)

    @property
    def rows(self) -> list[tuple[str, int]]:
        """Lines of the card in words, with their points; bands of one column do not overlap."""
        return [(line.text, line.points) for line in card_lines(self.items)]

    @property
    def call_at(self) -> int | None:
        """The smallest total of a row that is flagged; None if no total is."""
        flagged = [one["total"] for one in self.risk if one["total"] > self.threshold + _ROUNDING]
        return min(flagged, default=None)

    @property
    def decision(self) -> str:
        """The rule in a sentence: from which total on a row is flagged, and what that keeps."""
        if self.call_at is None:
            return f"No total can carry it, so no row is called: {self.rule}."
        return f"Call at {self.call_at} points or more: {self.rule}."

    def __str__(self) -> str:
        width = max(map(len, [*(text for text, _ in self.rows), "condition"]))
        lines = [f"{'condition':<{width}}  points", "-" * (width + 8)]
        lines += [f"{text:<{width}}  {points:>+6d}" for text, points in self.rows]
        lines += [
            "",
            f"{'total':>5}  {'risk':>7}  {'held-out rows':>13}  {'of them':>8}  95 % interval",
        ]
        lines += [
            f"{total:>5}  {risk:>7}  {rows:>13}  {positives:>8}  {interval}"
            for total, risk, rows, positives, interval in self._risk_cells()
        ]
        return "\n".join([*lines, "", self.decision])

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_html(self) -> str:
        """Write both tables and the rule as HTML."""
        rows = [[text, f"{points:+d}"] for text, points in self.rows]
        return (
            html_table(["condition", "points"], rows)
            + html_table(_RISK_HEADER, self._risk_cells())
            + f"<p>{escaped(self.decision)}</p>"
        )

    def to_markdown(self) -> str:
        """Write both tables and the rule as Markdown."""
        rows = [[text.replace("|", r"\|"), f"{points:+d}"] for text, points in self.rows]
        return "\n\n".join(
            [
                _markdown_table(["condition", "points"], rows),
                _markdown_table(_RISK_HEADER, self._risk_cells()),
                self.decision,
            ]
        )

    def to_latex(self) -> str:
        """Write the card and the rule as LaTeX."""
        rows = [f"{_latex(text)} & ${points:+d}$ \\\\" for text, points in self.rows]
        body = "\n".join(rows)
        return (
            "\\begin{tabular}{lr}\n\\hline\ncondition & points \\\\\n\\hline\n"
            f"{body}\n\\hline\n\\end{{tabular}}\n\n{_latex(self.decision)}"
        )

    def to_json(self) -> str:
        """Write everything that another program needs to apply the card."""
        items = [
            {
                "text": one.text,
                "column": one.column,
                "test": one.test,
                "value": one.moment if one.is_date else one.value,
                "or_missing": one.or_missing,
                "points": points,
            }
            for one, points in self.items
        ]
        label = self.label.item() if hasattr(self.label, "item") else self.label
        content = {
            "positive_class": label,
            "items": items,
            "missing": "A missing value meets 'missing' and what has 'or_missing', nothing else.",
            "call_at": self.call_at,
            "decision": self.decision,
            "risk": self.risk,
        }
        return json.dumps(content, indent=2, ensure_ascii=False)

    def to_sql(self, table: str = "rows", names: Mapping[str, str] | None = None) -> str:
        """Write a SELECT that adds ``total``, ``risk`` and ``flag``, 1 where a row is called.

        NULL is a missing value; a NaN must be stored as NULL. Dates are dates or ISO text.

        Parameters
        ----------
        table : str, default="rows"
            Name of the table.
        names : mapping, default=None
            Its names of columns, by those of training, where they differ.
        """
        known = names or {}
        items = [
            (replace(one, column=known.get(one.column, one.column)), points)
            for one, points in self.items
        ]
        terms = [
            f"CASE WHEN {_sql(one)} THEN {points} ELSE 0 END -- {_one_line(one.text)}"
            for one, points in items
        ]
        total = "\n    + ".join(terms or ["0"])
        risks = "\n".join(f"    WHEN {one['total']} THEN {one['risk']!r}" for one in self.risk)
        flag = (
            "0"
            if self.call_at is None
            else f'CASE WHEN "total" >= {self.call_at} THEN 1 ELSE 0 END'
        )
        return (
            f"-- {_one_line(self.decision)}\n"
            f'SELECT *,\n  CASE "total"\n{risks}\n  END AS "risk",\n  {flag} AS "flag"\nFROM (\n'
            f'  SELECT *,\n    {total}\n    AS "total"\n  FROM {_quoted(table)}\n) AS "scored"'
        )

    def to_python(self, name: str = "card") -> str:
        """Write a function of one row, a dict, that needs no package and returns total and risk.

        Dates are ISO text without a zone, or objects of ``datetime``; missing values None or absent.

        Parameters
        ----------
        name : str, default="card"
            Name of the function.
        """
        lines = [
            f"def {name}(row):",
            f"    {self.decision!r}",
            "    total = 0",
        ]
        for one, points in self.items:
            lines += [
                f"    value = row.get({one.column!r})  # {_one_line(one.text)}",
                "    known = value is not None and value == value",
                f"    if {_python(one)}:",
                f"        total += {points}",
            ]
        risks = {one["total"]: one["risk"] for one in self.risk}
        called = "False" if self.call_at is None else f"total >= {self.call_at}"
        lines += [f"    risk = {risks!r}[total]", f"    return total, risk, {called}"]
        return "\n".join(lines) + "\n"

    def _risk_cells(self) -> list[list[str]]:
        return [
            [
                *(str(one["total"]), _percent(one["risk"]), count_text(one["rows"])),
                *(count_text(one["positives"]), _interval(one)),
            ]
            for one in self.risk
        ]


_RISK_HEADER = ["total", "risk", "held-out rows", "of them positive", "95 % interval"]


def _interval(row: dict[str, Any]) -> str:
    return f"{_percent(row['low'])} to {_percent(row['high'])}" if row["rows"] else "no rows"


def _percent(share: float) -> str:
    """Write one decimal, or two significant digits of a share below 1 %."""
    if 0 < share < _SMALLEST_SHARE:
        return f"<{_SMALLEST_SHARE:.4%}"
    return f"{100 * share:.2g}%" if 0 < share < 0.01 else f"{share:.1%}"


def _markdown_table(header: list[str], rows: list[list[str]]) -> str:
    rule = ["---", *("---:" for _ in header[1:])]
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, rule, *rows))


def _latex(text: str) -> str:
    return _SPECIAL.sub(lambda found: _LATEX[found[0]], text)


def _one_line(text: str) -> str:
    """Keep a text within its comment; programs end lines at more than one sign."""
    return " ".join(text.splitlines())


def _quoted(name: str) -> str:
    quoted = str(name).replace('"', '""')
    return f'"{quoted}"'


def _sql_text(value: str) -> str:
    quoted = value.replace("'", "''")
    return f"'{quoted}'"


def _sql(one: Condition) -> str:
    column = _quoted(one.column)
    if one.or_missing:
        return f"{column} IS NULL OR {_sql(replace(one, or_missing=False))}"
    if one.test in ("missing", "present"):
        return f"{column} IS {'NOT ' if one.test == 'present' else ''}NULL"
    if one.test in ("in", "not in"):
        return f"{column} {one.test.upper()} ({', '.join(map(_sql_text, one.value))})"
    test = "<>" if one.test == "!=" else one.test
    return f"{column} {test} {_sql_text(one.moment) if one.is_date else repr(one.value)}"


def _python(one: Condition) -> str:
    if one.or_missing:
        return f"not known or {_python(replace(one, or_missing=False))}"
    tests: dict[str, Callable[[], str]] = {
        "missing": lambda: "not known",
        "present": lambda: "known",
        "in": lambda: f"known and str(value) in {one.value!r}",
        "not in": lambda: f"known and str(value) not in {one.value!r}",
    }
    if one.test in tests:
        return tests[one.test]()
    test = "==" if one.test == "=" else one.test
    if one.is_date:
        return f"known and str(value).replace('T', ' ') {test} {one.moment!r}"
    return f"known and value {test} {one.value!r}"
