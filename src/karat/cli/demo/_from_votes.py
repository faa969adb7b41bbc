"""How good are they, from their votes alone? Error rates against the hidden truth."""

import warnings
from typing import Any

import numpy as np

from karat.cli.demo._models import Models
from karat.cli.demo._part import Interval, Part, part_of
from karat.evaluation import evaluate
from karat.exceptions import KaratWarning

__all__ = ["from_votes"]

# Crude readers beside the two models: "among the largest, so malignant".
_READERS = ("worst texture", "worst smoothness", "worst area", "worst concave points")
_CUT = 0.62


def from_votes(models: Models, seed: int = 0) -> tuple[Part, ...]:
    """Let two models and four crude readers vote, and estimate how often each errs."""
    votes = {}
    for name in _READERS:
        rank = np.argsort(np.argsort(models.measurements[name])) / len(models.y_true)
        votes[f"reader of {name}"] = models.classes[(rank > _CUT).astype(int)].tolist()
    table = models.predictions(**votes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KaratWarning)  # what they say is said on the page
        found = evaluate(table, judge=table.columns, rng=seed)
    r: Any = found.findings[0].results["error rates"]
    intervals = tuple(
        Interval(f"error rate of {name}", r.mean[i], r.lower[i], r.upper[i],
                 float(np.mean(table[name].to_numpy() != models.y_true)))
        for i, name in ((i, r.classifiers[r.classifier[i]]) for i in range(len(r.mean)))
    )  # fmt: skip
    return (
        part_of(
            found, "judges", question="How good are they, from their votes alone?",
            told=f"{len(r.mean)} voters, {len(models.y_true)} biopsies, no labels.",
            intervals=intervals,
        ),
    )  # fmt: skip
