"""The programs of the guide to other libraries, with the real packages."""

import itertools
import textwrap
import warnings
from pathlib import Path

import numpy as np
import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "integrations.rst"


def run_program(name, **given):
    """Run the lines below a caption, as far as they are indented, and return what they define."""
    text = GUIDE.read_text(encoding="utf-8").partition(f":caption: {name}.py\n")[2].splitlines()
    block = itertools.takewhile(lambda line: not line or line.startswith("   "), text)
    found = {"__name__": name, **given}
    with warnings.catch_warnings():
        # Warnings of these packages are theirs.
        warnings.simplefilter("ignore")
        exec(compile(textwrap.dedent("\n".join(block)), f"{name}.py", "exec"), found)
    return found


def test_every_program_and_test_of_the_table_exists():
    from benchmarks.integrations import GUIDE as THIS
    from benchmarks.integrations import ROWS

    named = [test for *_, test in ROWS]
    for test in named:
        file, _, rest = test.partition("::")
        text = (GUIDE.parents[2] / file).read_text(encoding="utf-8")
        function = rest.rpartition("::")[2].partition("[")[0]
        assert not function or f"def {function}(" in text, test
    own = [name for name in globals() if name.startswith("test_") and "of_the_table" not in name]
    assert {f"{THIS}::{name}" for name in own} <= set(named)


def test_boosting_stops_where_the_region_is_best():
    for package in ("catboost", "lightgbm", "xgboost"):
        pytest.importorskip(package)
    found = run_program("boosting_metrics")
    assert all(1 <= rounds < 50 for rounds in found["rounds"])
    X, y, metric = (found[name] for name in ("X", "y", "metric"))
    valid = found["valid"]
    reported = [
        found["light"].best_score_["valid_0"]["auc_partial"],
        found["extreme"].best_score,
        found["cat"].get_best_score()["validation"]["_CatBoostMetric"],
    ]
    scores = [
        found["light"].predict(X[valid], raw_score=True),
        found["extreme"].predict(X[valid], output_margin=True),
        found["cat"].predict(X[valid], prediction_type="RawFormulaVal"),
    ]
    for value, score in zip(reported, scores, strict=True):
        # XGBoost evaluates scores of single precision.
        assert value == pytest.approx(metric(y[valid], np.float32(score)), abs=2e-3)


def test_weights_reach_the_metric_in_catboost():
    catboost = pytest.importorskip("catboost")
    from aucuba.objectives import PartialAUCMetric

    rng = np.random.default_rng(0)
    X, y, weight = rng.normal(size=(400, 3)), np.arange(400) % 4 == 0, rng.integers(1, 5, 400)
    X[:, 0] += y
    metric = PartialAUCMetric((0.0, 0.3))
    model = catboost.CatBoostClassifier(
        iterations=5, eval_metric=metric.catboost, verbose=False, allow_writing_files=False
    )
    pool = catboost.Pool(X, y.astype(int), weight=weight)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(pool, eval_set=pool)
    last = model.get_evals_result()["validation"]["_CatBoostMetric"][-1]
    scores = model.predict(X, prediction_type="RawFormulaVal", ntree_end=5)
    assert last == pytest.approx(metric(y, scores, weight), abs=1e-9)
    assert last != pytest.approx(metric(y, scores), abs=1e-6)


def test_lightning():
    for package in ("torch", "torchmetrics", "lightning"):
        pytest.importorskip(package)
    from aucuba.metrics import partial_auc_score

    found = run_program("lightning_loop")
    scores = found["model"].score(found["X"])[:, 0].detach().numpy().astype(np.float64)
    expected = partial_auc_score(found["y"].numpy(), scores, fpr_range=(0.0, 0.2))
    assert found["reached"] == pytest.approx(expected, abs=1e-6)
    assert found["reached"] > 0.5


def test_hugging_face(tmp_path):
    transformers = pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    pytest.importorskip("accelerate")
    from aucuba.metrics import partial_auc_score

    compute_metrics = run_program("trainer_metrics")["compute_metrics"]
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=50,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        num_labels=2,
    )
    tokens = torch.randint(1, 50, (300, 8))
    labels = (tokens[:, 0] > 30).long()
    rows = [{"input_ids": x, "labels": y} for x, y in zip(tokens, labels, strict=True)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trainer = transformers.Trainer(
            transformers.BertForSequenceClassification(config),
            transformers.TrainingArguments(str(tmp_path), report_to="none", use_cpu=True),
            eval_dataset=rows,
            compute_metrics=compute_metrics,
        )
        found = trainer.evaluate()
        logits = trainer.predict(rows).predictions
    expected = partial_auc_score(labels.numpy(), logits[:, 1] - logits[:, 0], fpr_range=(0.0, 0.1))
    assert found["eval_partial_auc"] == pytest.approx(expected)
    assert found["eval_low"] <= found["eval_partial_auc"] <= found["eval_high"]


def test_optuna():
    pytest.importorskip("optuna")
    study = run_program("optuna_search")["study"]
    assert len(study.trials) == 4
    assert 0.5 < study.best_value <= 1.0


def test_mlflow(tmp_path):
    pytest.importorskip("mlflow")
    pytest.importorskip("skops")
    found = run_program("mlflow_model", folder=tmp_path / "model")
    model, again = found["model"], found["again"]
    assert again.promise_ == model.promise_
    np.testing.assert_array_equal(again.predict(found["X"]), model.predict(found["X"]))


def test_mlflow_evaluation(tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow")
    pytest.importorskip("matplotlib")
    from aucuba.metrics import partial_auc_score

    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/runs.db")
        found = run_program("mlflow_evaluation")
    metrics, rows = found["result"].metrics, found["rows"]
    expected = partial_auc_score(rows["label"], rows["score"], fpr_range=(0.0, 0.1))
    assert metrics["partial_auc/value"] == pytest.approx(expected)
    assert metrics["partial_auc/low"] < expected < metrics["partial_auc/high"]
    assert found["result"].artifacts["region"].content.size > (100, 100)


def test_skops_loads_every_model_with_the_public_list():
    skops = pytest.importorskip("skops.io")
    pytest.importorskip("pandas")
    from aucuba.persistence import trusted_types
    from tests.persistence.saved_models import all_models

    known, asked = set(trusted_types()), set()
    with warnings.catch_warnings():
        # Fits of a few iterations warn.
        warnings.simplefilter("ignore")
        for _, model, _, _ in all_models():
            asked |= set(skops.get_untrusted_types(data=skops.dumps(model)))
    assert asked <= known
    assert not {name for name in known if name.startswith("aucuba.")} - asked
