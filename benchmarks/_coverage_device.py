"""Resampling of the study of coverage by a GPU, through CuPy.

The measures are the library's own: their modules call NumPy by names that CuPy has too. The draws are
those of the library's compiled loops, number by number, so that both ways give the same counts: a
run with ``--device`` compares them first.
"""

from __future__ import annotations

from contextlib import contextmanager
from types import ModuleType

import cupy
import numpy as np

from aucuba._roc import _curve, _enhancement, _points, _region, _threshold
from aucuba._roc._curve import RocCurve
from aucuba.metrics import _measures

MODULES: tuple[ModuleType, ...] = (_curve, _enhancement, _measures, _points, _region, _threshold)
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


def padded_totals(draw, runs, widest, seeds):
    """Weights of the runs in every resample, shape (n_resamples, 2, widest), on the device."""
    seeds, n_slots = cupy.asarray(seeds), 2 * runs.n_runs
    total, weight = cupy.zeros((seeds.size, n_slots)), draw.sample.weights
    if draw.group is not None:
        n_units = int(draw.group.max()) + 1
        count = cupy.zeros((seeds.size, n_units))
        _launch("draw", n_units, seeds, np.uint64(0), np.arange(n_units), np.ones(n_units),
                np.int32(n_units), np.int32(n_units), count)  # fmt: skip
        _launch("spread", weight.size, count, draw.group, runs.slot, weight,
                np.int32(weight.size), np.int32(n_units), np.int32(n_slots), total)  # fmt: skip
    else:
        for number, rows in enumerate(draw._parts):
            _launch("draw", rows.size, seeds, np.uint64(number), runs.slot[rows], weight[rows],
                    np.int32(rows.size), np.int32(n_slots), total)  # fmt: skip
    padded = cupy.zeros((seeds.size, 2, widest))
    padded[:, :, : runs.n_runs] = total.reshape(seeds.size, 2, runs.n_runs)
    return padded


def evaluate(chosen, totals, n_rows):
    """Values of the measures on the host, shape (n_samples, n_resamples)."""
    stacked = cupy.stack(totals)
    cumulated = cupy.zeros((*stacked.shape[:-1], stacked.shape[-1] + 1))
    cumulated[..., 1:] = cupy.cumsum(stacked, axis=-1)
    curves = RocCurve(cumulated[..., 0, :], cumulated[..., 1, :], cupy.empty(0))
    with _arrays_on_device():
        return {name: cupy.asnumpy(one.of_curve(curves, n_rows)) for name, one in chosen.items()}


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


@contextmanager
def _arrays_on_device():
    for module in MODULES:
        module.np = cupy
    try:
        yield
    finally:
        for module in MODULES:
            module.np = np


def largest_difference() -> float:
    """Largest difference between the two ways, relative to the largest value, over some cells."""
    from benchmarks import interval_coverage as study
    from benchmarks._coverage_cells import Cell

    worst = 0.0
    for cell in (Cell(30, 300, kind, 2.5) for kind in ("plain", "ties", "weights", "clusters")):
        found: list[dict] = [{}, {}]
        for on_device, kept in enumerate(found):
            study._evaluate, plain = _recording(study._evaluate, kept), study._evaluate
            study.simulate(cell, 0, 2, bool(on_device))
            study._evaluate = plain
        for name, values in found[0].items():
            values, others = np.array(values), np.array(found[1][name])
            worst = max(worst, float(np.max(np.abs(values - others)) / np.max(np.abs(values))))
    return worst


def _recording(function, kept):
    def evaluate_and_keep(*arguments):
        values = function(*arguments)
        for name, of_samples in values.items():
            kept.setdefault(name, []).extend(of_samples)
        return values

    return evaluate_and_keep
