"""What should we measure? Ask, and use the answer.

A doctor cannot say what a missed cancer costs in false alarms, but can say which of two classifiers
is better. A dozen or so such answers give a metric, with limits; the metric then chooses the model.

Run:  python examples/elicit_binary.py
"""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from karat.elicit import BinarySpace, Elicitation, MetricOracle
from karat.metrics import accuracy, cost_matrix

# Four measurements of a biopsy; a model that scores each with folds it did not see.
X, target = load_breast_cancer(return_X_y=True)
X = X[:, [0, 1, 4, 8]]
y = np.where(target == 0, "malignant", "benign")
model = make_pipeline(StandardScaler(), LogisticRegression())
score = cross_val_predict(model, X, y, method="predict_proba")[:, 1]

# What thresholds on that score attain, with the steps of chance smoothed out.
space = BinarySpace.from_scores(y, score, pos_label="malignant").smoothed()

# The doctor: a miss is as bad as 8 false alarms, one answer in ten is a slip. Replace it by
# TerminalOracle(space.classes) to be asked yourself.
doctor = MetricOracle(cost_matrix([[0, 1], [8, 0]]), flip=0.1, rng=1)
elicitation = Elicitation(space, agreement=0.99, rng=0)

# Stop half-way and go on later: the transcript is all that is needed.
for _ in range(3):
    elicitation.tell(doctor(elicitation.ask()))
saved = elicitation.transcript.to_json()
elicitation = Elicitation.resume(space, saved)
result = elicitation.run(doctor)

print(result.summary())
print(result.metric.describe(["benign", "malignant"]))
print(result.progress.summary())

# The metric is a scikit-learn scorer: it prefers another class weight than accuracy does.
grid = {"logisticregression__class_weight": [{"malignant": w} for w in (1, 2, 4, 8, 16)]}
for name, metric in (("accuracy", accuracy), ("the doctor's metric", result.metric)):
    search = GridSearchCV(model, grid, scoring=metric.as_scorer()).fit(X, y)
    print(f"{name} prefers {search.best_params_['logisticregression__class_weight']}")
