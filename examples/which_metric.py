"""Which model and which threshold? It depends on the metric: state it, save it, use it."""

import tempfile
from pathlib import Path

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from karat.metrics import accuracy, cost_matrix, load_metric
from karat.statistics import confusion, roc_counts

data = load_breast_cancer()
y = data.target_names[data.target]
X_train, X_test, y_train, y_test = train_test_split(data.data[:, :10], y, random_state=0)

# A missed cancer costs as much as ten false alarms: benign first, malignant second.
costs = cost_matrix([[0, 1], [10, 0]])
print(costs.describe(["benign", "malignant"]))

# The metric is a scikit-learn scorer ...
model = make_pipeline(StandardScaler(), LogisticRegression())
search = GridSearchCV(model, {"logisticregression__C": [0.1, 1, 10]}, scoring=costs.as_scorer())
search.fit(X_train, y_train)
proba = search.predict_proba(X_test)

# ... and knows its best classifier: not the most probable class, but the least expected cost.
for metric in (accuracy, costs):
    decide = metric.for_classes(2).bayes_classifier(search.classes_)
    table = confusion(y_test, decide(proba))
    print(
        f"{metric.title}: cut at {decide.threshold:.3f}, "
        f"{table.counts[1, 0]} cancers missed, {table.counts[0, 1]} false alarms, "
        f"cost {-costs(table):.3f} a patient"
    )

# All thresholds at once, from the counts alone.
counts = roc_counts(y_test, proba[:, 1])
values = costs(counts.confusions())
print(f"best threshold on these patients: {counts.thresholds[values.argmax()]:.3f}")

# A metric is a value: save it, load it, compare it.
with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "costs.json"
    file.write_text(costs.to_json(), encoding="utf-8")
    assert load_metric(file) == costs
