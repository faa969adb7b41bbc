"""An audit: ask for labels, tell them, know."""

import json
import os
from typing import Any, Self

import numpy as np

from karat._frames import keeps_kind
from karat._typing import Column, Frame
from karat._validate import (
    check_confidence,
    check_count,
    check_flag,
    check_number,
    check_rng,
    refuse_lazy,
)
from karat.audit.decision_result import GateResult
from karat.audit.inputs import fingerprints, read_items
from karat.audit.result import AuditResult, LabelBudget
from karat.audit.running import (
    answer_of,
    ask_items,
    begin_run,
    budget_of,
    gate_of,
    items_frame,
    tell_labels,
)
from karat.audit.saving import check_data, read_audit, write_audit
from karat.metrics import MetricBase, load_metric

__all__ = ["Audit"]


class Audit:
    r"""Spend labels where they tell most, and know at any time what they say.

    Items are cut into strata, pure in their predictions, by what other sources say of the truth,
    into equal sums of

    .. math:: 0.9\,\frac{q^*}{\sum q^*} + 0.1\,\frac1N, \quad
        q^*(x) = \sqrt{E[(a - G b)^2 \mid x]}

    where a and b are what an item adds to numerator and denominator of the metric G. Labels are
    drawn stratum by stratum with recorded chances; the estimate is the stratified one. Its limits
    are by a surprise, with the items that have no label drawn too; limits at every look bet on each
    label.

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
        The positive class of a metric for two classes; by default the larger label.
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
            y_pred, proba=proba, votes=votes, scores=scores, against=against, ids=ids,
            groups=groups, classes=classes, pos_label=pos_label,
        )  # fmt: skip
        self._run = begin_run(items, metric, pos_label, int(generator.integers(2**31)), level)
        self.metric = self._run.metric
        self._path: str | None = None
        self._prints: dict[str, str] | None = None
        self._notes: dict[str, Any] = {}  # what a front end keeps with a saved audit
        self._result: AuditResult | None = None

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
            y_pred=y_pred, proba=proba, votes=votes, scores=scores, against=against, ids=ids,
            groups=groups,
        )  # fmt: skip
        body = read_audit(path)
        found = cls(
            y_pred, metric=load_metric(json.dumps(body["metric"])), proba=proba, votes=votes,
            scores=scores, against=against, ids=ids, groups=groups, rng=0,
            classes=np.array(body["classes"]), confidence=body["confidence"],
        )  # fmt: skip
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
