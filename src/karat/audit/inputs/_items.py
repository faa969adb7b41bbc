"""Predictions of all items, and a guess of the truth of each."""

from typing import Any, NamedTuple

import numpy as np

from karat._typing import AnyArray, Column, FloatArray, Frame, IntArray
from karat._validate import (
    binary_order,
    check_classes,
    check_probabilities,
    check_same_length,
    check_score_columns,
    check_scores,
    encode_groups,
    encode_labels,
    encode_weak_labels,
    is_matrix,
    read_column,
    refuse_option,
    require_two_classes,
    shown,
)
from karat.exceptions import DataError, ProbabilityError

__all__ = ["Items", "assumed", "read_items"]

_RIGHT = 0.8  # chance that a prediction is taken to be right where nothing is known of it
_STEEP = 1.5  # log-odds for one standard deviation of a score


class Items(NamedTuple):
    """All items of an audit: predictions as codes, names as they were passed, guesses of the truth.

    ``guess`` (n, k) is P(Y) of each item by ``source``; None where nothing is known.
    """

    classes: AnyArray
    called: IntArray
    other: IntArray | None
    group: IntArray | None
    group_names: AnyArray | None
    ids: AnyArray | None
    guess: FloatArray | None
    source: str | None

    @property
    def n(self) -> int:
        """Number of items."""
        return len(self.called)

    def names(self, at: IntArray) -> AnyArray:
        """Return the ids of items, or their positions."""
        return np.asarray(at if self.ids is None else self.ids[at])


def read_items(
    y_pred: Column,
    *,
    proba: Column | Frame | None,
    votes: Frame | None,
    scores: Column | Frame | None,
    against: Column | None,
    ids: Column | None,
    groups: Column | None,
    classes: Column | None,
    pos_label: Any,
) -> Items:
    """Check what was passed to an audit."""
    given = [name for name, value in (("proba", proba), ("votes", votes), ("scores", scores))
             if value is not None]  # fmt: skip
    if len(given) > 1:
        refuse_option(given[1], given[1], f"None: {given[0]}= says already what the truth may be")
    columns = {"y_pred": y_pred} | ({} if against is None else {"against": against})
    order = None if classes is None else check_classes(classes)
    codes, found = encode_labels(columns, order)
    if order is None and votes is not None:
        # Votes may name classes that the predictions do not have.
        seen = encode_weak_labels(votes).classes
        codes, found = encode_labels(columns, np.union1d(found, seen))
    require_two_classes(found, *columns)
    if pos_label is not None:
        codes, found = encode_labels(columns, binary_order(found, pos_label, name="y_pred"))
    group, names = encode_groups(groups)
    named = None if ids is None else _read_ids(ids)
    check_same_length(y_pred=codes[0], against=None if against is None else codes[1],
                      groups=group, ids=named)  # fmt: skip
    guess = _guess(found, codes[0], proba, votes, scores)
    check_same_length(y_pred=codes[0], **{given[0] if given else "proba": guess})
    return Items(found, codes[0], None if against is None else codes[1], group, names, named, guess,
                 given[0] if given else None)  # fmt: skip


def _read_ids(ids: Column) -> AnyArray:
    array, mask = read_column(ids, "ids")
    if mask is not None:
        raise DataError(f"ids row {int(np.flatnonzero(mask)[0])} is missing; name every item")
    unique, counts = np.unique(array, return_counts=True)
    if len(unique) < len(array):
        twice = unique[counts > 1]
        raise DataError(
            f"ids holds {shown(twice[0])} twice ({len(twice)} such ids in all); expected every id "
            "once. Pass another column, or none to count rows"
        )
    return array


def _guess(
    classes: AnyArray, called: IntArray, proba: Any, votes: Any, scores: Any
) -> FloatArray | None:
    """Return P(Y) of every item by the one source that was passed."""
    if proba is not None:
        if is_matrix(proba):
            return check_probabilities(proba, "proba", classes=classes)
        p = check_scores(proba, "proba")
        outside = np.flatnonzero((p < 0) | (p > 1))
        if len(classes) != 2 or len(outside):
            what = f"row {outside[0]} is {p[outside[0]]:g}" if len(outside) else "has one column"
            raise ProbabilityError(
                f"proba {what} and there are {len(classes)} classes; expected one column of "
                "probabilities per class, or, of two classes, that of the positive one"
            )
        return np.stack([1 - p, p], axis=1)
    if votes is not None:
        from karat.weak import DetectorLabelModel

        model = DetectorLabelModel().fit(votes, classes=classes)
        return np.asarray(model.predict_proba(votes), dtype=np.float64)
    return None if scores is None else _pooled(classes, called, scores)


def _pooled(classes: AnyArray, called: IntArray, scores: Any) -> FloatArray:
    """Return P(Y=1) from scores of the positive class: the mean of their log-odds."""
    if len(classes) != 2:
        refuse_option("scores", "scores", f"two classes with it, and there are {len(classes)}; "
                      "pass proba=, one column per class")  # fmt: skip
    if is_matrix(scores):
        columns = list(check_score_columns(scores, "scores", each="model").values())
    else:
        columns = [check_scores(scores, "scores")]
    logits = []
    rate = np.clip(called.mean(), 0.003, 0.997)
    for column in columns:
        if column.min() >= 0 and column.max() <= 1:
            p = np.clip(column, 1e-6, 1 - 1e-6)
            logits.append(np.log(p / (1 - p)))
        else:
            spread = column.std() or 1.0
            logits.append(_STEEP * (column - column.mean()) / spread + np.log(rate / (1 - rate)))
    p = 1 / (1 + np.exp(-np.mean(logits, axis=0)))
    return np.stack([1 - p, p], axis=1)


def assumed(items: Items) -> FloatArray:
    """Return the guess, or one that trusts every prediction, and either system, alike."""
    k = len(items.classes)
    if items.guess is not None:
        return items.guess
    table = np.full((k, k), (1 - _RIGHT) / (k - 1)) + (_RIGHT - (1 - _RIGHT) / (k - 1)) * np.eye(k)
    if items.other is not None:
        return np.asarray((table[items.called] + table[items.other]) / 2)
    return np.asarray(table[items.called])
