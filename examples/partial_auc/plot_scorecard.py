"""
A card of whole points
======================

A card of four conditions that can be added up by hand, chosen for few false alarms: at most one benign
tumour in ten may be called malignant. What is it worth beside a line on all thirty columns, and which
total may be called at?
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from aucuba import FixedFPRClassifier, RegionScorecard, explain_rows
from aucuba.metrics import RocRegionDisplay
from aucuba.scorecard import Scorecard

FPR_RANGE = (0.0, 0.1)
X, y = load_breast_cancer(return_X_y=True, as_frame=True)
malignant = (y == 0).astype(int)
X_train, X_test, y_train, y_test = train_test_split(
    X, malignant, test_size=0.5, stratify=malignant, random_state=0
)

# %%
# The card. Its risks are those of rows that cards of other folds have scored.
card = RegionScorecard(FPR_RANGE, max_items=4, sign=1, cv=3, random_state=0).fit(X_train, y_train)
print(Scorecard.from_model(card))

# %%
# Beside logistic regression of all columns, on rows that neither has seen.
line = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)
_, ax = plt.subplots()
for name, score in (("card", card.total(X_test)), ("all columns", line.decision_function(X_test))):
    display = RocRegionDisplay.from_predictions(y_test, score, fpr_range=FPR_RANGE, ax=ax)
    display.line_.set_label(f"{name}: pAUC = {display.partial_auc:.2f}")
ax.legend()
plt.show()

# %%
# Which total may be called at? The promise is made on rows that the card has not seen.
promised = FixedFPRClassifier(
    RegionScorecard(FPR_RANGE, max_items=4, sign=1, cv=3, random_state=0), 0.1, random_state=0
).fit(X, malignant)
print(Scorecard.from_model(promised).decision)

# %%
# Why was a row called?
print(explain_rows(card, X_test[y_test == 1][:2], 4))
