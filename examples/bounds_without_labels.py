"""How good is a spam filter that nobody labelled data for? Ask the rules it was trained from.

Comments are drawn from a known law, so that the answer can be held against the truth.
"""

import numpy as np

from karat.bounds import (
    difference_bounds,
    performance_bounds,
    rank_models,
    robustness_curve,
    weak_label_value,
)
from karat.metrics import cost_matrix
from karat.weak import DawidSkene, vote_diagnostics

rng = np.random.default_rng(0)
n = 5000
spam = rng.random(n) < 0.4
labels = np.where(spam, "spam", "ham")

# Six rules: each sees some of the comments, and is right more often than not.
coverage, right = [0.7, 0.6, 0.8, 0.5, 0.6, 0.7], [0.85, 0.8, 0.75, 0.9, 0.7, 0.8]
says = np.where(rng.random((n, 6)) < right, labels[:, None], np.where(spam, "ham", "spam")[:, None])
weak_labels = np.where(rng.random((n, 6)) < coverage, says, None)
print(vote_diagnostics(weak_labels).summary())

# The filters to judge, and the law of truth and rules, from the rules alone. These rules err
# independently, which is what Dawid and Skene assume; where nothing is known of the rules, pass no
# label model.
better = np.where(rng.random(n) < 0.92, labels, np.where(spam, "ham", "spam"))
worse = np.where(rng.random(n) < 0.70, labels, np.where(spam, "ham", "spam"))
label_model = DawidSkene(rng=0).fit(weak_labels)

# 1. How good can and must it be? By any metric: a name, or one of your own.
for metric in ("accuracy", "f1", cost_matrix([[0, 5], [1, 0]])):
    b = performance_bounds(better, weak_labels, label_model, metric=metric, rng=0)
    truth = b.metric.score(labels, better)
    print(f"\n{b.summary()}\n  the truth, hidden until now: {truth:.3f}")
    assert b.lower_limit <= truth <= b.upper_limit

# 2. Is it better than the other one? Where both agree they cancel.
d = difference_bounds(better, worse, weak_labels, label_model, metric="accuracy", rng=0)
print(f"\n{d.summary()}")
ranking = rank_models(
    {"better": better, "worse": worse}, weak_labels, label_model, metric="f1", rng=0
)
print(ranking.summary())

# 3. What if the label model is a little wrong?
curve = robustness_curve(better, weak_labels, label_model, metric="accuracy", claim=0.65, rng=0)
print(f"\n{curve.summary()}")

# 4. Which rule is worth its keep?
print(weak_label_value(better, weak_labels, label_model, metric="accuracy", rng=0).summary())

# 5. Thirty labels test the label model itself, and give limits that do not rest on it.
few = np.where(rng.permutation(n) < 30, labels, None)
checked = performance_bounds(better, weak_labels, label_model, metric="accuracy", y_true=few, rng=0)
print(f"\n{checked.summary()}")
