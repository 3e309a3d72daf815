"""Training and scoring on a graphics card: seconds, passes and certificates.

Run with ``python -m benchmarks cuda`` on a machine with a CUDA card of 60 GB or more; it rewrites
``benchmarks/results/cuda.md``. ``--rows`` makes it smaller, ``--only a,b`` runs some of its parts.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from sklearn.base import clone

from aucuba import PartialAUCClassifier, PartialAUCClassifierCV, PartialAUCSVC
from aucuba.metrics import partial_auc_score
from aucuba.risks import Region, Sample, make_risk
from reproductions.tables import markdown_table, write_signed

N_ROWS, N_COLUMNS = 50_000_000, 128
POSITIVES = 0.02
SEED = 0
ROWS_AT_ONCE = 1_000_000
RESULT = Path(__file__).parent / "results" / "cuda.md"


def classifier(surrogate: str, fpr_range: tuple[float, float], **params: Any) -> Any:
    """The class of a surrogate: "direct" is the loss of the anchored model."""
    if surrogate == "direct":
        return PartialAUCClassifier(fpr_range, **params)
    return PartialAUCSVC(fpr_range, loss=surrogate, **params)


def table(n_rows: int, device: str) -> tuple[Any, Any]:
    """Draw standard normal columns, and labels from a noisy linear rule with 2 % positives."""
    import torch

    generator = torch.Generator(device).manual_seed(SEED)
    X = torch.empty(n_rows, N_COLUMNS, device=device)
    noisy = torch.empty(n_rows, device=device)
    weights = torch.randn(N_COLUMNS, device=device, generator=generator)
    for start in range(0, n_rows, ROWS_AT_ONCE):
        block = X[start : start + ROWS_AT_ONCE]
        block.normal_(generator=generator)
        noise = torch.randn(len(block), device=device, generator=generator)
        noisy[start : start + ROWS_AT_ONCE] = block @ weights + weights.norm() * noise
    limit = torch.topk(noisy, round(POSITIVES * n_rows), sorted=False).values.min()
    return X, noisy >= limit


def seconds(job: Callable[[], Any], repeats: int = 5) -> tuple[float, Any]:
    """Return the median time of a job, after one call to warm up, and its result."""
    import torch

    times, result = [], job()
    for _ in range(repeats):
        torch.cuda.synchronize()
        start = time.perf_counter()
        result = job()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return float(np.median(times)), result


class Watched:
    """Count and time the calls of some methods of an object, with the card's queue emptied."""

    def __init__(self, inner: Any, watched: tuple[str, ...], log: dict[str, list[float]]) -> None:
        self._inner, self._watched, self._log = inner, watched, log

    def __getattr__(self, name: str) -> Any:
        import torch

        member = getattr(self._inner, name)
        if name not in self._watched:
            return member

        def timed(*args: Any) -> Any:
            torch.cuda.synchronize()
            start = time.perf_counter()
            result = member(*args)
            torch.cuda.synchronize()
            self._log.setdefault(name, []).append(time.perf_counter() - start)
            return result

        return timed


def products(X: Any) -> list[list[Any]]:
    """Compare products with X to plain torch ones of the same shape."""
    import torch

    from aucuba.design import TorchDesign

    design, w = TorchDesign(X), np.random.default_rng(SEED).normal(size=N_COLUMNS)
    single = torch.as_tensor(w, dtype=torch.float32, device=X.device)
    g = torch.randn(X.shape[0], device=X.device, dtype=torch.float64) / X.shape[0]
    three = torch.randn(3, X.shape[0], device=X.device)
    doubles = list(three.double())
    rows = []
    for name, ours, plain in (
        ("X @ w", lambda: design.scores(w), lambda: X @ single),
        ("X.T @ g", lambda: design.adjoint(g), lambda: X.T @ g.float()),
        ("X.T @ G, three gradients", lambda: design.adjoint(doubles), lambda: three @ X),
        ("X.T diag(h) X", lambda: design.gram(g.abs()), lambda: X.T @ X),
    ):
        own, other = seconds(ours)[0], seconds(plain)[0]
        rows.append([name, f"{own * 1e3:.1f}", f"{other * 1e3:.1f}", f"{own / other:.2f}"])
    return rows


def risks(X: Any, positive: Any) -> list[list[Any]]:
    """Time one evaluation of every risk."""
    scores = X[:, 0].double() + positive
    rows = []
    for surrogate in ("structural", "tight", "direct"):
        for band in ((0.0, 0.05), (0.0, 1.0)):
            risk = make_risk(surrogate, Sample(positive), Region.from_params(band))
            took = seconds(lambda risk=risk: risk.value_and_gradient(scores))[0]
            rows.append([surrogate, band, f"{took * 1e3:.1f}"])
    return rows


def fits(X: Any, positive: Any) -> list[list[Any]]:
    """Time whole fits from tensors on the card to a certified gap of 1e-3."""
    rows = []
    for band in ((0.0, 0.05), (0.0, 1.0)):
        for C in (1.0, 100.0):
            model = PartialAUCSVC(band, loss="structural", C=C, rtol=None)
            took, fitted = seconds(lambda model=model: model.fit(X, positive), 3)
            log = watched_solve(X, positive, band, C)
            rows.append(
                [
                    band,
                    f"{C:g}",
                    f"{took:.3f}",
                    f"{fitted.gap_:.1e}",
                    fitted.n_iter_,
                    len(log["value_and_gradient"]),
                    f"{sum(log['scores']) + sum(log['adjoint']):.3f}",
                    f"{sum(log['value_and_gradient']):.3f}",
                    f"{log['total'][0] - sum(map(sum, log.values())) + log['total'][0]:.3f}",
                ]
            )
    return rows


def watched_solve(
    X: Any, positive: Any, band: tuple[float, float], C: float
) -> dict[str, list[float]]:
    """Solve once more with every product and evaluation timed."""
    import torch

    from aucuba.design import TorchDesign
    from aucuba.solvers import BundleSolver

    log: dict[str, list[float]] = {}
    design = Watched(TorchDesign(X), ("scores", "adjoint"), log)
    risk = Watched(
        make_risk("structural", Sample(positive), Region.from_params(band)),
        ("value_and_gradient",),
        log,
    )
    start = time.perf_counter()
    BundleSolver(C=C, rtol=None).solve(design, risk)
    torch.cuda.synchronize()
    log["total"] = [time.perf_counter() - start]
    return log


def direct(X: Any, positive: Any) -> list[list[Any]]:
    """Time one direct fit with its anchor."""
    model = PartialAUCClassifier((0.0, 0.05))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        took, fitted = seconds(lambda: model.fit(X, positive), 1)
    evaluations = fitted.history_[-1]["n_evaluations"]
    return [[f"{took:.2f}", fitted.n_iter_, evaluations, fitted.status_]]


def cross_validated(device: str, n_rows: int) -> list[list[Any]]:
    """Time one cross-validated fit, and count its passes over rows of X."""
    from aucuba.design import TorchDesign

    X, positive = table(n_rows, device)
    rows_read = {"scores": 0, "adjoint": 0, "gram": 0}
    plain = {name: getattr(TorchDesign, name) for name in rows_read}

    def counted(name: str) -> Callable[..., Any]:
        def method(design: Any, *args: Any) -> Any:
            rows_read[name] += design.n_rows
            return plain[name](design, *args)

        return method

    model = PartialAUCClassifierCV((0.0, 0.05), random_state=SEED)
    for name in rows_read:
        setattr(TorchDesign, name, counted(name))
    try:
        start = time.perf_counter()
        model.fit(X, positive)
        took = time.perf_counter() - start
    finally:
        for name, method in plain.items():
            setattr(TorchDesign, name, method)
    passes = [f"{count / n_rows:.0f}" for count in rows_read.values()]
    return [[f"{n_rows:,}", f"{took:.1f}", *passes, model.status_]]


def scoring(X: Any, positive: Any) -> list[list[Any]]:
    """Compare `partial_auc_score` of scores on the card to one sort of them."""
    import torch

    scores = X[:, 0].double() + positive
    sort = seconds(lambda: torch.sort(scores))[0]
    rows = []
    for band in ((0.0, 0.05), (0.0, 1.0)):
        own = seconds(lambda band=band: partial_auc_score(positive, scores, fpr_range=band))[0]
        rows.append([band, f"{own * 1e3:.1f}", f"{sort * 1e3:.1f}", f"{own / sort:.2f}"])
    return rows


def against_processor(X: Any, positive: Any) -> list[list[Any]]:
    """Fit a subsample on the card and, as NumPy arrays, on the processor."""
    rows = []
    part, labels = X[:200_000].contiguous(), positive[:200_000]
    host = part.cpu().numpy(), labels.cpu().numpy()
    for surrogate in ("structural", "tight", "direct"):
        for band in ((0.0, 0.05), (0.02, 0.05), (0.0, 1.0)):
            model = classifier(surrogate, band, tol=1e-5)
            card = model.fit(part, labels).objective_
            again = model.fit(part, labels).objective_
            processor = model.fit(*host).objective_
            rows.append(
                [
                    surrogate,
                    band,
                    f"{processor:.8f}",
                    f"{abs(card - processor) / processor:.1e}",
                    f"{abs(card - again) / again:.1e}",
                ]
            )
    return rows


def agreement(device: str) -> list[list[Any]]:
    """Compare results on the card with those of NumPy arrays: choices, areas, recorded losses."""
    import torch

    from aucuba.objectives import AUMLoss, PartialAUCLoss, _step

    X, positive = table(60_000, device)
    host, labels = X.double().cpu().numpy(), positive.cpu().numpy()
    rows = []
    for band in ((0.0, 0.05), (0.02, 0.1), (0.0, 1.0)):
        model = PartialAUCClassifierCV(band, Cs=3, random_state=SEED)
        card, processor = clone(model).fit(X.double(), positive), clone(model).fit(host, labels)
        same = card.C_ == processor.C_
        gap = np.abs(card.coef_ - processor.coef_).max() / np.abs(processor.coef_).max()
        calibration = np.abs(card.calibration_ - processor.calibration_).max()
        rows.append([f"CV {band}, same C: {same}; coefficients", f"{gap:.1e}"])
        rows.append([f"CV {band}, calibration", f"{calibration:.1e}"])
        for name, scores in (("", X[:, 0].double()), (" with ties", X[:, 0].double().round())):
            own = partial_auc_score(positive, scores, fpr_range=band)
            want = partial_auc_score(labels, scores.cpu().numpy(), fpr_range=band)
            rows.append([f"partial_auc_score {band}{name}", f"{abs(own - want):.1e}"])
    makers = {
        "PartialAUCLoss": lambda: PartialAUCLoss(validate=False),
        "PartialAUCLoss, direct": lambda: PartialAUCLoss(surrogate="direct", validate=False),
        "AUMLoss": lambda: AUMLoss(validate=False),
    }
    for name, make in makers.items():
        recorded, launched, worst = make().cuda(), make().cuda(), 0.0
        for start in range(0, 10_240, 1_024):
            gradients = []
            for loss, most in ((recorded, _step._MOST_SHAPES), (launched, 0)):
                scores = X[start : start + 1_024, 0].clone().requires_grad_()
                with mock.patch.object(_step, "_MOST_SHAPES", most):
                    loss(scores, positive[start : start + 1_024].float()).backward()
                gradients.append(scores.grad)
            worst = max(worst, float((gradients[0] - gradients[1]).abs().max()))
        rows.append([f"{name}: gradients recorded and launched, ten batches", f"{worst:.1e}"])
    torch.cuda.synchronize()
    return rows


def growth(device: str, largest: int) -> list[list[Any]]:
    """Time fits of growing tables; the exponent is that of the last doubling pair."""
    sizes = [largest // 50, largest // 10, largest // 2]
    times: dict[str, list[float]] = {"structural": [], "direct": []}
    for n_rows in sizes:
        X, positive = table(n_rows, device)
        for surrogate, took in times.items():
            model = classifier(surrogate, (0.0, 0.05))
            took.append(seconds(partial(model.fit, X, positive), 3)[0])
    rows = []
    for surrogate, took in times.items():
        exponent = np.log(took[-1] / took[-2]) / np.log(sizes[-1] / sizes[-2])
        rows.append([surrogate, *(f"{one:.3f}" for one in took), f"{exponent:.2f}"])
    return rows


def main() -> None:
    import torch

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=N_ROWS)
    parser.add_argument("--only", default="")
    parser.add_argument("--output", type=Path, default=RESULT)
    options = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("This benchmark needs a CUDA card; none is visible.")
    chosen = set(filter(None, options.only.split(",")))
    X, positive = table(options.rows, "cuda")
    parts: list[tuple[str, str, list[str], Callable[[], list[list[Any]]]]] = [
        (
            "products",
            "Products with X, in milliseconds, beside plain torch products of the same shape "
            "(which do not add up blocks in double precision)",
            ["product", "ours", "plain", "ratio"],
            lambda: products(X),
        ),
        (
            "risks",
            "One evaluation of a risk with its gradient, in milliseconds",
            ["surrogate", "range", "ms"],
            lambda: risks(X, positive),
        ),
        (
            "fits",
            "Whole fits of the structural hinge, `tol=1e-3`, `rtol=None`: seconds (median of 3), the "
            "certified gap as recomputed in double precision, iterations and evaluations; and seconds "
            "of products, evaluations and the rest in one more solve that waits after each",
            [
                "range",
                "C",
                "seconds",
                "gap",
                "iterations",
                "evaluations",
                "products",
                "risk",
                "rest",
            ],
            lambda: fits(X, positive),
        ),
        (
            "direct",
            "One direct fit of the range (0, .05), its logistic regression included",
            ["seconds", "iterations", "evaluations", "status"],
            lambda: direct(X, positive),
        ),
        (
            "cv",
            "`PartialAUCClassifierCV` of the range (0, .05) with its defaults: seconds of the first "
            "call, and passes over X, parts of it counted as such",
            ["rows", "seconds", "X @ w", "X.T @ g", "X.T diag(h) X", "status"],
            lambda: cross_validated("cuda", options.rows // 5),
        ),
        (
            "scoring",
            "`partial_auc_score` of scores on the card, in milliseconds, beside one `torch.sort`",
            ["range", "ours", "sort", "ratio"],
            lambda: scoring(X, positive),
        ),
        (
            "processor",
            "The same problem, 200,000 rows, on card and processor (NumPy): relative differences of "
            "the objectives, and of two fits on the card",
            ["surrogate", "range", "objective", "card - processor", "card - card"],
            lambda: against_processor(X, positive),
        ),
        (
            "agreement",
            "The same calls on card and processor: 60,000 rows in double precision, and losses with "
            "their step recorded and launched; largest differences (of coefficients, relative)",
            ["call", "difference"],
            lambda: agreement("cuda"),
        ),
        (
            "growth",
            f"Seconds of fits of {options.rows // 50:,}, {options.rows // 10:,} and "
            f"{options.rows // 2:,} rows, and the exponent of the last step",
            ["surrogate", "small", "middle", "large", "exponent"],
            lambda: growth("cuda", options.rows),
        ),
    ]
    text = [
        f"# On a graphics card\n\n{options.rows:,} x {N_COLUMNS} float32 on "
        f"{torch.cuda.get_device_name()}, standard normal columns, {POSITIVES:.0%} positives by "
        "a noisy linear rule, data already on the card. Times after one call to warm up."
    ]
    for name, title, columns, job in parts:
        if chosen and name not in chosen:
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                rows = job()
        except Exception as error:  # a part that fails must not lose what the others measured
            text.append(f"## {title}\n\nFailed: {type(error).__name__}: {error}")
            print(text[-1], flush=True)
            continue
        text.append(f"## {title}\n\n{markdown_table(columns, rows)}")
        print(text[-1], flush=True)
        # Written after every part: a machine that is lent may be taken back.
        write_signed(options.output, "\n\n".join(text), "benchmarks cuda", ["torch"])


if __name__ == "__main__":
    main()
