"""What do fifty labels tell? An audit of one classifier, beside the hidden truth."""

import numpy as np

from karat.audit import Audit, AuditResult
from karat.cli.demo._models import Models
from karat.cli.demo._part import Interval, Part
from karat.metrics import recall
from karat.report import Section, Table, result_svg

__all__ = ["fifty_labels"]

_LABELS = 50
_CODE = """\
from karat.audit import Audit

audit = Audit(y_pred, metric="recall", proba=p, pos_label="malignant", rng=0)
todo = audit.ask(50)                       # a frame: item, probability, why
audit.tell({item: label_of(item) for item in todo["item"]})
audit.result                               # limits, limits at every look, what 20 more would bring
"""


def fifty_labels(models: Models, seed: int = 0) -> tuple[Part, ...]:
    """Audit the recall of the first classifier with fifty labels, as if no truth were known."""
    name, score = next(iter(models.scores.items()))
    called = models.predict(name)
    # The audit's classes are in the order of the labels, so the probabilities name theirs.
    proba = np.column_stack([1 - score, score])
    order = models.classes
    audit = Audit(called, metric="recall", proba=proba, classes=order, rng=seed)
    todo = audit.ask(_LABELS)["item"].to_list()
    audit.tell({item: models.y_true[item] for item in todo})
    result = audit.result
    truth = float(recall.score(models.y_true, called, classes=order))
    random = _random(models, called, order)
    section = Section(
        question="What do fifty labels tell, if karat chooses them?",
        answer=_answer(name, result, truth, random),
        figure=result_svg(result),
        figure_text="Recall against the number of labels, with limits at every look.",
        table=_table(result),
        assumptions=(
            "The audit asks for the biopsies whose labels tell most of the recall, by the model's "
            "own probabilities; the limits hold however wrong these are.",
            "Limits for fifty labels hold for fifty labels; those at every look hold whenever one "
            "stops.",
        ),
        code=_CODE,
    )
    limits = Interval(f"recall of {name}", result.estimate, result.lower, result.upper, truth)
    every_look = Interval(
        f"recall of {name} at every look", result.estimate, result.anytime_lower,
        result.anytime_upper, truth,
    )  # fmt: skip
    return (Part(section=section, intervals=(limits, every_look)),)


def _random(models: Models, called: object, order: object) -> float:
    """Return the mean width of the limits of as many random labels."""
    rng = np.random.default_rng(0)
    picks = [rng.choice(len(models.y_true), _LABELS, replace=False) for _ in range(20)]
    widths = [
        recall.estimate(models.y_true[at], np.asarray(called)[at], classes=order).width
        for at in picks
    ]
    return float(np.mean(widths))


def _answer(name: str, result: AuditResult, truth: float, random: float) -> str:
    return (
        f"After {result.n_labels} labels, the recall of {name} on these {result.n_items} biopsies "
        f"is {100 * result.estimate:.0f} %, between {100 * result.lower:.0f} and "
        f"{100 * result.upper:.0f} % (hidden truth {100 * truth:.0f} %), and between "
        f"{100 * result.anytime_lower:.0f} and {100 * result.anytime_upper:.0f} % however often "
        f"one looks. The limits are {100 * result.width:.0f} points apart; those of as many random "
        f"labels {100 * random:.0f}."
    )


def _table(result: AuditResult) -> Table:
    rows = tuple((s.why, f"{s.n_items:,}", f"{s.n_labels:,}") for s in result.strata)
    return Table(columns=("items", "all", "labelled"), rows=rows, caption="Which were chosen")
