"""An audit as it runs: events and labels, and the evidence that follows from them.

`Run` holds the items, their strata, what was asked for and what was answered, and nothing that
cannot be saved. `evidence_of` replays the events: which stratum each label came from and with what
chance it was drawn then. `answer_of` turns evidence into the result, `gate_of` into a verdict,
`budget_of` tells beforehand what it takes, and `items_frame` is the table that is asked for.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any, Self

import numpy as np

from karat._callers import caller_level
from karat._result import Estimate, Guarantee, Passed, frame_of, keeps_kind
from karat._sentences import Argument, Option, Remedy
from karat._typing import Column, FloatArray, Frame, IntArray
from karat._validate import (
    check_choice,
    check_confidence,
    check_count,
    check_flag,
    check_number,
    check_rng,
    check_same_length,
    check_scores,
    refuse_lazy,
    refuse_option,
    shown,
)
from karat.audit._answers import (
    Evidence,
    anytime_limits,
    estimate_of,
    fixed_draws,
    fixed_limits,
    forecast,
    more_until,
)
from karat.audit._design import (
    Calls,
    Strata,
    chances,
    draw_items,
    labels_for,
    make_calls,
    plan_audit,
    precision_of,
    recalibrated,
    shares_of,
    spread_of,
)
from karat.audit._gate import check_at_least, decide
from karat.audit._inputs import Items, assumed, find_items, fingerprints, read_items, read_labels
from karat.audit.result import AuditGroup, AuditResult, AuditStratum, GateResult, LabelBudget
from karat.audit.saving import check_data, read_audit, write_audit
from karat.exceptions import (
    AuditError,
    KaratWarning,
    LabelError,
    MetricError,
    ProbabilityError,
    SmallSampleWarning,
)
from karat.limits.anytime import holding
from karat.limits.means import normal_quantile
from karat.metrics import as_metric, load_metric
from karat.metrics.base import Metric, MetricBase


class Audit:
    r"""Spend labels where they tell most, and know at any time what they say.

    Items are cut into strata, pure in their predictions, by what other sources say of the truth,
    into equal sums of

    .. math:: 0.9\,\frac{q^*}{\sum q^*} + 0.1\,\frac1N, \quad
        q^*(x) = \sqrt{E[(a - G b)^2 \mid x]}

    where a and b are what an item adds to numerator and denominator of the metric G. Labels are
    drawn stratum by stratum with recorded chances; the estimate is the stratified one. Its limits
    are by a pseudo-count, with the items that have no label drawn too; limits at every look bet on
    each label.

    Parameters
    ----------
    y_pred : column (n,)
        Predictions of all items.
    metric : Metric or str
        What is asked for, of exactly these items.
    proba : matrix (n, k) or column (n,), optional
        Class probabilities, or, of two classes, that of the positive one. They decide which items
        are asked for; the limits hold however wrong they are.
    votes : matrix (n, m), optional
        Votes of judges or labelers in their place: null was not asked, −1 abstained.
    scores : matrix (n, m) or column (n,), optional
        Scores of the positive class by one model or several, in their place.
    against : column (n,), optional
        Predictions of another system: the difference of the two is then estimated. Of a linear
        metric, such as accuracy, only items on which they disagree are asked for.
    ids : column (n,), optional
        What to call the items; by default their row numbers.
    groups : column (n,), optional
        Group of each item: the result then has an estimate for each.
    classes : column (k,), optional
        The classes; by default those found, sorted.
    pos_label : label, optional
        The positive class of a metric for two classes. By default the last class that the metric
        names, else the one that the labels tell: 1 of 0 and 1, True, or a word such as "yes",
        "spam" or "fraud". Where nothing tells it, a metric that needs it is refused.
    confidence : float, default 0.95
        Probability that the limits hold.
    rng : int or generator, optional
        Source of randomness.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(0.3, 2, 5000)
    >>> truth = np.where(rng.random(5000) < p, "spam", "ham")
    >>> called = np.where(p > 0.4, "spam", "ham")
    >>> audit = Audit(called, metric="f1", proba=p, rng=0)
    >>> todo = audit.ask(60)                       # a frame: item, probability, why
    >>> audit.tell({item: truth[item] for item in todo["item"]})
    60
    >>> audit.result.lower < 0.53 < audit.result.upper
    True
    """

    @keeps_kind
    def __init__(
        self,
        y_pred: Column,
        *,
        metric: MetricBase | str,
        proba: Column | Frame | None = None,
        votes: Frame | None = None,
        scores: Column | Frame | None = None,
        against: Column | None = None,
        ids: Column | None = None,
        groups: Column | None = None,
        classes: Column | None = None,
        pos_label: Any = None,
        confidence: float = 0.95,
        rng: int | np.random.Generator | None = None,
    ) -> None:
        level, generator = check_confidence(confidence), check_rng(rng)
        items = read_items(
            y_pred,
            proba=proba,
            votes=votes,
            scores=scores,
            against=against,
            ids=ids,
            groups=groups,
            classes=classes,
            pos_label=pos_label,
            metric=as_metric(metric),
        )
        self._run = begin_run(items, metric, pos_label, int(generator.integers(2**31)), level)
        self.metric = self._run.metric
        self._path: str | None = None
        self._prints: dict[str, str] | None = None
        self._notes: dict[str, Any] = {}  # what a front end keeps with a saved audit
        self._result: AuditResult | None = None

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes in the order of the metric; of two the positive one last."""
        return tuple(self._run.items.classes.tolist())

    @property
    def n_items(self) -> int:
        """Number of all items."""
        return self._run.items.n

    @property
    def n_labels(self) -> int:
        """Number of items with a label."""
        return len(self._run.labels)

    @property
    def left(self) -> int:
        """Number of items that can still be asked for."""
        taken, _ = self._run.taken()
        return int(self._run.strata.size.sum() - taken.sum())

    @property
    def labelled(self) -> list[Any]:
        """The items that have a label, by their ids."""
        at = np.array(sorted(self._run.labels), dtype=np.int64)
        return list(self._run.items.names(at).tolist())

    @property
    def saved(self) -> str | None:
        """The file that the audit is kept in, None before it is saved."""
        return self._path

    @property
    def waiting(self) -> Any:
        """The items that were asked for and have no label yet, as ``ask`` returns them."""
        asked = [i for e in self._run.events if e.kind == "ask" for i in e.items]
        return self._frame([item for item in asked if item not in self._run.labels])

    def ask(self, n: int) -> Any:
        """Return n items to label next.

        Labels are best filled in from the top: one may stop anywhere, but an item that is passed
        over because it is hard biases the answer.

        Parameters
        ----------
        n : int
            How many; at most the items that were not asked for yet.

        Returns
        -------
        frame
            ``item``, ``probability`` (the share of its stratum that is asked for so far) and
            ``why``; of the library that was passed in, else Polars.
        """
        event = ask_items(self._run, check_count(n, "n"))
        self._changed()
        return self._frame(event.items)

    def tell(
        self,
        labels: Any,
        *,
        design: str = "asked",
        probability: Any = None,
        replace: bool = False,
    ) -> int:
        """Take true labels; the same label told twice counts once.

        Parameters
        ----------
        labels : mapping or frame
            Label of each item, or a frame with the columns ``item`` and ``label``; empty cells are
            left out, so a file may be filled in bit by bit.
        design : {"asked", "random", "probability"}
            How the items were chosen: asked for by this audit, drawn at random from all items, or
            drawn with known probabilities. Items that somebody picked are refused.
        probability : mapping or column (n,), optional
            With ``design="probability"``, that of each labelled item, or of all items.
        replace : bool, default False
            Whether a new label may replace another one.

        Returns
        -------
        int
            Number of labels that are new.
        """
        fresh = tell_labels(self._run, labels, design, probability, check_flag(replace, "replace"))
        self._changed()
        return fresh

    @property
    @keeps_kind
    def result(self) -> AuditResult:
        """What is known so far; any order of the same labels gives the same."""
        if self._result is None:
            self._result = answer_of(self._run)
        return self._result

    @keeps_kind
    def gate(self, at_least: float) -> GateResult:
        """Pass, fail or wait, by the limits that hold at every look.

        Parameters
        ----------
        at_least : float
            What the metric, or the difference, has to reach.
        """
        return gate_of(self._run, self.result, at_least)

    @keeps_kind
    def budget(self, precision: float = 0.03) -> LabelBudget:
        """Tell beforehand how many labels a precision takes, random ones and chosen ones.

        The numbers rest on the guesses of the truth that the audit was given.

        Parameters
        ----------
        precision : float, default 0.03
            Half the wanted distance between the limits.
        """
        return budget_of(self._run, check_number(precision, "precision", above=0.0))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the audit to a file, and from then on after every ``ask`` and ``tell``.

        Parameters
        ----------
        path : path
            Where to; the file is replaced only by one that is complete. It holds positions and
            labels, a fingerprint of the data and a checksum, and not the data.
        """
        if self._prints is None:
            self._prints = fingerprints(self._run.items)
        body = {"fingerprints": self._prints, "notes": self._notes, **self._run.body()}
        write_audit(path, body)
        self._path = os.fspath(path)

    @classmethod
    def resume(
        cls,
        path: str | os.PathLike[str],
        y_pred: Column,
        *,
        proba: Column | Frame | None = None,
        votes: Frame | None = None,
        scores: Column | Frame | None = None,
        against: Column | None = None,
        ids: Column | None = None,
        groups: Column | None = None,
    ) -> Self:
        """Go on with a saved audit of the same data; it is written on as before.

        Parameters
        ----------
        path : path
            What ``save`` wrote.
        y_pred, proba, votes, scores, against, ids, groups
            The same data as then; other data are refused.
        """
        refuse_lazy(
            y_pred=y_pred,
            proba=proba,
            votes=votes,
            scores=scores,
            against=against,
            ids=ids,
            groups=groups,
        )
        body = read_audit(path)
        metric = load_metric(json.dumps(body["metric"]), flagged=True)
        found = cls(
            y_pred,
            metric=metric,
            proba=proba,
            votes=votes,
            scores=scores,
            against=against,
            ids=ids,
            groups=groups,
            rng=0,
            classes=np.array(body["classes"]),
            confidence=body["confidence"],
        )
        check_data(path, body["fingerprints"], fingerprints(found._run.items))
        found._run.take_up(body)
        found._path, found._notes = os.fspath(path), body["notes"]
        return found

    def _changed(self) -> None:
        self._result = None
        if self._path is not None:
            self.save(self._path)

    def _frame(self, chosen: list[int]) -> Any:
        return items_frame(self._run, chosen, getattr(self, "_passed", None))


# --- The result of an audit so far.

_MORE = 20


def answer_of(run: Run) -> AuditResult:
    """Return estimate, limits, and what the next labels would bring."""
    if run.predicted is None:
        run.predicted = predicted_outcomes(run)
    evidence = evidence_of(run, run.predicted)
    counts = evidence.counts
    delta = (1 - run.confidence) / 2
    n = len(evidence.stratum)
    _warn(run, evidence)
    estimate = estimate_of(evidence, counts) if n else float("nan")
    low, high = fixed_limits(evidence, counts, delta=delta, seed=run.seed) if n else run.calls.span
    path = anytime_limits(evidence, delta=2 * delta, confidence=run.confidence)
    more = min(_MORE, int(run.strata.size.sum()) - n)
    ahead = (
        forecast(evidence, counts, more, delta=delta, seed=run.seed) if more > 0 else (low, high)
    )
    low, high = holding(estimate, low, high)
    any_low = any_high = float("nan")
    if path is not None or not n:
        ends = run.calls.span if path is None else (path.lower, path.upper)
        any_low, any_high = holding(estimate, *ends)
    return AuditResult(
        metric=run.metric,
        difference=run.items.other is not None,
        estimate=Estimate.of(
            estimate, float(low), float(high), run.confidence, _guarantee(run, n, low, high)
        ),
        anytime_lower=float(any_low),
        anytime_upper=float(any_high),
        path=path,
        n_labels=n,
        n_items=run.items.n,
        more=more,
        more_lower=ahead[0],
        more_upper=ahead[1],
        pos_label=_positive(run),
        strata=_strata(run, evidence),
        groups=_groups(run, evidence, delta),
    )


def _guarantee(run: Run, n: int, low: float, high: float) -> Guarantee:
    """Return what the limits for this number of labels are worth.

    Nothing without a label; once every item that needs one has it, the metric is known.
    """
    if not n:
        return "untested"
    known = n == int(run.strata.size.sum()) and np.isclose(low, high, rtol=0.0, atol=1e-9)
    return "complete" if known else "approximate"


def _positive(run: Run) -> object:
    return run.items.classes[1].item() if run.metric.n_classes == 2 else None


def _strata(run: Run, evidence: Evidence) -> tuple[AuditStratum, ...]:
    labelled = np.bincount(evidence.stratum, minlength=run.strata.n)
    return tuple(
        AuditStratum(
            why=why_of(run, h),
            n_items=int(run.strata.size[h]),
            n_labels=int(labelled[h]),
            share=float(run.strata.share[h]),
        )
        for h in range(run.strata.n)
    )


def _groups(run: Run, evidence: Evidence, delta: float) -> dict[object, AuditGroup] | None:
    names = run.items.group_names
    if names is None or not len(evidence.stratum):
        return None
    counts = evidence.counts
    found: dict[object, AuditGroup] = {}
    for g, name in enumerate(names.tolist()):
        rows = evidence.rows(g)
        n = int(np.isin(evidence.stratum, rows).sum())
        value = estimate_of(evidence, counts, g)
        if n or not len(rows) or evidence.calls.worth is not None:
            low, high = fixed_limits(evidence, counts, delta=delta, seed=run.seed, group=g)
        else:
            low, high = evidence.calls.span
        low, high = holding(value, low, high)
        found[name] = AuditGroup(value=value, lower=float(low), upper=float(high), n_labels=n)
    return found


def _warn(run: Run, evidence: Evidence) -> None:
    """Warn of what the limits cannot know."""
    missed = skipped(run)
    if missed:
        warnings.warn(
            f"{missed} items that were asked for were passed over, and later ones have labels; if "
            "they were left out because they are hard, the limits do not hold. Label them too",
            KaratWarning,
            stacklevel=caller_level(),
        )
    seen = {run.labels[i] for i in run.labels}
    if len(seen) == 1 and len(run.labels) > 1:
        only = run.items.classes[seen.pop()]
        warnings.warn(
            f"all {len(run.labels)} labels are {only.item()!r}; what is known of the other classes "
            "is that they were not seen",
            SmallSampleWarning,
            stacklevel=caller_level(),
        )
    empty = int(np.sum(np.bincount(evidence.stratum, minlength=run.strata.n) == 0))
    if empty and len(evidence.stratum):
        warnings.warn(
            f"{empty} of {run.strata.n} strata have no label yet, so that anything is possible "
            "there and the limits are wide; ask for more labels",
            SmallSampleWarning,
            stacklevel=caller_level(),
        )


# --- Items as a table, with what those of a stratum have in common.


def why_of(run: Run, stratum: int) -> str:
    """Say what the items of a stratum have in common."""
    names = run.items.classes
    calls, call = run.calls, int(run.strata.call[stratum])
    if calls.worth is not None:
        return "the two systems disagree"
    said = f"called {names[calls.first[call]]}"
    if calls.second is not None:
        said += f", and {names[calls.second[call]]} by the other"
    if calls.group is not None and run.items.group_names is not None:
        said += f", group {run.items.group_names[calls.group[call]]}"
    if run.items.guess is not None:
        low, high = run.strata.score[stratum]
        said += f", P({names[-1]}) {low:.2f} to {high:.2f}"
    return said


def items_frame(run: Run, chosen: list[int], passed: Passed | None) -> Any:
    """Return items with the share of their stratum that was asked for, and why they were chosen."""
    at = np.array(chosen, dtype=np.int64)
    taken, _ = run.taken()
    stratum = run.strata.of[at]
    return frame_of(
        {
            "item": run.items.names(at),
            "probability": (taken / run.strata.size)[stratum],
            "why": [why_of(run, int(h)) for h in stratum],
        },
        passed,
    )


def begin_run(
    items: Items, metric: MetricBase | str, pos_label: Any, seed: int, confidence: float
) -> Run:
    """Return a run in which nothing was asked for yet."""
    chosen = as_metric(metric)
    if not isinstance(chosen, Metric):
        raise MetricError(
            f"{chosen.title} compares groups; an audit is for metrics of one population",
            Remedy(
                "Pass such a metric with ",
                Option("groups"),
                " for an estimate of each group",
                after=". ",
            ),
        )
    fixed = chosen.for_classes(len(items.classes))
    if not np.isfinite(fixed.value_range).all():
        refuse_option(chosen.title, "metric", "a metric with a least and a greatest value")
    if pos_label is not None and fixed.n_classes not in (None, 2):
        refuse_option(pos_label, "pos_label", f"None: {chosen.title} has no positive class")
    calls = make_calls(items, fixed)
    if not calls.open.any():
        raise AuditError(
            Argument("y_pred"),
            " and against agree on every item, so there is nothing to label: the difference is 0",
        )
    strata = plan_audit(calls, assumed(items), informed=items.guess is not None)
    if calls.worth is None or strata.n > 1 or calls.n_outcomes > 2:
        # A confidence that no number of draws reaches is refused before anything is labelled.
        fixed_draws(strata.n, calls.n_outcomes, (1 - confidence) / 2)
    return Run(items, chosen, calls, strata, seed, confidence)


def budget_of(run: Run, precision: float) -> LabelBudget:
    """Return the numbers of random and of chosen labels, if the guesses are right."""
    spread = spread_of(run.calls, assumed(run.items), run.strata)
    z, total = normal_quantile((1 - run.confidence) / 2), float(run.items.n)
    sizes = np.unique(np.geomspace(min(20, total), max(total, 20), 40).round())
    return LabelBudget(
        metric=run.metric,
        precision=precision,
        n_random=labels_for(spread.random, precision, total, z),
        n_chosen=labels_for(spread.chosen, precision, float(run.strata.size.sum()), z),
        expected=spread.expected,
        confidence=run.confidence,
        n_items=run.items.n,
        source=run.items.source,
        sizes=sizes,
        random=precision_of(spread.random, sizes, total, z),
        chosen=precision_of(spread.chosen, sizes, total, z),
    )


def gate_of(run: Run, result: AuditResult, at_least: Any) -> GateResult:
    """Compare the limits at every look with what is asked for."""
    wanted = check_at_least(at_least, run.calls.span)
    if result.anytime_lower != result.anytime_lower:
        raise MetricError(
            f"{result.title} has no limits at every look, which a gate needs; audit another metric"
        )

    def ahead(limit: float) -> int | None:
        if run.predicted is None:
            run.predicted = predicted_outcomes(run)
        return more_until(
            evidence_of(run, run.predicted),
            wanted,
            estimate=result.value,
            limit=limit,
            delta=1 - run.confidence,
        )

    return decide(
        run.metric,
        wanted,
        value=result.value,
        lower=result.anytime_lower,
        upper=result.anytime_upper,
        confidence=run.confidence,
        n_labels=result.n_labels,
        pos_label=result.pos_label,
        difference=result.difference,
        ahead=ahead,
    )


# --- Events replayed: the stratum, the outcome and the chances of every label.


def skipped(run: Run) -> int:
    """Return how many items without a label were asked for before one that has its label."""
    asked = [item for event in run.events if event.kind == "ask" for item in event.items]
    known = [i for i, item in enumerate(asked) if item in run.labels]
    return 0 if not known else known[-1] + 1 - len(known)


def predicted_outcomes(run: Run) -> FloatArray:
    """Return the shares of outcomes in each stratum that the guesses imply."""
    guess, strata, calls = assumed(run.items), run.strata, run.calls
    found = np.zeros((strata.n, calls.n_outcomes))
    at = strata.member
    own, code = strata.of[at], calls.code[at]
    for y in range(guess.shape[1]):
        outcome = calls.outcome[:, y][code]
        cell = own * calls.n_outcomes + outcome
        found += np.bincount(cell, guess[at, y], found.size).reshape(found.shape)
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def evidence_of(run: Run, predicted: FloatArray) -> Evidence:
    """Return the labels in the order in which they were asked for, with the chances then."""
    taken = np.zeros(run.strata.n, dtype=np.int64)
    place: list[int] = []
    chance: list[FloatArray] = []
    weight: list[float] = []
    gone: set[int] = set()
    for event in run.events:
        for i, item in enumerate(_in_order(run, event)):
            stratum = int(run.strata.of[item])
            if item in gone or stratum < 0:
                continue
            gone.add(item)
            q = _chance(run, event, taken)
            taken[stratum] += 1
            if item in run.labels:
                place.append(item)
                chance.append(q)
                weight.append(1.0 if event.probability is None else 1 / event.probability[i])
    at = np.array(place, dtype=np.int64)
    label = np.array([run.labels[i] for i in place], dtype=np.int64)
    by_probability = any(event.kind == "probability" for event in run.events)
    outcome: IntArray = run.calls.outcome[run.calls.code[at], label]
    return Evidence(
        run.calls,
        run.strata,
        run.strata.of[at],
        outcome,
        None if by_probability else np.array(chance).reshape(-1, run.strata.n),
        np.array(weight) if by_probability else None,
        predicted,
        run.items.guess is not None,
    )


def _in_order(run: Run, event: Event) -> list[int]:
    """Return the items of an event; those of a random sample in a random order.

    A sample comes in the order of the data, which may go with the labels.
    """
    if event.kind != "random":
        return event.items
    rng = np.random.default_rng([run.seed, len(event.items), 1])
    return [event.items[i] for i in rng.permutation(len(event.items))]


def _chance(run: Run, event: Event, taken: IntArray) -> FloatArray:
    if event.kind == "ask":
        return chances(np.array(event.share), taken, run.strata.size)
    left = run.strata.size - taken
    return np.asarray(left / left.sum())


# --- Labels taken into an audit, or refused with the reason.

_DESIGNS = ("asked", "random", "probability")


def tell_labels(run: Run, labels: Any, design: str, probability: Any, replace: bool) -> int:
    """Take labels; the same label twice counts once. Return how many are new."""
    how = check_choice(design, "design", _DESIGNS)
    told = read_labels(labels, run.items, run.find)
    names = run.items.names
    for item, code in zip(told.at.tolist(), told.label.tolist(), strict=True):
        old = run.labels.get(item)
        if old is not None and old != code and not replace:
            raise LabelError(
                f"item {shown(names(np.array(item)).item())} was labelled "
                f"{shown(run.items.classes[old])} and is now labelled "
                f"{shown(run.items.classes[code])}; pass replace=True (--replace) if the new "
                "label is right"
            )
    chance = _probabilities(run, told.at.tolist(), how, probability)
    asked = {item for event in run.events for item in event.items}
    new = [item for item in told.at.tolist() if item not in asked]
    if how == "asked" and new:
        raise AuditError(
            f"{len(new)} of {len(told.at)} labels are of items that were not "
            f"asked for (first {shown(names(np.array(new[0])).item())}). Items that "
            "people picked would bias every estimate; if these were drawn at random "
            "from all items, pass ",
            Option("design", "random"),
            ", or ",
            Option("design", "probability"),
            " with the probability of each",
        )
    kinds = {event.kind for event in run.events}
    if new and how == "probability" and kinds - {"probability"}:
        raise AuditError(
            "this audit has labels that were asked for or drawn at random; labels with "
            "probabilities of their own cannot be mixed with them. Start an audit of their own"
        )
    if new and how != "probability" and "probability" in kinds:
        raise AuditError(
            "this audit has labels with probabilities of their own, with which no others can be "
            "mixed; start another audit"
        )
    fresh = sum(item not in run.labels for item in told.at.tolist())
    if new and how != "asked":
        run.events.append(
            Event(how, new, probability=None if chance is None else [chance[i] for i in new])
        )
    run.labels.update(zip(told.at.tolist(), told.label.tolist(), strict=True))
    return fresh


def _by_item(run: Run, probability: Any) -> dict[int, float]:
    """Return probabilities by position, whether a mapping or a column for all items was passed."""
    if isinstance(probability, Mapping):
        at = run.find(list(probability.keys()))
        values = list(probability.values())
    else:
        values = check_scores(probability, "probability").tolist()
        check_same_length(y_pred=run.items.called, probability=values)
        at = list(range(len(values)))
    found: dict[int, float] = {}
    for item, value in zip(at, values, strict=True):
        if item >= 0:
            found[item] = check_number(value, "probability")
    return found


def _probabilities(run: Run, at: list[int], how: str, probability: Any) -> dict[int, float] | None:
    """Return the probability with which each labelled item was drawn."""
    if how != "probability":
        if probability is not None:
            refuse_option(how, "design", "'probability' where probability= is passed")
        return None
    if probability is None:
        raise AuditError(
            Option("design", "probability"),
            " needs ",
            Option("probability"),
            ", a mapping from item to the probability with which it was drawn; or pass ",
            Option("design", "random"),
            " if all were equally likely",
        )
    known = _by_item(run, probability)
    found = {}
    for item in at:
        name = run.items.names(np.array(item)).item()
        p = known.get(item)
        if p is None or not 0 < p <= 1:
            what = "missing" if p is None else f"{p:g}"
            raise ProbabilityError(
                f"the probability of item {shown(name)} is {what}; expected a number above 0 and "
                "at most 1. An item of probability 0 could not have been drawn"
            )
        found[item] = p
    return found


# --- The state of an audit, and the next items to ask for.

_REFIT = 20  # labels from which the guesses are corrected before more are asked for


@dataclass
class Event:
    """Items that were asked for, by the shares of strata then; or labels of a declared design."""

    kind: str
    items: list[int]
    share: list[float] | None = None
    probability: list[float] | None = None


@dataclass
class Run:
    """Items and strata, events and labels by position."""

    items: Items
    metric: Metric
    calls: Calls
    strata: Strata
    seed: int
    confidence: float
    events: list[Event] = field(default_factory=list)
    labels: dict[int, int] = field(default_factory=dict)
    places: dict[Any, int] = field(default_factory=dict)
    predicted: FloatArray | None = None

    def find(self, names: list[Any]) -> list[int]:
        """Return the positions of items by their ids, -1 for what is none."""
        ids = self.items.ids
        if ids is not None and not self.places:  # only once: there may be a million
            self.places = dict(zip(ids.tolist(), range(len(ids)), strict=True))
        return find_items(names, self.items.n, None if ids is None else self.places)

    @property
    def n_asked(self) -> int:
        """Number of items that were asked for."""
        return sum(len(event.items) for event in self.events if event.kind == "ask")

    def body(self) -> dict[str, Any]:
        """Return the run as plain data; the items themselves are not in it."""
        return {
            "metric": self.metric.to_dict(),
            "classes": self.items.classes.tolist(),
            "confidence": self.confidence,
            "seed": self.seed,
            "events": [asdict(event) for event in self.events],
            "labels": {str(item): code for item, code in sorted(self.labels.items())},
        }

    def take_up(self, body: dict[str, Any]) -> None:
        """Go on where a saved run stopped."""
        self.seed = int(body["seed"])
        self.events = [Event(**event) for event in body["events"]]
        self.labels = {int(item): code for item, code in body["labels"].items()}

    def taken(self) -> tuple[IntArray, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
        """Return how many items of each stratum were asked for or labelled, and which are free."""
        is_free = self.strata.of >= 0
        used = [item for event in self.events for item in event.items]
        is_free[used] = False
        is_free[list(self.labels)] = False
        gone = self.strata.of[(self.strata.of >= 0) & ~is_free]
        return np.bincount(gone, minlength=self.strata.n), is_free

    def members(self) -> list[IntArray]:
        """Return the items of each stratum."""
        ends = self.strata.start
        return [self.strata.member[a:b] for a, b in pairwise(ends.tolist())]


def ask_items(run: Run, n: int) -> Event:
    """Draw n items more, by shares that the labels so far have corrected."""
    taken, is_free = run.taken()
    left = int(run.strata.size.sum() - taken.sum())
    if n > left:
        what = "the items that have not been asked for"
        if left < run.items.n and run.calls.worth is not None:
            what += " and on which the two systems disagree"
        refuse_option(n, "n", f"at most {left:,}: {what}")
    share = _shares(run)
    rng = np.random.default_rng([run.seed, run.n_asked])
    chosen, _ = draw_items(share, taken, run.members(), n, rng, is_free)
    event = Event("ask", chosen, share=[round(float(s), 12) for s in share])
    # The shares are kept as they are saved, so that a resumed audit replays the same chances.
    run.events.append(event)
    return event


def _shares(run: Run) -> FloatArray:
    if len(run.labels) < _REFIT or run.items.guess is None or len(run.items.classes) != 2:
        share = run.strata.share
    else:
        at = np.array(sorted(run.labels), dtype=np.int64)
        at = at[run.strata.of[at] >= 0]
        label = np.array([run.labels[int(i)] for i in at])
        own = run.strata.of[at]
        number = np.bincount(own, minlength=run.strata.n)
        weight = (run.strata.size / np.maximum(number, 1))[own]
        guess = assumed(run.items)
        share = shares_of(run.calls, recalibrated(guess, guess[at], label, weight), run.strata)
    rounded = np.round(share, 12)
    return np.asarray(np.maximum(rounded, 1e-6))
