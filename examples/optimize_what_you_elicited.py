"""From "which is better?" to a classifier that is better, and to what it is worth without labels.

An auditor cannot say what a missed fraud costs in false alarms, but can say which of two filters is
better. The answers give a metric, the metric a classifier, and three rules of thumb say how good it
is on a new month that nobody labelled.

Run:  python examples/optimize_what_you_elicited.py
"""

import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from karat.bounds import difference_bounds, performance_bounds
from karat.elicit import BinarySpace, Elicitation, MetricOracle
from karat.metrics import cost_matrix
from karat.optimize import CostSensitiveClassifier, PlugInClassifier
from karat.weak import DawidSkene

# Payments, one in ten of them a fraud. The archive that the model is trained on was collected case
# by case and is half fraud, so the model expects fraud too often.
X, target = make_classification(
    30_000, 12, n_informative=6, weights=[0.9], class_sep=0.8, flip_y=0.02, random_state=0
)
y = np.where(target == 1, "fraud", "honest")
rng = np.random.default_rng(0)
fraud, honest = (rng.permutation(np.flatnonzero(y == c)) for c in ("fraud", "honest"))
archive = np.concatenate([fraud[:1000], honest[:1000]])
rest = rng.permutation(np.concatenate([fraud[1000:], honest[9000:]]))
checked, new = rest[:3000], rest[3000:]
model = LogisticRegression(max_iter=1000).fit(X[archive], y[archive])

# 1. What should we measure? The auditor: a false alarm blocks a card, so a missed fraud is as bad
# as two of them; one answer in ten is a slip. TerminalOracle(space.classes) would ask you instead.
score = model.predict_proba(X[checked])[:, list(model.classes_).index("fraud")]
space = BinarySpace.from_scores(y[checked], score, pos_label="fraud").smoothed()
auditor = MetricOracle(cost_matrix([[0, 1], [2, 0]]), flip=0.1, rng=1)
# With one fraud in eight, filters that are best for such costs miss more than half of it, which is
# more than a question shows by default.
elicited = Elicitation(space, worst_rate=0.9, rng=0).run(auditor)
print("What should we measure?")
print(f"  {elicited.summary()}")

# 2. What is good at it? The costs with the model's probabilities at their word, or with weights
# found on 3,000 checked payments. Nothing is trained again.
worth = elicited.metric
at_its_word = CostSensitiveClassifier(model, worth, pos_label="fraud").fit(X[archive], y[archive])
shifted = PlugInClassifier(model, worth, pos_label="fraud", n_folds=5)
shifted.fit(X[archive], y[archive], X_val=X[checked], y_val=y[checked])
print("\nWhat is good at it?")
print(f"  {shifted.history_.summary()}")
print(f"  {shifted.decision_regions().summary()}")

# 3. How good is it on the new month? Nobody labelled it; three rules of thumb vote, each on some of
# the payments and each wrong at times.
truth = y[new]
lies = np.where(truth == "fraud", "honest", "fraud")
right, seen = [0.92, 0.88, 0.85], [0.9, 0.8, 0.8]
says = np.where(rng.random((len(new), 3)) < right, truth[:, None], lies[:, None])
votes = np.where(rng.random((len(new), 3)) < seen, says, None)
label_model = DawidSkene(rng=0).fit(votes)
print("\nHow good is it where nobody labelled anything?")
decided = {
    "most probable class": model.predict(X[new]),
    "costs at their word": at_its_word.predict(X[new]),
    "post-shifted": shifted.predict(X[new]),
}
found = {}
for name, y_pred in decided.items():
    b = performance_bounds(y_pred, votes, label_model, metric=worth, pos_label="fraud", rng=0)
    true = worth.score(truth, y_pred, pos_label="fraud")
    print(
        f"  {name}: between {b.lower:.3f} and {b.upper:.3f} (limits {b.lower_limit:.3f} and "
        f"{b.upper_limit:.3f}); the truth, hidden until now: {true:.3f}"
    )
    assert b.lower_limit <= true <= b.upper_limit

    found[name] = true

first, second = decided["post-shifted"], decided["costs at their word"]
d = difference_bounds(first, second, votes, label_model, metric=worth, pos_label="fraud", rng=0)
print(f"  Post-shifted against costs at their word. {d.summary()}")
assert d.lower_limit > 0
assert found["post-shifted"] == max(found.values())
