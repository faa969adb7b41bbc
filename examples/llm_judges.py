"""Which LLM judge to trust, how surely, when nobody can know, and what 40 labels change.

Real verdicts of 65 judges on LLMBar (Zeng et al., ICLR 2024) if the shared data are there;
otherwise judges drawn from a known law, so that the script always runs. Gold labels are looked at
only to check the answers.
"""

import warnings

import numpy as np
import pandas as pd

from karat.bounds import performance_bounds
from karat.consensus import ErrorEstimator
from karat.datasets import load_shared
from karat.exceptions import KaratWarning, MissingDatasetError

SUBSETS = ("LLMBar/Natural", "LLMBar/Adversarial/GPTInst")


def real_verdicts():
    """Return a long table of votes in two subsets, and the gold label of each item."""
    d = load_shared("llm_judges_llmbar", "verdicts_long")
    d = d[d["subset"].isin(SUBSETS) & (d["verdict_order1"] > 0)]  # -1: could not be parsed
    votes = pd.DataFrame(
        {
            "item": d["item_id"].astype(str),
            "classifier": d["model"].astype(str) + " " + d["strategy"].astype(str),
            "vote": d["verdict_order1"].astype(int),
            "domain": d["subset"].astype(str),
        }
    )
    return votes, dict(zip(votes["item"], d["gold"].astype(int), strict=True))


def drawn_verdicts():
    """Return judges of whom most fall for the same trick, in one subset of two."""
    rng = np.random.default_rng(0)
    rows, gold = [], {}
    for subset in SUBSETS:
        tricky = rng.random(100) < (0.05 if subset == SUBSETS[0] else 0.6)
        for i, trick in enumerate(tricky):
            gold[f"{subset} {i}"] = truth = int(rng.integers(1, 3))
            for j in range(20):
                wrong = (0.85 if j >= 5 else 0.15) if trick else 0.02 + 0.01 * j
                vote = 3 - truth if rng.random() < wrong else truth
                rows.append((f"{subset} {i}", f"judge {j:02d}", vote, subset))
    return pd.DataFrame(rows, columns=["item", "classifier", "vote", "domain"]), gold


try:
    votes, gold = real_verdicts()
except MissingDatasetError:
    print("The shared verdicts are not here; judges are drawn from a known law instead.\n")
    votes, gold = drawn_verdicts()
natural, adversarial = SUBSETS
wrong = votes["vote"] != votes["item"].map(gold)
truth = wrong.groupby([votes["domain"], votes["classifier"]]).mean()


def against_truth(estimator, domain):
    """Return how the estimates of one domain compare with the truth."""
    table = estimator.error_rates_
    table = table[table["domain"] == domain].set_index("classifier")
    true = truth[domain].loc[table.index]
    inside = (table["lower"] <= true) & (true <= table["upper"])
    order = table["value"].corr(true, method="spearman")
    return f"truth inside the limits of {inside.mean():.0%} of judges, rank correlation {order:.2f}"


# 1. Which judge can I trust, and how sure am I? Votes only.
with warnings.catch_warnings():
    warnings.simplefilter("ignore", KaratWarning)  # the summary says it first
    estimator = ErrorEstimator(rng=0).fit(votes)
print(estimator.result_.summary(), "\n")
print(f"{natural}: {against_truth(estimator, natural)}")

# 2. When can nobody know? Where another explanation of the votes fits as well.
print(f"{adversarial}: {against_truth(estimator, adversarial)}")
print(estimator.explanations(adversarial).summary())
assert estimator.status_[natural] == "consistent"
assert estimator.status_[adversarial] == "not identified"
print("Near copies, which count once:", estimator.result_.copies[0] or "none")

# 3. What do 40 labels change? They test the consensus, and limits from labels are valid whatever
# the judges share.
here = votes[votes["domain"] == adversarial]
sample = estimator.label_next(40, domain=adversarial)
with warnings.catch_warnings():
    warnings.simplefilter("ignore", KaratWarning)
    labelled = ErrorEstimator(rng=0).fit(
        here, y_true={item: gold[item] for item in sample["item"]}, labels="probability",
        label_probability=dict(zip(sample["item"], sample["probability"], strict=True)),
    )  # fmt: skip
print(f"\nWith 40 labels: {labelled.result_.summary()}")
print(f"Now: {against_truth(labelled, adversarial)}")
known = labelled.from_labels_
width = (known["upper"] - known["lower"]).mean()
alone = (known["labels_upper"] - known["labels_lower"]).mean()
print(f"Valid whatever the model: limits {width:.2f} wide; from the labels alone {alone:.2f}")
assert width < alone

# 4. The consensus bounds another judge whom we keep out of it.
wide = here.pivot(index="item", columns="classifier", values="vote")
outsider, panel = wide.columns[-1], wide.columns[:8]
voted = wide[outsider].notna()
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # few items, many patterns
    small = ErrorEstimator(rng=0).fit(wide.loc[voted, panel])
    model = small.as_label_model()
    b = performance_bounds(
        wide.loc[voted, outsider].astype(int), wide.loc[voted, panel], model, metric="accuracy",
        label_model_draws=model.draws(20), rng=0,
    )  # fmt: skip
print(f"\n{outsider}, from the votes of {len(panel)} others: {b.summary()}")
