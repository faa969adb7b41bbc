"""What is fairness worth? Ask, and choose the classifier that follows.

A lender's model errs more often on one group. Nobody can say how many more errors a smaller gap
between the groups is worth, but the committee can say which of two classifiers is better. A dozen
such answers give the trade-off, with limits; the metric then decides.

Run:  python examples/what_is_fairness_worth.py
"""

import numpy as np
from sklearn.linear_model import LogisticRegression

from karat.elicit import Elicitation, MetricOracle, RateSpace
from karat.metrics import FairMetric
from karat.optimize import FrankWolfeClassifier

# Applicants of two groups; what is known of the second says less about whether they repay.
rng = np.random.default_rng(0)
n = 6000
group = np.where(rng.random(n) < 0.3, "new customers", "known customers")
ability = rng.normal(size=n)
repaid = rng.random(n) < 1 / (1 + np.exp(-2 * ability - 0.5))
noise = np.where(group == "new customers", 1.6, 0.5)
features = np.column_stack([ability + noise * rng.normal(size=n), group == "new customers"])
label = np.where(repaid, "repaid", "default")
train, rest = np.arange(n) < 2000, np.arange(n) >= 2000
model = LogisticRegression().fit(features[train], label[train])
proba = model.predict_proba(features)

# What thresholds attain in each group, and someone who knows what they want but not in numbers: a
# default that was not foreseen is three times as bad as a refusal, and gaps matter as errors do.
space = RateSpace.from_proba(label[rest], proba[rest], groups=group[rest])
committee = MetricOracle(FairMetric([0.95, 0.32], [[0.7, 0.7]], 0.5), flip=0.1, rng=1)

elicitation = Elicitation(space, rng=0)
result = elicitation.run(committee)
print(result.summary())
print(elicitation.frontier().summary())

# Use it: score one threshold for all, and decide so that the metric is as great as it can be. The
# basis lets decisions differ between the groups.
plain = model.predict(features[rest])
print(f"One threshold for all: {result.metric.score(label[rest], plain, groups=group[rest]):.3f}")
tells = np.column_stack([np.ones(rest.sum()), group[rest] == "new customers"])
fair = FrankWolfeClassifier(metric=result.metric)
fair.fit_from_proba(proba[rest], label[rest], groups_val=group[rest], basis=tells)
print(f"Decided by the metric: {fair.history_.value:.3f}")
