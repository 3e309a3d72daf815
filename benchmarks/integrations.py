"""Other libraries beside this one: ``python -m benchmarks integrations``.

Each row is a test with the real package, which `make test-all` runs too; the versions are those of this
run. A failure, or a test that could not run here, stays in the table under its name. Writes
``benchmarks/results/integrations.md``.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from reproductions.tables import markdown_table, write_signed

ROOT = Path(__file__).parents[1]
RESULT = Path(__file__).parent / "results" / "integrations.md"
GUIDE = "tests/integrations/test_guide.py"
# What is shown, the packages whose versions are shown, and the test.
ROWS = [
    (
        "searches and cross-validation with a scorer",
        "scikit-learn",
        "tests/metrics/test_scorers.py::test_cross_validation_and_search",
    ),
    (
        "a search over base and promise",
        "scikit-learn",
        "tests/threshold/test_ecosystem.py::test_grid_search_over_base_and_promise",
    ),
    (
        "early stopping by one metric",
        "lightgbm, xgboost, catboost",
        f"{GUIDE}::test_boosting_stops_where_the_region_is_best",
    ),
    ("weights in the metric", "catboost", f"{GUIDE}::test_weights_reach_the_metric_in_catboost"),
    ("objective", "lightgbm", "tests/objectives/test_boosting.py::test_lightgbm_end_to_end"),
    ("objective", "xgboost", "tests/objectives/test_boosting.py::test_xgboost_end_to_end"),
    (
        "boosting on a cluster",
        "distributed, xgboost",
        "tests/ensemble/test_dask_boosting.py::test_xgboost_equals_the_fit_in_memory",
    ),
    (
        "boosting on a cluster",
        "distributed, lightgbm",
        "tests/ensemble/test_dask_boosting.py::test_lightgbm_on_rows_sorted_by_class",
    ),
    (
        "linear models on Dask",
        "dask",
        "tests/linear/test_dask.py::test_dense_blocks_equal_an_array",
    ),
    (
        "columns of a Dask DataFrame",
        "dask",
        "tests/linear/test_column_preparer.py::test_a_pipeline_on_dask_is_that_of_the_rows_in_memory",
    ),
    ("loss, trained", "torch", "tests/objectives/test_torch.py::test_a_small_network_learns"),
    (
        "loss, two processes",
        "torch",
        "tests/objectives/test_torch.py::test_two_processes_train_like_one",
    ),
    ("metric over batches", "torchmetrics", "tests/objectives/test_torchmetrics.py::test_batches"),
    (
        "metric, two processes",
        "torchmetrics",
        "tests/objectives/test_torchmetrics.py::test_two_processes_see_all_rows",
    ),
    ("training loop", "lightning", f"{GUIDE}::test_lightning"),
    (
        "trainer, random weights, on the processor",
        "transformers, accelerate",
        f"{GUIDE}::test_hugging_face",
    ),
    ("search", "optuna", f"{GUIDE}::test_optuna"),
    ("model saved and loaded", "mlflow, skops", f"{GUIDE}::test_mlflow"),
    ("measures and pictures of an evaluation", "mlflow", f"{GUIDE}::test_mlflow_evaluation"),
    (
        "trusted types of every model",
        "skops",
        f"{GUIDE}::test_skops_loads_every_model_with_the_public_list",
    ),
    (
        "graphs with the decision inside",
        "onnx, onnxruntime",
        "tests/export/test_onnx.py::test_scores_flags_and_labels",
    ),
    (
        "graphs with a promise",
        "onnxruntime",
        "tests/export/test_onnx.py::TestPromises::test_calibration_recomputes_the_order_statistic",
    ),
    (
        "converters in its pipelines",
        "skl2onnx",
        "tests/export/test_onnx.py::TestSkl2onnx::test_our_converters_in_its_pipelines",
    ),
    (
        "linear models as SQL",
        "SQLite (Python's)",
        "tests/export/test_sql.py::test_scores_and_flags",
    ),
    ("linear models as SQL", "duckdb", "tests/export/test_sql.py::test_duckdb_computes_the_same"),
    ("a scorecard as SQL", "duckdb", "tests/scorecard/test_printing.py::test_sql_runs_in_duckdb"),
    (
        "frames and Arrow streams in fit and predict",
        "pandas, polars, pyarrow, narwhals, duckdb",
        "tests/test_frames.py::test_same_scores_and_names",
    ),
    (
        "the same with a model file of the command line",
        "pandas, polars, pyarrow, narwhals, duckdb",
        "tests/test_frames.py::test_model_files_of_the_command_line",
    ),
    (
        "columns as labels and scores",
        "polars, pyarrow",
        "tests/test_frames.py::test_columns_of_labels_and_scores",
    ),
    (
        "tables of one column as labels, weights and scores",
        "polars, pyarrow, narwhals, duckdb",
        "tests/test_frames.py::test_labels_weights_and_scores_from_tables_of_one_column",
    ),
    ("the service of the guide", "fastapi", "tests/cli/test_service.py"),
    (
        "graphs to rank on",
        "networkx",
        "tests/structured/test_graph.py::test_from_networkx",
    ),
    (
        "its breakpoints as segments",
        "ruptures",
        "tests/test_guide_blocks.py::test_a_block_runs[changepoint.rst",
    ),
]


def shown_versions(packages: str) -> str:
    """Write names and versions of installed packages."""
    return ", ".join(_with_version(name) for name in packages.split(", "))


def _with_version(name: str) -> str:
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return name


def outcomes(tests: list[str]) -> dict[str, str]:
    """Run tests and return the outcome of every case by its name."""
    command = ["-m", "pytest", "-q", "-rA", "--tb=no", "-p", "no:cacheprovider", *tests]
    run = subprocess.run(
        [sys.executable, *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    found = {}
    for line in run.stdout.splitlines():
        word, _, name = line.partition(" ")
        if word in ("PASSED", "FAILED", "ERROR", "XFAIL"):
            found[name.partition(" - ")[0]] = word.lower()
    return found


def row(shown: tuple[str, str, str], found: dict[str, str]) -> list[str]:
    what, packages, test = shown
    cases = [word for name, word in found.items() if name.startswith(test)]
    failed = len(cases) - cases.count("passed")
    result = f"{len(cases)} passed" if cases and not failed else f"**{failed} failed**"
    return [
        what,
        shown_versions(packages),
        f"`{test.replace('[', ', ')}`",
        result if cases else "**not run here**",
    ]


def main() -> None:
    found = outcomes(sorted({test.partition("[")[0] for *_, test in ROWS}))
    rows = [row(one, found) for one in ROWS]
    words = (__doc__ or "").split("\n\n", 1)[1].rpartition(" Writes")[0]
    text = f"# Other libraries beside this one\n\n{words}\n\n" + markdown_table(
        ["what", "with", "test", "result"], rows
    )
    write_signed(RESULT, text, "benchmarks integrations")


if __name__ == "__main__":
    main()
