"""What would make it better: the rule that the metric wants."""

from typing import Any

import numpy as np

from karat.evaluation.questions._finding import Evidence, Finding
from karat.evaluation.questions._words import flag, script, sentence
from karat.metrics import GroupMetric
from karat.optimize import FrankWolfeClassifier
from karat.report import NextStep, Table, Verdict

__all__ = ["better_rule"]

_LEAST = 100  # labelled rows: fewer cannot tell thresholds apart


def better_rule(e: Evidence) -> Finding | None:
    """Return the decision rule that is best for the metric, and what it gains on unused rows."""
    if not e.roles.score or e.n_known < _LEAST or e.metric is None:
        return None
    name, label = e.roles.score[0], e.roles.label[0]
    y = e.column(label).filter(e.known)
    p = e.column(name).filter(e.known).to_numpy()
    classes = y.unique().sort().to_list()
    # A score outside [0, 1] is no probability, and this rule weighs probabilities.
    if len(classes) != 2 or not (np.isfinite(p).all() and p.min() >= 0 and p.max() <= 1):
        return None
    order = classes if e.pos_label in (None, classes[1]) else classes[::-1]
    groups: dict[str, Any] = {}
    if isinstance(e.metric, GroupMetric):
        if e.groups is None:
            return None
        groups = {"groups_val": e.groups.filter(e.known)}
    clf = FrankWolfeClassifier(metric=e.metric, n_folds=5, deterministic=True, pos_label=order[1])
    proba = np.column_stack([1 - p, p])
    clf.fit_from_proba(proba, y, classes=order, **groups)
    history = clf.history_
    decided = np.unique(clf.predict_from_proba(proba))
    verdict = _verdict(e, name, history) if len(decided) > 1 else _always(e, decided[0])
    return Finding(
        key="better_rule",
        question=f"Which rule is best for {e.metric.title}?",
        answer=f"{verdict.sentence} {sentence(clf.decision_regions().summary())}",
        results={"history": history, "regions": clf.decision_regions()},
        drawn=clf.decision_regions(),
        picture="Share of the positive class by its probability.",
        table=Table(
            columns=("decisions", "on the labelled rows", "on rows not used"),
            rows=(
                ("the most probable class", f"{history.baseline:.4f}",
                 f"{history.held_out_baseline:.4f}"),
                ("the best rule", f"{history.value:.4f}", f"{history.held_out:.4f}"),
            ),
        ),
        assumptions=(
            "Labelled rows are independent draws, and the model was not trained on them.",
        ),
        code=_code(e, label, name, order),
        verdicts=(verdict,),
        next_steps=(
            NextStep(
                what="Write these decisions for every row:",
                command=f"karat optimize {e.file}{flag('score', name)}{e.flags} "
                "--predictions decisions.csv",
            ),
        ),
    )  # fmt: skip


def _always(e: Evidence, said: Any) -> Verdict:
    """Return that the metric is greatest where one class is said of everything."""
    assert e.metric is not None
    return Verdict(
        sentence=f"By {e.metric.title} alone it is best to say {said!s} always, whatever the "
        "score: this metric does not weigh the errors that this makes.",
        badge="unknown",
        change="a metric that weighs both kinds of error, such as f1 or costs of each",
    )


def _verdict(e: Evidence, name: str, history: Any) -> Verdict:
    """Return whether another rule than the most probable class is shown to be better."""
    assert e.metric is not None
    title, before, after = e.metric.title, history.held_out_baseline, history.held_out
    limits = f"between {history.lower:.3f} and {history.upper:.3f}"
    if history.lower > before:
        return Verdict(
            sentence=f"Another cut of {name} makes it better: on rows not used to find it "
            f"{title} is {after:.3f} ({limits}), where the most probable class has {before:.3f}.",
            badge="likely",
            change="a model that ranks better; this one was not trained again",
        )
    return Verdict(
        sentence=f"No cut of {name} is shown to be better than its most probable class: on rows "
        f"not used to find it {title} of the best is {after:.3f} ({limits}) against "
        f"{before:.3f}.",
        badge="unknown",
        change="more labelled rows",
    )


def _code(e: Evidence, label: str, name: str, order: list[Any]) -> str:
    assert e.metric is not None
    return script(
        e.read,
        "from karat.optimize import FrankWolfeClassifier",
        f"known = frame.filter(pl.col({label!r}).is_not_null())",
        f"proba = known.select((1 - pl.col({name!r})).alias('rest'), {name!r}).to_numpy()",
        f"clf = FrankWolfeClassifier(metric={e.metric_code}, n_folds=5, deterministic=True, "
        f"pos_label={order[1]!r})",
        f"clf.fit_from_proba(proba, known[{label!r}], classes={order!r})",
    )
