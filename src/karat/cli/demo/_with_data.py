"""Parts of the demonstration with few labels, with none, with votes, with several labels."""

import warnings
from typing import Any

import numpy as np

from karat._result import basis_of
from karat._typing import FloatArray, IntArray
from karat.audit import Audit, AuditResult
from karat.calibration import (
    CalibrationCertificate,
    CanonicalCalibration,
    calibration_certificate,
    canonical_calibration_error,
)
from karat.cli.demo._part import Interval, Models, Part, part_of
from karat.evaluation import evaluate
from karat.exceptions import KaratWarning
from karat.metrics import cost_matrix, recall
from karat.report import Section, result_svg
from karat.report.parts import Table, Verdict

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
    limits = Interval(f"recall of {name}", result.value, result.lower, result.upper, truth)
    every_look = Interval(
        f"recall of {name} at every look",
        result.value,
        result.anytime_lower,
        result.anytime_upper,
        truth,
    )
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
        f"is {100 * result.value:.0f} %, between {100 * result.lower:.0f} and "
        f"{100 * result.upper:.0f} % (hidden truth {100 * truth:.0f} %), and between "
        f"{100 * result.anytime_lower:.0f} and {100 * result.anytime_upper:.0f} % however often "
        f"one looks. The limits are {100 * result.width:.0f} points apart; those of as many random "
        f"labels {100 * random:.0f}."
    )


def _table(result: AuditResult) -> Table:
    rows = tuple((s.why, f"{s.n_items:,}", f"{s.n_labels:,}") for s in result.strata)
    return Table(columns=("items", "all", "labelled"), rows=rows, caption="Which were chosen")


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
        Interval(
            f"error rate of {name}",
            r.value[i],
            r.lower[i],
            r.upper[i],
            float(np.mean(table[name].to_numpy() != models.y_true)),
        )
        for i, name in ((i, r.classifiers[r.classifier[i]]) for i in range(len(r.value)))
    )
    return (
        part_of(
            found,
            "judges",
            question="How good are they, from their votes alone?",
            told=f"{len(r.value)} voters, {len(models.y_true)} biopsies, no labels.",
            intervals=intervals,
        ),
    )


# --- What a hundred labels tell of both models: every answer beside its truth on all biopsies.

_HUNDRED = 100
_COST = 10


def hundred_labels(models: Models, seed: int = 0) -> tuple[Part, ...]:
    """Label a hundred biopsies drawn at random, and measure, compare and rank both models."""
    found, everything = (
        evaluate(models.table(n, seed), **_roles(models), rng=seed)
        for n in (_HUNDRED, len(models.y_true))
    )
    gap = _results(found, "comparison")["tiers"].pairs[0]
    truth = _accuracy(models, gap.first) - _accuracy(models, gap.second)
    difference = Interval(
        f"accuracy of {gap.first} minus {gap.second}", gap.value, gap.lower, gap.upper, truth
    )
    return (
        part_of(
            found,
            "how_good",
            question="How good are they, with a hundred labels?",
            told=f"{_HUNDRED} of the {len(models.y_true)} biopsies, drawn at random, are labelled.",
            intervals=_beside(found, everything, "how_good"),
        ),
        part_of(
            found,
            "comparison",
            question="Which is better?",
            told="By the same labels:",
            intervals=(difference,),
            concludes=False,
        ),
        part_of(
            found,
            "ranking",
            question="How good is the ranking where it matters?",
            told="A screening that can follow up few of the healthy looks at low false-positive "
            "rates alone.",
            intervals=_beside(found, everything, "ranking"),
            concludes=False,
        ),
    )


def better_at_it(models: Models, seed: int = 0) -> tuple[Part, ...]:
    """Decide for a cost of ten to one, by a hundred labels and without training again."""
    costs = cost_matrix([[0, 1], [_COST, 0]])
    name = list(models.scores)[-1]
    found = evaluate(
        models.table(_HUNDRED, seed),
        label="label",
        score=f"p_{name}",
        metric=costs,
        pos_label=models.positive,
        rng=seed,
    )
    results = _results(found, "better_rule")
    best, cut = results["the best rule"], results["regions"].thresholds[0]
    decided = models.classes[(models.scores[name] >= cut).astype(int)]
    truth = float(costs.score(models.y_true, decided))
    interval = Interval(
        f"minus the cost of {name} with the best cut", best.value, best.lower, best.upper, truth
    )
    return (
        part_of(
            found,
            "better_rule",
            question="Can a model be made better at it, as it is?",
            told=f"A missed cancer costs as much as {_COST} false alarms; the metric is minus the "
            "mean cost.",
            intervals=(interval,),
            concludes=False,
        ),
    )


def _beside(found: Any, everything: Any, key: str) -> tuple[Interval, ...]:
    """Return every interval of a question beside what all labels give."""
    truths = _results(everything, key)
    intervals = []
    for name, r in _results(found, key).items():
        if name in truths and name != "comparison":
            model, _, title = name.partition(": ")
            what = f"{title} of {model}"
            intervals.append(Interval(what, r.value, r.lower, r.upper, truths[name].value))
    return tuple(intervals)


def _results(found: Any, key: str) -> dict[str, Any]:
    results: dict[str, Any] = next(f for f in found.findings if f.key == key).results
    return results


def _accuracy(models: Models, name: str) -> float:
    return float(np.mean(models.predict(name) == models.y_true))


def _roles(models: Models) -> dict[str, Any]:
    return {
        "label": "label",
        "pred": list(models.scores),
        "pos_label": models.positive,
        "score": [f"p_{name}" for name in models.scores],
    }


# --- How good is it with no labels? Bounds from weak labels, against the hidden truth.

# One rule for each kind of measurement: "among the largest, so malignant". The models read the
# means over all cells; the rules look at the worst cells.
_RULES = ("worst texture", "worst smoothness", "worst area")
_NO_LABELS_CUT, _UNSURE = 0.62, 0.05


def no_labels(models: Models, seed: int = 0) -> tuple[Part, ...]:
    """Hide all labels, vote by crude rules, and ask how good both models are."""
    table = models.predictions(**_votes(models))
    rules = [f"rule_{name}" for name in _RULES]
    found = evaluate(table, pred=list(models.scores), weak=rules, rng=seed)
    results: dict[str, Any] = found.findings[0].results
    intervals = tuple(
        Interval(
            f"accuracy of {name}, if the rules mean what their model says",
            None,
            b.lower_limit,
            b.upper_limit,
            float(np.mean(models.predict(name) == models.y_true)),
        )
        for name, b in results.items()
    )
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
            found,
            "how_good",
            question="How good is it when nobody labelled the data?",
            told=told,
            intervals=intervals,
            conditional=True,
        ),
    )


def _votes(models: Models) -> dict[str, list[Any]]:
    """Return the votes of the rules by name; None near the cut."""
    votes = {}
    for name in _RULES:
        rank = np.argsort(np.argsort(models.measurements[name])) / len(models.y_true)
        vote = np.where(rank > _NO_LABELS_CUT, models.classes[1], models.classes[0]).astype(object)
        vote[np.abs(rank - _NO_LABELS_CUT) < _UNSURE] = None
        votes[f"rule_{name}"] = vote.tolist()
    return votes


# --- Can probabilities of several labels be trusted jointly? Handwritten digits, four labels.

_LABEL_NAMES = {
    "even": (0, 2, 4, 6, 8),
    "5 or more": (5, 6, 7, 8, 9),
    "has a loop": (0, 6, 8, 9),
    "prime": (2, 3, 5, 7),
}
_JOINT_CODE = """\
from karat.calibration import calibration_certificate, canonical_calibration_error

canonical_calibration_error(labels, probabilities, rng=0)
calibration_certificate(labels, probabilities, model="trees", rng=0)
"""


def trusted_jointly(_: Models, seed: int = 0) -> tuple[Part, ...]:
    """Predict four properties of digits apart, and ask whether they hold together."""
    y, prob = _digits()
    joint = canonical_calibration_error(y, prob, rng=seed)
    proof = calibration_certificate(y, prob, model="trees", rng=seed)
    section = Section(
        question="Can the probabilities of several labels be trusted jointly?",
        answer=_answer_jointly(joint, proof),
        figure=result_svg(proof),
        figure_text="What a map of all four probabilities gains on digits it did not see.",
        table=_table_of_labels(joint, proof),
        assumptions=(
            "One logistic regression for each of four properties of 1,797 handwritten digits "
            "(shipped with scikit-learn), none fitted to the digit it predicts.",
            "The proof needs no model: no map of the probabilities that was fitted on other digits "
            "can beat them by more than their canonical calibration error. The limit holds for any "
            "distribution at 95 %. No truth was hidden here: nobody knows it.",
        ),
        code=_JOINT_CODE,
    )
    verdict = Verdict(
        sentence="Probabilities of four properties of digits cannot be trusted jointly: their "
        f"canonical error is at least {np.sqrt(proof.lower):.2f}.",
        badge=basis_of(proof),
        change="recalibration on labelled rows: karat calibration --calibrated",
    )
    return (Part(section=section, verdict=verdict),)


def _digits() -> tuple[IntArray, FloatArray]:
    """Return the labels of each digit, and cross-validated probabilities."""
    from sklearn.datasets import load_digits
    from sklearn.decomposition import PCA
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline

    pixels, digit = load_digits(return_X_y=True)
    y = np.column_stack([np.isin(digit, which) for which in _LABEL_NAMES.values()]).astype(int)
    model = make_pipeline(PCA(8, random_state=0), LogisticRegression(max_iter=2000))
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    columns = [
        cross_val_predict(model, pixels, label, cv=folds, method="predict_proba")[:, 1]
        for label in y.T
    ]
    return y, np.column_stack(columns)


def _answer_jointly(joint: CanonicalCalibration, proof: CalibrationCertificate) -> str:
    alone = float(np.sqrt(max(joint.marginal.sum(), 0.0)))
    together = float(np.sqrt(proof.lower))
    return (
        f"Label by label, yes: the marginal error of four properties of handwritten digits is "
        f"{alone:.2f}. Jointly, no: a digit's four probabilities together say much more than each "
        f"of them claims, and their canonical error is at least {together:.2f} (95 % limit)."
    )


def _table_of_labels(joint: CanonicalCalibration, proof: CalibrationCertificate) -> Table:
    rows = tuple(
        (name, f"{own:.4f}", f"{gain:.4f}")
        for name, own, gain in zip(_LABEL_NAMES, joint.marginal, proof.per_label, strict=True)
    )
    total = (
        "all",
        f"{joint.marginal.sum():.4f}",
        f"{proof.value:.4f} (at least {proof.lower:.4f})",
    )
    columns = ("label", "marginal", "gain of a map on unseen digits")
    return Table(columns=columns, rows=(*rows, total), caption="Squared error")
