"""One fit of AutoGluon; run by its own interpreter, which has no aucuba."""

import sys
import tempfile
import time

import numpy as np
import pandas as pd
from autogluon.core.metrics import make_scorer
from autogluon.tabular import TabularPredictor
from sklearn.metrics import roc_auc_score

_BEGIN = time.time()


def processor_clock():
    """A clock that stands still while the processor works for others.

    AutoGluon asks `time.time` how much of its limit is left. On a busy machine that would cost it
    models; by this clock its seconds are those of a core that it has for itself.
    """
    return _BEGIN + time.process_time()


def partial_auc(y_true, y_score):
    """The area in (0, .05) as scikit-learn scales it, which orders models in the same way."""
    return roc_auc_score(y_true, y_score, max_fpr=0.05)


METRICS = {
    "log-loss": "log_loss",
    "region": make_scorer("partial_auc", partial_auc, optimum=1.0, needs_threshold=True),
}


def run(asked, answered):
    with np.load(asked) as content:
        train, test, y = content["train"], content["test"], content["y"]
        metric, seconds = str(content["metric"]), float(content["seconds"])
    names = [f"c{k}" for k in range(train.shape[1])]
    rows = pd.DataFrame(train, columns=names).assign(label=y.astype(int))
    time.time = processor_clock
    start = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        predictor = TabularPredictor(
            "label",
            problem_type="binary",
            eval_metric=METRICS[metric],
            path=folder,
            verbosity=0,
        )
        predictor.fit(rows, presets="best_quality", time_limit=seconds, num_cpus=1, num_gpus=0)
        spent = time.process_time() - start
        score = predictor.predict_proba(pd.DataFrame(test, columns=names))[1].to_numpy()
        n_models = len(predictor.model_names())
    np.savez(answered, score=score, seconds=spent, n_models=n_models)


if __name__ == "__main__":
    run(sys.argv[1], sys.argv[2])
