"""What a mistake costs, a classifier that minds it, and what it is worth where nobody looked.

Who earns more than 50,000 dollars, in the census of 1994 (Adult, UCI)? A clerk answers which of two
classifiers is better; the answers give a cost ratio, the costs a classifier. On the second half of
the census we pretend that there are no labels: three rules of thumb vote, and they are not
independent, since all three go with age. Then 50 labels are bought.

Needs the shared data that the environment variable KARAT_DATA names.

Run:  python examples/census_without_labels.py
"""

import sys

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from karat.bounds import performance_bounds
from karat.datasets import load_shared
from karat.elicit import BinarySpace, Elicitation, MetricOracle
from karat.exceptions import MissingDatasetError
from karat.metrics import cost_matrix
from karat.optimize import PlugInClassifier

try:
    census = load_shared("adult")
except MissingDatasetError as error:
    sys.exit(f"no census, no story: {error}")
y = census["income"].to_numpy()
known = ["age", "education_num", "hours_per_week", "sex", "race", "occupation", "workclass"]
X = pd.get_dummies(census[known]).to_numpy(dtype=np.float64)
X = (X - X.mean(axis=0)) / X.std(axis=0)
train, new = (np.flatnonzero(census["split"] == part) for part in ("train", "test"))
train, checked = train[:8000], train[8000:12_000]
model = LogisticRegression(max_iter=500).fit(X[train], y[train])

# 1. What should we measure? To the clerk a rich man who is missed is as bad as two who are called
# rich and are not; one answer in twenty is a slip. TerminalOracle would ask you instead.
score = model.predict_proba(X[checked])[:, 1]
space = BinarySpace.from_scores(y[checked], score, pos_label=">50K").smoothed()
clerk = MetricOracle(cost_matrix([[0, 1], [2, 0]]), flip=0.05, rng=1)
elicited = Elicitation(space, worst_rate=0.9, rng=0).run(clerk)
worth = elicited.metric
print(f"What should we measure?\n  {elicited.summary()}")

# 2. What is good at it?
shifted = PlugInClassifier(model, worth, pos_label=">50K", n_folds=5)
shifted.fit(X[train], y[train], X_val=X[checked], y_val=y[checked])
print(f"\nWhat is good at it?\n  {shifted.history_.summary()}")

# 3. How good is it on people whom nobody has labelled? Three rules of thumb, each silent on some.
people = census.iloc[new]
married = people["marital_status"].str.startswith("Married-civ").to_numpy()
schooled, older = people["education_num"].to_numpy(), people["age"].to_numpy()
votes = np.stack(
    [
        np.where(married, ">50K", "<=50K"),
        np.where(schooled >= 13, ">50K", np.where(schooled <= 9, "<=50K", "-1")),
        np.where(older >= 45, ">50K", np.where(older <= 30, "<=50K", "-1")),
    ],
    axis=1,
)
y_pred = shifted.predict(X[new])
truth = worth.score(y[new], y_pred, pos_label=">50K")
print("\nHow good is it where nobody labelled anything?")
without = performance_bounds(y_pred, votes, metric=worth, pos_label=">50K", rng=0)
print(f"  {without.summary()}")

# 4. Fifty labels, drawn at random.
rng = np.random.default_rng(0)
some = np.full(len(new), None, dtype=object)
at = rng.choice(len(new), 50, replace=False)
some[at] = y[new][at]
bought = performance_bounds(y_pred, votes, metric=worth, pos_label=">50K", y_true=some, rng=0)
print(f"\nAnd with 50 labels?\n  {bought.summary()}")
print(f"\nThe truth, hidden until now: {truth:.3f}")
inside = without.lower_limit <= truth <= without.upper_limit
print(
    f"  The limits without labels {'hold' if inside else 'miss'} it; they said that they might not."
)
assert without.check.status != "undecided"
assert bought.lower_limit <= truth <= bought.upper_limit
