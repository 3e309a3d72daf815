"""Audits: intervals that cover at any size, plans that keep their budget, errors that help."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aucuba.threshold import AuditPlan, audit_interval, plan_audit


def true_rate(rate, y, flags):
    if rate == "tpr":
        return flags[y].mean()
    return flags[~y].mean() if rate == "fpr" else y[flags].mean()


def drawn_again(plan, flags, included):
    """The plan with other rows, drawn by the same probabilities."""
    rows = np.flatnonzero(included)
    return replace(
        plan,
        rows=rows,
        flags=flags[rows],
        probability=plan.inclusion_probability[rows],
        look_sizes=np.array([rows.size]),
    )


@pytest.mark.parametrize("rate", ["tpr", "fpr", "precision"])
@pytest.mark.parametrize("chance", [None, 0.4, "wrong"])
def test_covers_over_all_draws_of_a_tiny_table(rate, chance):
    """The probability of every draw is known, so coverage is a sum, not a simulation."""
    rng = np.random.default_rng(0)
    flags = np.array([1, 1, 0, 0, 0, 0], dtype=bool)
    for y in (rng.random((2, 6)) < 0.5) | (np.arange(6) == 3) | (np.arange(6) == 0):
        y[-1] = False
        known = {None: None, 0.4: np.full(6, 0.4), "wrong": np.where(y, 0.02, 0.98)}[chance]
        plan = plan_audit(
            flags,
            budget=2,
            rate=rate,
            positive_probability=known,
            confidence=0.7,
            random_state=0,
        )
        inclusion, truth = plan.inclusion_probability, true_rate(rate, y, flags)
        missed = 0.0
        for draw in itertools.product([False, True], repeat=6):
            included = np.array(draw)
            found = audit_interval(drawn_again(plan, flags, included), y[included])
            if not found.low <= truth <= found.high:
                missed += np.prod(np.where(included, inclusion, 1 - inclusion))
        assert missed <= 0.3


def test_covers_with_few_positives_where_a_normal_interval_does_not():
    rng = np.random.default_rng(0)
    y = rng.random(5_000) < 0.01
    score = rng.normal(size=5_000) + 2 * y
    flags = score > 1.5
    truth, n_draws = flags[y].mean(), 120
    plan = plan_audit(flags, budget=400, random_state=0)
    covered = normal = 0
    for _ in range(n_draws):
        included = rng.random(5_000) < plan.inclusion_probability
        again = drawn_again(plan, flags, included)
        found = audit_interval(again, y[included])
        covered += found.low <= truth <= found.high
        weight = y[included] / again.probability
        error = weight * (again.flags - found.value)
        half = 1.96 * np.sqrt(np.sum(error**2)) / max(weight.sum(), 1e-300)
        normal += abs(found.value - truth) <= half
    assert covered >= 0.95 * n_draws
    assert normal < 0.9 * n_draws


def test_labelling_every_row_gives_the_rate_itself():
    rng = np.random.default_rng(0)
    y, flags = rng.random(200) < 0.2, rng.random(200) < 0.3
    for rate in ("tpr", "fpr", "precision"):
        plan = plan_audit(flags, budget=200, rate=rate, random_state=0)
        found = audit_interval(plan, y[plan.rows])
        truth = true_rate(rate, y, flags)
        assert found.value == pytest.approx(truth, abs=1e-12)
        assert found.low == pytest.approx(truth, abs=1e-6)
        assert found.high == pytest.approx(truth, abs=1e-6)


def test_certain_flags_do_not_cost_the_upper_limit():
    """Without chances, all flagged rows are labelled, and the bets must fit the other rows."""
    rng = np.random.default_rng(0)
    y = rng.random(20_000) < 0.1
    flags = rng.normal(size=20_000) + 2 * y > 2.3
    plan = plan_audit(flags, budget=8_000, random_state=0)
    assert (plan.inclusion_probability[flags] == 1).all()
    found = audit_interval(plan, y[plan.rows])
    assert found.low < flags[y].mean() < found.high
    assert found.high - found.low < 0.15


def test_interval_is_about_the_share_that_hits():
    """Labels exchanged: a rate of hits becomes a rate of misses, and the interval turns around."""
    rng = np.random.default_rng(0)
    flags = rng.random(2_000) < 0.5
    y = rng.random(2_000) < np.where(flags, 0.4, 0.1)
    plan = plan_audit(flags, budget=300, rate="precision", random_state=0)
    found = audit_interval(plan, y[plan.rows])
    turned = audit_interval(plan, ~y[plan.rows])
    assert turned.low == pytest.approx(1 - found.high, abs=1e-6)
    assert turned.high == pytest.approx(1 - found.low, abs=1e-6)


def test_known_chances_narrow_the_interval_and_predict_its_width():
    rng = np.random.default_rng(0)
    y = rng.random(50_000) < 0.01
    score = rng.normal(size=50_000) + 3 * y
    chance = 1 / (1 + 99 * np.exp(4.5 - 3 * score))
    flags = score > 2.6
    widths = []
    for known in ({"positive_probability": chance}, {}):
        plan = plan_audit(flags, budget=2_000, random_state=0, **known)
        found = audit_interval(plan, y[plan.rows])
        widths.append((found.high - found.low) / 2)
        if known:
            assert widths[0] == pytest.approx(plan.expected_half_width, rel=0.25)
    assert widths[0] < 0.8 * widths[1]


def test_pilot_learns_the_chances():
    rng = np.random.default_rng(0)
    y = rng.random(30_000) < 0.02
    score = rng.normal(size=30_000) + 3 * y
    plan = plan_audit(
        score[5_000:] > 2.5,
        budget=1_000,
        pilot=(score[:5_000], y[:5_000].astype(int)),
        scores=score[5_000:],
        random_state=0,
    )
    near = np.abs(score[5_000:] - 2.3) < 0.1
    far = score[5_000:] < 0
    assert plan.inclusion_probability[near].mean() > 2 * plan.inclusion_probability[far].mean()
    assert np.isfinite(plan.expected_half_width)


@settings(max_examples=20)
@given(
    st.integers(1, 400),
    st.sampled_from(["tpr", "fpr", "precision"]),
    st.booleans(),
    st.integers(0, 5),
)
def test_inclusion_keeps_the_budget(budget, rate, with_chances, seed):
    rng = np.random.default_rng(seed)
    flags = np.r_[True, False, rng.random(298) < 0.2]
    chance = rng.random(300) ** 3 if with_chances else None
    plan = plan_audit(
        flags, budget=budget, rate=rate, positive_probability=chance, random_state=seed
    )
    inclusion = plan.inclusion_probability
    relevant = flags if rate == "precision" else np.ones(300, dtype=bool)
    assert inclusion.sum() <= budget + 1e-6
    # Above a floor the budget is used; caps at 1 leave at most the even part unused.
    assert inclusion.sum() >= 0.3 * min(budget, relevant.sum())
    assert (inclusion[relevant] > 0).all()
    assert inclusion.max() <= 1
    assert not inclusion[~relevant].any()
    assert plan.look_sizes[-1] == plan.rows.size


def test_looks_divide_the_error_and_end_with_all_rows():
    rng = np.random.default_rng(0)
    y = rng.random(20_000) < 0.05
    score = rng.normal(size=20_000) + 2 * y
    plan = plan_audit(score > 1.5, budget=2_000, looks=4, random_state=0)
    labels = y[plan.rows]
    widths = []
    for size in plan.look_sizes:
        found = audit_interval(plan, labels[:size])
        assert found.low <= (score > 1.5)[y].mean() <= found.high
        widths.append(found.high - found.low)
    assert widths == sorted(widths, reverse=True)
    one = plan_audit(score > 1.5, budget=2_000, random_state=0)
    alone = audit_interval(one, y[one.rows])
    assert alone.high - alone.low < widths[-1]
    assert set(plan.to_frame()["look"]) == {1, 2, 3, 4}
    # The order tells nothing: early rows are flagged as often as late ones.
    half = plan.rows.size // 2
    assert plan.flags[:half].mean() == pytest.approx(plan.flags[half:].mean(), abs=0.1)
    with pytest.raises(ValueError, match="Label the rest, or plan with more looks"):
        audit_interval(plan, labels[: plan.look_sizes[0] - 1])


def test_an_early_look_is_a_plan_with_smaller_probabilities():
    rng = np.random.default_rng(0)
    flags = rng.random(3_000) < 0.3
    y = rng.random(3_000) < np.where(flags, 0.5, 0.1)
    plan = plan_audit(flags, budget=1_000, looks=4, random_state=0)
    n = plan.look_sizes[0]
    alone = replace(
        plan,
        rows=plan.rows[:n],
        flags=plan.flags[:n],
        probability=plan.probability[:n] / 4,
        look_sizes=plan.look_sizes[:1],
        confidence=1 - (1 - plan.confidence) / 4,
        least=(plan.least[0] / 4, plan.least[1] / 4),
    )
    found, expected = (audit_interval(one, y[one.rows[:n]]) for one in (plan, alone))
    assert (found.value, found.low, found.high) == pytest.approx(
        (expected.value, expected.low, expected.high), abs=1e-6
    )


def test_plan_survives_json():
    rng = np.random.default_rng(0)
    flags = rng.random(500) < 0.1
    for known in ({}, {"positive_probability": rng.random(500)}):
        plan = plan_audit(flags, budget=100, looks=2, random_state=0, **known)
        y = rng.random(plan.rows.size) < 0.4
        again = AuditPlan.from_json(plan.to_json())
        assert audit_interval(again, y) == audit_interval(plan, y)
    assert plan_audit(flags, budget=100, random_state=0).rows.tolist() == (
        plan_audit(flags, budget=100, random_state=0).rows.tolist()
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text[:50],
        lambda text: text.replace('"aucuba_audit": 1', '"aucuba_audit": 2'),
        lambda text: text.replace('"rate": "tpr"', '"rate": "auc"'),
        lambda text: text.replace('"probability": [', '"probability": [7, '),
        lambda text: text.replace('"n_rows": 50', '"n_rows": 2'),
        lambda text: text.replace('"look_sizes": [', '"look_sizes": [9999, '),
        lambda text: "[]",
        lambda text: "[" * 100_000,
    ],
)
def test_damaged_json_is_refused(change):
    text = plan_audit(np.arange(50) % 2, budget=20, random_state=0).to_json()
    assert change(text) != text
    with pytest.raises(ValueError, match=r"not the text of AuditPlan\.to_json"):
        AuditPlan.from_json(change(text))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"flags": []}, "flags is empty"),
        ({"flags": [0, 1, 2]}, "flags"),
        ({"flags": ["a", "b"]}, "flags"),
        ({"flags": [0, 0]}, "No row is flagged"),
        ({"flags": [1, 1]}, "No row is unflagged"),
        ({"flags": [0, 0], "rate": "precision"}, "no precision to learn"),
        ({"rate": "recall"}, "rate must be one of"),
        ({"budget": 0}, "budget must be a whole number above 0"),
        ({"budget": 2.5}, "budget must be a whole number above 0"),
        ({"looks": 0}, "looks must be"),
        ({"confidence": 1.0}, "confidence must lie in"),
        ({"positive_probability": [0.1, 0.2, 1.5]}, "must lie in"),
        ({"positive_probability": [0.1, np.nan, 0.5]}, "positive_probability"),
        ({"positive_probability": [0.1]}, "positive_probability has 1 entries for 3 rows"),
        ({"scores": [1, 2, 3]}, "needs scores="),
        ({"pilot": ([1, 2], [0, 1])}, "needs scores="),
        (
            {"pilot": ([1, 2], [0, 1]), "scores": [1, 2, 3], "positive_probability": [0, 0, 1]},
            "not both",
        ),
    ],
)
def test_bad_input_has_one_clear_error(arguments, message):
    with pytest.raises(ValueError, match=message):
        plan_audit(**{"flags": [0, 1, 1], "budget": 2, **arguments})


def test_bad_labels_have_one_clear_error():
    plan = plan_audit(np.arange(60) % 2, budget=60, random_state=0)
    n = plan.rows.size
    for y, labels, message in [
        (np.full(n, np.nan), None, "missing"),
        (["pass"] * n, None, "name the positive one"),
        (["fraud"] + ["ok"] * (n - 1), ("ok", "fruad"), "fraud"),
    ]:
        with pytest.raises(ValueError, match=message):
            audit_interval(plan, y, labels=labels)
    text = ["bad"] * (n // 2) + ["ok"] * (n - n // 2)
    named = audit_interval(plan, text, labels=("ok", "bad"))
    assert named == audit_interval(plan, np.arange(n) < n // 2)
    assert str(named).endswith("(95% interval, betting; tpr of the 60 rows of the plan)")
