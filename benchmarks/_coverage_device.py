"""Resampling of the study of coverage by a GPU, through CuPy.

The measures are the library's own: their modules call NumPy by names that CuPy has too. The draws are
those of the library's compiled loops, number by number, so that both ways give the same counts:
``python -m benchmarks._coverage_device`` compares them.
"""

from __future__ import annotations

from contextlib import contextmanager
from types import ModuleType

import cupy
import numpy as np
from sklearn.utils import check_random_state

from aucuba._roc import _curve, _enhancement, _points, _region, _threshold
from aucuba._roc._curve import RocCurve
from aucuba._roc._runs import Runs
from aucuba._rows._sample import RankingSample
from aucuba.metrics import _measures
from aucuba.metrics._resampling import Draw, resampled_curves
from benchmarks._coverage_cells import THRESHOLD, all_cells, measures

MODULES: tuple[ModuleType, ...] = (
    _curve,
    _enhancement,
    _measures,
    _points,
    _region,
    _threshold,
)
# Resamples without one of the classes are left out; so many more are drawn.
SPARE = 50
THREADS = 256
SOURCE = r"""
extern "C" __global__ void draw(
    const unsigned long long* seeds, unsigned long long part, const int* slot, const double* weight,
    int n_rows, int n_slots, double* total)
{
    const int place = blockIdx.x * blockDim.x + threadIdx.x;
    if (place >= n_rows) return;
    unsigned long long bits = (seeds[blockIdx.y] ^ part) + (place + 1ULL) * 0x9E3779B97F4A7C15ULL;
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9ULL;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBULL;
    bits = (bits ^ (bits >> 31)) >> 11;
    const long long row = (long long)((double)bits * (n_rows / 9007199254740992.0));
    atomicAdd(total + (size_t)blockIdx.y * n_slots + slot[row], weight[row]);
}

extern "C" __global__ void spread(
    const double* count, const int* unit, const int* slot, const double* weight,
    int n_rows, int n_units, int n_slots, double* total)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n_rows) return;
    const double times = count[(size_t)blockIdx.y * n_units + unit[row]];
    if (times > 0)
        atomicAdd(total + (size_t)blockIdx.y * n_slots + slot[row], times * weight[row]);
}
"""
KERNELS = cupy.RawModule(code=SOURCE)


def common_draws(sample, draw, chosen, seed, n_resamples, cuts):
    """Values of the measures on common resamples."""
    runs = Runs.from_sample(sample, cuts)
    totals = _totals(draw, runs, seed, n_resamples)
    with _arrays_on_device():
        by_class = totals.reshape(n_resamples, 2, runs.n_runs)
        cumulated = cupy.zeros((n_resamples, 2, runs.n_runs + 1))
        cumulated[..., 1:] = cupy.cumsum(by_class, axis=-1)
        curves = RocCurve(cumulated[:, 0], cumulated[:, 1], cupy.asarray(runs.threshold))
        values = [_of_curve(one, curves, sample.n_rows) for one in chosen]
        return list(cupy.asnumpy(cupy.stack(values)))


def _totals(draw, runs, seed, n_resamples):
    """Weights of the slots in resamples that have rows of both classes."""
    rng, n_slots = check_random_state(seed), 2 * runs.n_runs
    seeds = [rng.randint(2**64, dtype=np.uint64) for _ in range(n_resamples + SPARE)]
    seeds = cupy.asarray(np.array(seeds, dtype=np.uint64))
    total, weight = cupy.zeros((seeds.size, n_slots)), draw.sample.weights
    if draw.cluster is not None:
        n_units = int(draw.cluster.max()) + 1
        count = cupy.zeros((seeds.size, n_units))
        _launch("draw", n_units, seeds, np.uint64(0), np.arange(n_units), np.ones(n_units),
                np.int32(n_units), np.int32(n_units), count)  # fmt: skip
        _launch("spread", weight.size, count, draw.cluster, runs.slot, weight,
                np.int32(weight.size), np.int32(n_units), np.int32(n_slots), total)  # fmt: skip
    else:
        for number, rows in enumerate(draw._parts):
            _launch("draw", rows.size, seeds, np.uint64(number), runs.slot[rows], weight[rows],
                    np.int32(rows.size), np.int32(n_slots), total)  # fmt: skip
    good = total.reshape(seeds.size, 2, -1).any(axis=2).all(axis=1)
    return total[good][:n_resamples]


def _launch(name, n_threads, first, *arguments):
    """Run a kernel for every row and resample; integers travel as 32 bits."""
    on_device = [
        cupy.asarray(one.astype(np.int32) if one.dtype.kind == "i" else one)
        if isinstance(one, np.ndarray)
        else one
        for one in arguments
    ]
    grid = (-(-n_threads // THREADS), first.shape[0])
    KERNELS.get_function(name)(grid, (THREADS,), (first, *on_device))


def _of_curve(measure, curves, n_rows):
    if measure.region is None or measure.region.is_plain_range:
        return measure.of_curve(curves, n_rows)
    weights = measure.region.weights
    with _numpy_again():
        tables = {"_area_before": weights._area_before, "_lines": weights._lines}
    kept = dict(weights.__dict__)
    try:
        for name, value in {**kept, **tables}.items():
            parts = value if isinstance(value, tuple) else (value,)
            moved = tuple(cupy.asarray(one) for one in parts)
            weights.__dict__[name] = moved if isinstance(value, tuple) else moved[0]
        return measure.of_curve(curves, n_rows)
    finally:
        weights.__dict__.clear()
        weights.__dict__.update(kept)


@contextmanager
def _arrays_on_device():
    for module in MODULES:
        module.np = cupy
    try:
        yield
    finally:
        for module in MODULES:
            module.np = np


@contextmanager
def _numpy_again():
    for module in MODULES:
        module.np = np
    try:
        yield
    finally:
        for module in MODULES:
            module.np = cupy


def largest_difference(n_resamples: int = 100) -> float:
    """Largest relative difference between the two ways, over all measures of the smaller cells."""
    worst = 0.0
    for cell in (one for one in all_cells() if one.n_positives <= 200):
        for unit in ("by_class", "random"):
            y, score, weight, cluster = cell.draw(np.random.default_rng(0), unit)
            sample = RankingSample.from_arrays(y, score, weight)
            chosen = [one for one in measures(cell).values() if one.sampling == unit]
            draw = Draw(sample, unit == "by_class", cluster)
            found = common_draws(sample, draw, chosen, 1, n_resamples, (THRESHOLD,))
            for measure, values in zip(chosen, found, strict=True):
                curves = resampled_curves(sample, draw, n_resamples, 1, (THRESHOLD,))
                want = np.concatenate([measure.of_curve(one, sample.n_rows) for one in curves])
                worst = max(worst, float(np.max(np.abs(values - want) / np.abs(want).max())))
    return worst


if __name__ == "__main__":
    print(f"largest relative difference: {largest_difference():.1e}")
