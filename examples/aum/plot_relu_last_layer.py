"""
The last layer of a ReLU network
================================

The scores of a network are linear in the weights of its last layer, whatever comes before. Along any
direction in those weights AUM is piecewise linear and AUC piecewise constant, and both can be searched
exactly: the hidden layers are a transformer in a Pipeline, and
:class:`~aucuba.AUMClassifier` is the last layer. Here a small network is trained with the
usual cross-entropy loss on unbalanced classes; then its last layer alone is trained for AUC.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from aucuba import AUMClassifier
from aucuba.aum import ErrorFunctions, aum, line_search_path

# %%
# Two rings, one row in fifteen positive
# --------------------------------------


def rings(n, seed):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 1 / 15).astype(int)
    radius = 1.0 + 0.6 * y + 0.35 * rng.normal(size=n)
    angle = rng.uniform(0, 2 * np.pi, n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), y


X, y = rings(3000, 0)
X_test, y_test = rings(20_000, 1)

# %%
# A network, and its last layer again
# -----------------------------------

network = MLPClassifier((32,), learning_rate_init=0.01, max_iter=300, random_state=0).fit(X, y)


def hidden(rows):
    return np.maximum(rows @ network.coefs_[0] + network.intercepts_[0], 0.0)


last_layer = make_pipeline(
    FunctionTransformer(hidden),
    StandardScaler(),
    AUMClassifier(validation_fraction=0.3, random_state=0, max_iter=200),
).fit(X, y)
for name, score in (
    ("cross-entropy", network.predict_proba(X_test)[:, 1]),
    ("last layer by AUM", last_layer.decision_function(X_test)),
):
    print(f"{name:18s} test AUC {roc_auc_score(y_test, score):.4f}")

# %%
# The two are equal here up to noise: cross-entropy had found good hidden features, and on those many
# last layers rank alike. The exact search asks for no learning rate and no second loss.

# %%
# One exact search from the network's own weights
# -----------------------------------------------
# Without any retraining: AUM and AUC of the network along the negative gradient of its last layer.

features = hidden(X)
weights = network.coefs_[1][:, 0]
errors = ErrorFunctions.from_labels(y)
gradient = features.T @ aum(errors, features @ weights).gradient
path = line_search_path(errors, features @ weights, -features @ gradient)
print(path.n_rows, "rows;", path.best_aum(), path.best_auc())
figure, (top, bottom) = plt.subplots(2, 1, sharex=True, figsize=(6, 4.4), layout="constrained")
top.step(path.step, path.auc_after, where="post", color="black")
top.set_ylabel("AUC")
bottom.plot(path.step, path.aum, color="black")
bottom.set(xlabel="step along the last layer's gradient", ylabel="AUM")
plt.show()
