"""Can a classifier be made better at the wanted metric, as it is? Decisions for a cost."""

import numpy as np

from karat.cli.demo._models import Models
from karat.metrics import cost_matrix
from karat.optimize import (
    CostSensitiveClassifier,
    FrankWolfeClassifier,
    OptimizationHistory,
)
from karat.report import Section, Table, result_svg

__all__ = ["better_at_it"]

_COST = 10
_PER = 1000
_FOLDS = 10
_CODE = """\
from karat.metrics import cost_matrix
from karat.optimize import FrankWolfeClassifier

clf = FrankWolfeClassifier(metric=cost_matrix([[0, 1], [10, 0]]), n_folds=10)
clf.fit_from_proba(proba, y_true)       # saved probabilities; nothing is retrained
clf.history_.held_out, clf.decision_regions()
"""


def better_at_it(models: Models) -> Section:
    """Decide for a cost of ten to one, and count the cost on biopsies that were not used."""
    costs = cost_matrix([[0, 1], [_COST, 0]])
    histories, trusting, fitted = {}, {}, {}
    for name, score in models.scores.items():
        proba = np.column_stack([1 - score, score])
        clf = FrankWolfeClassifier(metric=costs, n_folds=_FOLDS)
        fitted[name] = clf.fit_from_proba(proba, models.y_true, classes=models.classes)
        histories[name] = clf.history_
        rule = CostSensitiveClassifier(metric=costs)
        rule.fit_from_proba(proba, models.y_true, classes=models.classes)
        trusting[name] = float(costs.score(models.y_true, rule.predict_from_proba(proba)))
    gain = {name: h.held_out - trusting[name] for name, h in histories.items()}
    most = max(gain, key=lambda name: gain[name])
    regions = fitted[most].decision_regions()
    history = histories[most]
    return Section(
        question="Can a model be made better at it, as it is?",
        answer=(
            f"Yes. With a missed cancer at {_COST} false alarms, {most} costs "
            f"{-_PER * history.held_out_baseline:.0f} false alarms per {_PER:,} patients if the "
            f"more probable class is called, and {-_PER * trusting[most]:.0f} if its probabilities "
            f"are believed (malignant from 1/{_COST + 1} on). Weights elicited from the cost "
            f"itself put the line at {regions.thresholds[0]:.3f} and bring it down to "
            f"{-_PER * history.held_out:.0f} (95 %: {-_PER * history.upper:.0f} to "
            f"{-_PER * history.lower:.0f}), on biopsies that took no part in finding it."
        ),
        figure=result_svg(regions),
        figure_text=f"Which probabilities of {most} are called malignant.",
        table=_table(histories, trusting),
        assumptions=(
            "The model is not retrained: only what is done with its probabilities changes.",
            f"The cost is measured in {_FOLDS} folds, each decided by weights that the others "
            "gave; limits are by the delta method.",
        ),
        code=_CODE,
    )


def _table(histories: dict[str, OptimizationHistory], trusting: dict[str, float]) -> Table:
    rows = tuple(
        (
            name,
            f"{-_PER * h.held_out_baseline:.0f}",
            f"{-_PER * trusting[name]:.0f}",
            f"{-_PER * h.held_out:.0f} ({-_PER * h.upper:.0f} – {-_PER * h.lower:.0f})",
        )
        for name, h in histories.items()
    )
    columns = ("model", "more probable class", "probabilities believed", "elicited weights (95 %)")
    return Table(columns=columns, rows=rows, caption=f"Cost in false alarms per {_PER:,} patients")
