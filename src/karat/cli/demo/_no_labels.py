"""How good is it with no labels? Bounds from weak labels, against the hidden truth."""

from typing import Any

import numpy as np

from karat.cli.demo._models import Models
from karat.cli.demo._part import Interval, Part, part_of
from karat.evaluation import evaluate

__all__ = ["no_labels"]

# One rule for each kind of measurement: "among the largest, so malignant". The models read the
# means over all cells; the rules look at the worst cells.
_RULES = ("worst texture", "worst smoothness", "worst area")
_CUT, _UNSURE = 0.62, 0.05


def no_labels(models: Models, seed: int = 0) -> tuple[Part, ...]:
    """Hide all labels, vote by crude rules, and ask how good both models are."""
    table = models.predictions(**_votes(models))
    rules = [f"rule_{name}" for name in _RULES]
    found = evaluate(table, pred=list(models.scores), weak=rules, rng=seed)
    results: dict[str, Any] = found.findings[0].results
    intervals = tuple(
        Interval(f"accuracy of {name}, if the rules mean what their model says",
                 None, b.lower_limit, b.upper_limit,
                 float(np.mean(models.predict(name) == models.y_true)))
        for name, b in results.items()
    )  # fmt: skip
    wrong = [i for i in intervals if not i.holds]
    told = (
        f"From {len(_RULES)} crude rules and no labels karat gives bounds, and does not vouch for "
        "them: votes cannot show that rules err together."
    )
    if wrong:
        told += (
            f" Here they do: {'; '.join(i.said for i in wrong)}. A hundred labels, below, mend "
            "that."
        )
    return (
        part_of(
            found, "how_good", question="How good is it when nobody labelled the data?", told=told,
            intervals=intervals, conditional=True,
        ),
    )  # fmt: skip


def _votes(models: Models) -> dict[str, list[Any]]:
    """Return the votes of the rules by name; None near the cut."""
    votes = {}
    for name in _RULES:
        rank = np.argsort(np.argsort(models.measurements[name])) / len(models.y_true)
        vote = np.where(rank > _CUT, models.classes[1], models.classes[0]).astype(object)
        vote[np.abs(rank - _CUT) < _UNSURE] = None
        votes[f"rule_{name}"] = vote.tolist()
    return votes
