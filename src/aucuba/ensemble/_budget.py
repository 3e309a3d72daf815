"""Fit the members of a stack within a time limit."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
from sklearn.utils.validation import check_memory

from aucuba._base._callbacks import LOG, Progress
from aucuba._roc._region import Region
from aucuba._rows._out_of_fold import Folds
from aucuba._rows._splits import drawn_within_classes, shuffled_folds
from aucuba.ensemble._members import (
    FittedMember,
    Member,
    StackedFit,
    fit_without_repeated_warnings,
)
from aucuba.ensemble._runner import OutOfTime, Runner
from aucuba.ensemble._sampling import ALL_ROWS

# The smaller of two trial fits uses a fortieth of the rows, within these limits.
_TRIAL_ROWS = (150, 1000)
_TRIAL_FRACTION = 40
_FEWEST_OF_A_CLASS = 10
_TRIAL_FOLDS = 2


@dataclass(frozen=True)
class Budget:
    """Deadline of a fit, on the clock of `time.monotonic`."""

    end: float

    @classmethod
    def from_limit(cls, seconds: float | None) -> Budget:
        """Start the clock; None means no limit."""
        return cls(np.inf if seconds is None else time.monotonic() + seconds)

    @property
    def remaining(self) -> float:
        """Seconds left."""
        return self.end - time.monotonic()

    def fit(
        self, member: Member, runner: Runner, region: Region, seed: int, at_least: float
    ) -> tuple[Member, StackedFit] | None:
        """Fit a member, or a cheaper one of its kind, or nothing if too little time is left.

        ``at_least`` is the time of the cheapest member; with less than that left nothing is tried.
        """
        if np.isinf(self.end):
            return member, fit_without_repeated_warnings(member, runner, region, seed)
        if self.remaining < at_least:
            return None
        limited = replace(runner, deadline=self.end)
        try:
            wanted = _seconds(member, limited, region, seed, self.remaining)
            left = self.remaining
            affordable = member if wanted <= left else member.reduced(left / wanted)
            if affordable is None:
                return None
            return affordable, fit_without_repeated_warnings(affordable, limited, region, seed)
        except OutOfTime:
            return None


def fit_members(
    members: list[tuple[str, Member]],
    runner: Runner,
    region: Region,
    seed: int,
    budget: Budget,
    verbose: int,
) -> list[FittedMember]:
    """Fit the first member, then others until time runs out or a callback stops the fit."""
    (first, member), *others = members
    runner.progress.stage = first
    begin = time.monotonic()
    fit = fit_without_repeated_warnings(member, runner, region, seed)
    fits = [FittedMember.from_fit(first, member, fit)]
    took = time.monotonic() - begin
    _log(verbose, "fitted", first, len(members))
    for name, member in others:
        if runner.progress.stopped:
            break
        runner.progress.stage = name
        done = budget.fit(member, runner, region, seed, took)
        if done is not None:
            fits.append(FittedMember.from_fit(name, *done))
        _log(verbose, "left out, no time" if done is None else "fitted", name, len(members))
    return fits


def _log(verbose: int, outcome: str, name: str, n_members: int) -> None:
    if verbose:
        LOG.info("RegionStack: %s %s (of %d members)", name, outcome, n_members)


def _seconds(member: Member, runner: Runner, region: Region, seed: int, remaining: float) -> float:
    """Predict the time of a fit, linear in the number of rows, from two fits on few rows.

    One trial is enough if the fit would finish in time even if none of its time were constant.
    """
    n_rows = runner.n_trained
    n_small = int(np.clip(n_rows // _TRIAL_FRACTION, *_TRIAL_ROWS))
    trial = _trial_runner(runner, n_small, seed)
    more_fits = _times_the_fits(member, runner, trial)
    small = _timed(member, trial, region, seed)
    in_proportion = small * n_rows / n_small * more_fits
    if in_proportion < remaining - small:
        return in_proportion
    large = _timed(member, _trial_runner(runner, 2 * n_small, seed), region, seed)
    per_row = max(large - small, small / 4) / n_small
    return (large + per_row * max(n_rows - 2 * n_small, 0)) * more_fits


def _times_the_fits(member: Member, runner: Runner, trial: Runner) -> float:
    """Return the ratio of a member's work to that of its trial."""
    wanted, tried = (member.n_fits(one.folds, every_row=one.every_row) for one in (runner, trial))
    if tried == 1:
        return wanted
    n_folds = len(runner.folds.splits)
    # A trial with two folds trains on half of its rows; more folds train on nearly all.
    return 2.0 * (n_folds - 1) / n_folds * wanted / tried


def _trial_runner(runner: Runner, n_rows: int, seed: int) -> Runner:
    """Make a runner on a few rows, without the cache, since cached fits would look free."""
    sample, rng = runner.table.sample, np.random.default_rng(seed)
    rows = drawn_within_classes(
        sample.positive, np.arange(sample.n_rows), n_rows, rng, fewest=_FEWEST_OF_A_CLASS
    )
    table = runner.table.take(rows)
    splits = shuffled_folds(table.sample.y, _TRIAL_FOLDS, seed)
    free = runner.folds.interchangeable and runner.every_row
    folds = Folds(splits, rows.size, interchangeable=free)
    return replace(
        runner,
        table=table,
        folds=folds,
        kept=None,
        memory=check_memory(None),
        progress=Progress(None),
        sampling=ALL_ROWS,
    )


def _timed(member: Member, runner: Runner, region: Region, seed: int) -> float:
    """Time one fit, including imports if it is the first."""
    start = time.monotonic()
    fit_without_repeated_warnings(member, runner, region, seed)
    return time.monotonic() - start
