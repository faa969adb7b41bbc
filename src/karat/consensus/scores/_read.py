"""Scores of voters as levels: ratings as they are, continuous scores by their own quantiles."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from karat._typing import AnyArray, BoolArray, FloatArray, Frame, IntArray
from karat._validate import (
    encode_labels,
    named,
    native_frame,
    quoted_text,
    read_column,
    read_columns,
    shown,
)
from karat.exceptions import DataError, EmptyDataError, ScoreError, ShapeError
from karat.votes.reading import PassedValues, split_keys

__all__ = ["ScoreTable", "read_scores"]

_TAIL = 2.3  # the outermost cut of a continuous score, in standard deviations of a normal one
_WHO = ("classifier", "judge", "annotator", "worker")
_WHAT = ("score", "rating", "vote", "proba", "verdict")


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """Scores and their levels, items × voters; NaN and -1 where a voter was not asked."""

    scores: FloatArray
    codes: IntArray
    edges: tuple[FloatArray, ...]  # the least score of each level of a voter, from the second on
    levels: IntArray
    fine: BoolArray  # voters whose scores were cut into levels here
    voters: PassedValues
    items: PassedValues | None
    item_of_row: IntArray
    domain: Any  # the column of domains, one per row, None if there is none

    def coded(self, scores: FloatArray) -> IntArray:
        """Return the levels of other scores of the same voters."""
        codes = np.full(scores.shape, -1)
        for j, edges in enumerate(self.edges):
            there = ~np.isnan(scores[:, j])
            codes[there, j] = np.searchsorted(edges, scores[there, j], side="right")
        return codes


def read_scores(table: Frame, *, most: int) -> ScoreTable:
    """Read a wide or a long table of numbers; more than ``most`` distinct ones are binned."""
    frame = native_frame(table, "scores")
    names = [] if frame is None else [c for c in frame.columns if isinstance(c, str)]
    who = next((c for c in _WHO if c in names), None)
    what = next((c for c in _WHAT if c in names), None)
    if frame is not None and "item" in names and who is not None and what is not None:
        items: PassedValues | None
        scores, voters, items, rows = _long(frame, who, what)
        domain = frame["domain"].to_native() if "domain" in names else None
    else:
        scores, voters, items, domain = _wide(table, frame)
        rows = np.arange(len(scores))
    listed = voters.tolist()
    if len(listed) < 2:
        raise ShapeError(
            f"scores has one voter only, {named(listed)}; its errors show only where another "
            "disagrees. Pass at least three to learn anything without gold labels"
        )
    silent = np.flatnonzero(np.isnan(scores).all(axis=0))
    if silent.size:
        raise DataError(f"{shown(listed[silent[0]])} gives no score; leave it out")
    edges = tuple(_edges(scores[~np.isnan(scores[:, j]), j], most) for j in range(len(listed)))
    flat = [j for j, cut in enumerate(edges) if not len(cut)]
    if flat:
        raise DataError(
            f"{shown(listed[flat[0]])} gives one score only, which says nothing; leave it out"
        )
    levels = np.array([len(cut) + 1 for cut in edges])
    distinct = [len(np.unique(scores[~np.isnan(scores[:, j]), j])) for j in range(len(listed))]
    fine = np.array(distinct) > levels
    found = ScoreTable(
        scores, np.zeros((0, 0), np.int64), edges, levels, fine, voters, items, rows, domain
    )
    return ScoreTable(scores, found.coded(scores), edges, levels, fine, voters, items, rows, domain)


def _edges(values: FloatArray, most: int) -> FloatArray:
    """Return the least score of each level but the first: all distinct ones, or quantiles.

    The quantiles are those of a normal variable cut into equal steps: levels are finer in the
    tails, where a rare class shows.
    """
    from scipy.special import ndtr

    distinct = np.unique(values)
    if len(distinct) <= most:
        return distinct[1:]
    ordered = np.sort(values)
    # A quantile that is a score itself: any monotone transform of the scores gives the same levels.
    share = ndtr(np.linspace(-_TAIL, _TAIL, most - 1))
    at = np.floor(share * len(ordered)).astype(np.int64)
    edges = np.unique(ordered[at])
    return np.asarray(edges[edges > ordered[0]])


def _wide(table: Any, frame: Any) -> tuple[FloatArray, PassedValues, PassedValues | None, Any]:
    items = domain = None
    if frame is not None:
        domain = frame["domain"].to_native() if "domain" in frame.columns else None
        (items, _), frame = split_keys(frame)
    wide = table if frame is None else frame
    columns, names = read_columns(wide, "scores", each="column per voter")
    voters = PassedValues(np.array(names)) if frame is None else PassedValues.of_columns(frame)
    scores = [
        _numbers(v, m, f"scores column {name!r}")
        for (v, m), name in zip(columns, names, strict=True)
    ]
    return np.stack(scores, axis=1), voters, items, domain


def _long(
    frame: Any, who: str, what: str
) -> tuple[FloatArray, PassedValues, PassedValues, IntArray]:
    (item,), _ = encode_labels({"item": frame["item"].to_native()})
    (voter,), found = encode_labels({who: frame[who].to_native()})
    value = _numbers(*read_column(frame[what].to_native(), what), f"column {what!r}")
    items = PassedValues.of_column(frame["item"].to_native(), item, int(item.max()) + 1)
    voters = PassedValues.of_column(frame[who].to_native(), voter, len(found))
    there = ~np.isnan(value)
    key, counts = np.unique(item[there] * len(found) + voter[there], return_counts=True)
    if (counts > 1).any():
        i, j = divmod(int(key[counts > 1][0]), len(found))
        raise DataError(
            f"{shown(voters.tolist()[j])} scores the item {shown(items.tolist()[i])} twice; keep "
            "one score, or their mean"
        )
    scores = np.full((len(items), len(found)), np.nan)
    scores[item[there], voter[there]] = value[there]
    return scores, voters, items, item


def _numbers(values: AnyArray, mask: Any, name: str) -> FloatArray:
    """Return numbers, NaN where there is none; text that shows numbers is read as such."""
    gone = np.zeros(len(values), bool) if mask is None else mask
    if gone.all():
        raise EmptyDataError(f"{name} holds no score; leave it out")
    try:
        number = np.where(gone, "nan", values).astype(float) if values.dtype.kind == "U" else values
    except ValueError as error:
        said = f"{name} holds text ({quoted_text(values, gone)}); scores are numbers"
        raise ScoreError(said) from error
    number = np.where(gone, np.nan, number.astype(np.float64))
    infinite = np.flatnonzero(np.isinf(number))
    if infinite.size:
        # log P = -inf is a probability of 0: an extreme score, and an order is all that is used.
        number = np.where(np.isneginf(number), np.finfo(float).min, number)
        number = np.where(np.isposinf(number), np.finfo(float).max, number)
    return np.asarray(number)
