"""What would make it better: the rule that the metric wants."""

from typing import Any

import numpy as np

from karat._result import basis_of
from karat._validate import order_classes
from karat.evaluation.questions._finding import (
    Evidence,
    LeftOut,
    between,
    flag,
    of,
    percent,
    script,
)
from karat.metrics import GroupMetric
from karat.optimize import FrankWolfeClassifier
from karat.report.answer import Finding, sentence
from karat.report.parts import NextStep, Table, Verdict

_LEAST = 100  # labelled rows: fewer cannot tell thresholds apart


def better_rule(given: Evidence) -> Finding | LeftOut | None:
    """Return the decision rule that is best for the metric, and what it gains on unused rows."""
    if given.n_known < _LEAST:
        return None
    if given.counted is not None:
        return LeftOut(
            question=f"Which rule is best for {given.headline.title}?",
            unlock="the table that was counted: a rule is measured on rows that it was not found "
            "with, which counts do not keep apart",
        )
    e = given.by_row()
    assert e.metric is not None
    name, label = e.roles.score[0], e.roles.label[0]
    y = e.column(label).filter(e.known)
    p = e.column(name).filter(e.known).to_numpy()
    classes = y.unique().sort().to_list()
    # A score outside [0, 1] is no probability, and this rule weighs probabilities.
    if len(classes) != 2 or not (np.isfinite(p).all() and p.min() >= 0 and p.max() <= 1):
        return None
    order = order_classes(np.array(classes), e.pos_label).classes.tolist()
    groups: dict[str, Any] = {}
    if isinstance(e.metric, GroupMetric):
        if e.groups is None:
            return None
        groups = {"groups_val": e.groups.filter(e.known)}
    proba = np.column_stack([1 - p, p])
    seen = np.random.default_rng(e.rng).permutation(len(y)) % 2 == 0
    own = {key: split.filter(seen) for key, split in groups.items()}
    clf = FrankWolfeClassifier(metric=e.metric, deterministic=True, pos_label=order[1])
    clf.fit_from_proba(proba[seen], y.filter(seen), classes=order, **own)
    decided = clf.predict_from_proba(proba)
    plain = np.asarray(order, dtype=object)[(p >= 0.5).astype(int)]
    tried = {
        what: e.metric.estimate(
            y.filter(~seen),
            said[~seen].tolist(),
            pos_label=order[1],
            confidence=e.confidence,
            rng=e.rng,
            groups=None if not groups else groups["groups_val"].filter(~seen),
        )
        for what, said in (("the most probable class", plain), ("the best rule", decided))
    }
    several_kinds = len(np.unique(decided.astype(str))) > 1
    verdict = _verdict(e, name, tried) if several_kinds else _always(e, decided[0])
    return Finding(
        key="better_rule",
        question=f"Which rule is best for {e.metric.title}?",
        answer=f"{verdict.sentence} {sentence(clf.decision_regions().summary())}",
        results={"history": clf.history_, "regions": clf.decision_regions(), **tried},
        drawn=clf.decision_regions(),
        picture=f"What is decided at each value of {name}.",
        table=_table(e, tried, int((~seen).sum())),
        assumptions=(
            "Labelled rows are independent draws, and the model was not trained on them.",
            *e.drawn,
            "The rule comes from one half of the labelled rows, drawn at random, and is measured "
            "on the other: limits of a rule that saw its own rows would be too good to be true.",
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
    )


def _table(e: Evidence, tried: dict[str, Any], n: int) -> Table:
    assert e.metric is not None
    return Table(
        columns=("decisions", "value", "lower", "upper"),
        rows=tuple(
            (what, f"{r.value:.3f}", f"{r.lower:.3f}", f"{r.upper:.3f}")
            for what, r in tried.items()
        ),
        caption=f"{of(e.metric.title, f'{n:,} labelled rows')} that took no part in finding the "
        f"rule; {percent(e.confidence)} limits",
    )


def _always(e: Evidence, said: Any) -> Verdict:
    """Return that the metric is greatest where one class is said of everything."""
    assert e.metric is not None
    return Verdict(
        sentence=f"By {e.metric.title} alone it is best to say {said!s} always, whatever the "
        "score: this metric does not weigh the errors that this makes.",
        badge=basis_of(),
        change="a metric that weighs both kinds of error, such as f1 or costs of each",
    )


def _verdict(e: Evidence, name: str, tried: dict[str, Any]) -> Verdict:
    """Return whether another rule than the most probable class is shown to be better."""
    before, after = tried.values()
    title = after.metric.title
    if after.lower > before.value:
        return Verdict(
            sentence=f"Another cut of {name} makes it better: on rows not used to find it "
            f"{title} is {between(after)}, where the most probable class has {before.value:.3f}"
            f"{e.sampled}.",
            # The other rule enters by its estimate alone, without limits.
            badge=basis_of(after, "approximate", assumes=e.sampled),
            change="a model that ranks better; this one was not trained again",
        )
    return Verdict(
        sentence=f"No cut of {name} is shown to be better than its most probable class: on rows "
        f"not used to find it {title} of the best is {between(after)} against {before.value:.3f}"
        f"{e.sampled}.",
        badge=basis_of(after, decided=False),
        change="more labelled rows",
    )


def _code(e: Evidence, label: str, name: str, order: list[Any]) -> str:
    assert e.metric is not None
    return script(
        e.read,
        "from karat.optimize import FrankWolfeClassifier",
        f"known = frame.filter(pl.col({label!r}).is_not_null())",
        f"proba = known.select((1 - pl.col({name!r})).alias('rest'), {name!r}).to_numpy()",
        f"clf = FrankWolfeClassifier(metric={e.metric_code}, deterministic=True, "
        f"pos_label={order[1]!r})",
        f"seen = np.random.default_rng({e.rng!r}).permutation(len(known)) % 2 == 0",
        f"clf.fit_from_proba(proba[seen], known[{label!r}].filter(seen), classes={order!r})",
        "clf.decision_regions()",
    )
