"""Placements: where each positive stands among the negatives, which every area is a mean of.

`LabelledScores` are read, and split by class, once; ties, weights and clusters go along.
"""

from __future__ import annotations

import _thread
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from karat._sentences import Argument, Option, Remedy
from karat._typing import AnyArray, BoolArray, Column, FloatArray, IntArray
from karat._validate import (
    check_same_length,
    check_score_columns,
    check_weighting,
    check_weights,
    encode_labels,
    named,
    order_classes,
    read_columns,
    refuse_option,
    require_two_classes,
)
from karat._validate import is_matrix as is_score_matrix
from karat.exceptions import ColumnError, DataError, LabelError, ShapeError

# --- Where the positives stand among the negatives: all that any area under the ROC curve needs.

# Below this many rows a binary search for each positive is faster than importing numba.
MANY = 100_000


@dataclass(frozen=True, slots=True)
class LabelledScores:
    """Scores of positives and negatives, with their weights.

    ``approximate`` says that the weights are importances: limits then rest on Kish's effective
    number of rows, and are approximate.
    """

    positive: FloatArray
    negative: FloatArray
    positive_weight: FloatArray | None = None
    negative_weight: FloatArray | None = None
    approximate: bool = False

    def mirrored(self) -> LabelledScores:
        """Return the rows with labels swapped and scores negated."""
        return LabelledScores(
            -self.negative,
            -self.positive,
            self.negative_weight,
            self.positive_weight,
            self.approximate,
        )

    @property
    def sizes(self) -> tuple[float, float]:
        """Numbers of positives and negatives that limits may count on."""
        return (
            _size(self.positive, self.positive_weight, kish=self.approximate),
            _size(self.negative, self.negative_weight, kish=self.approximate),
        )

    def placed(self, many: int = MANY) -> Placements:
        """Place the positives among the negatives; above ``many`` scores by compiled loops."""
        if self.positive_weight is None or self.negative_weight is None:
            _sort_both(self.positive, self.negative, many)
            return place(self.positive, self.negative, many=many)
        ones, zeros = np.argsort(self.positive), np.argsort(self.negative)
        return place(
            self.positive[ones],
            self.negative[zeros],
            weights=(self.positive_weight[ones], self.negative_weight[zeros]),
            sizes=self.sizes,
            many=many,
        )


def _sort_both(first: FloatArray, second: FloatArray, many: int) -> None:
    """Sort two arrays in place: `labelled_scores` made these copies, and they may be large."""
    if len(first) + len(second) > many:
        two_threads(first.sort, second.sort)
    else:
        first.sort()
        second.sort()


def _size(score: FloatArray, weight: FloatArray | None, *, kish: bool) -> float:
    if weight is None:
        return float(len(score))
    return float(weight.sum() ** 2 / (weight @ weight) if kish else weight.sum())


def read_labels(
    y_true: Column,
    pos_label: Any,
    classes: Column | None = None,
    *,
    what: str = "an area under the ROC curve",
) -> tuple[BoolArray, AnyArray]:
    """Return which rows are positive, and the two classes with the positive one last."""
    plain: Any = y_true
    boolean = isinstance(plain, np.ndarray) and plain.dtype == bool and plain.ndim == 1
    if boolean and pos_label is classes is None and 0 < np.count_nonzero(plain) < len(plain):
        return plain, np.array([False, True])  # flags need no encoding
    (codes,), order = encode_labels({"y_true": y_true}, classes)
    if (codes == codes[0]).all():
        raise LabelError(
            Argument("y_true"),
            f" holds one class only, {order[codes[0]].item()!r}; {what} compares two",
            Remedy("Pass rows of both classes", after=". "),
        )
    require_two_classes(order, "y_true")
    if len(order) > 2:
        raise LabelError(
            Argument("y_true"),
            f" holds {len(order)} classes, {named(order.tolist())}, and ",
            Argument("y_score"),
            " is one column",
            Remedy(
                "pass one column of scores per class, or y_true == one of them",
                elsewhere="pass one column of scores per class",
            ),
        )
    ordered = order_classes(order, pos_label, stated=classes is not None).classes
    return codes == int(ordered[1] == order[1]), ordered


def labelled_scores(
    positive: BoolArray,
    score: FloatArray,
    weight: FloatArray | None,
    *,
    approximate: bool,
    many: int = MANY,
) -> LabelledScores:
    """Split checked rows by class; rows of weight 0 are dropped.

    Above ``many`` rows without weights the compiled loop is used.
    """
    if weight is None:
        n = int(np.count_nonzero(positive))
        if len(score) > many and score.dtype.kind == "f":
            whole = np.ascontiguousarray(score), np.ascontiguousarray(positive)
            return LabelledScores(*split_by_class(*whole, n))
        return LabelledScores(score[positive], score[~positive])
    ones, zeros = positive & (weight > 0), ~positive & (weight > 0)
    if not ones.any() or not zeros.any():
        which = "positives" if zeros.any() else "negatives"
        raise LabelError(f"all {which} have the weight 0; give at least one row a weight")
    return LabelledScores(score[ones], score[zeros], weight[ones], weight[zeros], approximate)


def split_by_class(score: FloatArray, positive: BoolArray, n: int) -> tuple[FloatArray, FloatArray]:
    """Return the scores of the n positives and those of the negatives, by the compiled loop.

    The first and the second half of the rows are split on two threads.
    """
    from karat.ranking._loops import split

    ones, zeros = np.empty(n), np.empty(len(score) - n)
    half = len(score) // 2
    first = int(np.count_nonzero(positive[:half]))
    two_threads(
        lambda: split(score[:half], positive[:half], ones[:first], zeros[: half - first]),
        lambda: split(score[half:], positive[half:], ones[first:], zeros[half - first :]),
    )
    return ones, zeros


@dataclass(frozen=True, slots=True)
class Placements:
    """Positives in ascending order of their scores.

    Attributes
    ----------
    left, right : array (positives,)
        Steps of the negatives below each positive, and below or level with it.
    mass : array (positives,) or None
        Share of each positive; None if all have the same.
    share : array (steps + 1,) or None
        Share of the negatives up to each step, from 0 to 1; None if all steps are the same.
    n_positive, n_negative : float
        Rows of each class, or what counts as such when rows have weights.
    n_steps : int
        Number of steps.
    negative : array (steps,) or None
        The scores of the steps, where two may be level; None if all differ.
    """

    left: IntArray
    right: IntArray
    mass: FloatArray | None
    share: FloatArray | None
    n_positive: float
    n_negative: float
    n_steps: int
    negative: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.left)

    def below(self, where: slice = slice(None)) -> FloatArray:
        """Return ``F̂₀(x−)`` of the positives."""
        return self.share_at(self.left[where])

    def upto(self, where: slice = slice(None)) -> FloatArray:
        """Return ``F̂₀(x)`` of the positives."""
        return self.share_at(self.right[where])

    def share_at(self, step: IntArray) -> FloatArray:
        """Return the share of the negatives up to given steps."""
        return np.asarray(step / self.n_steps if self.share is None else self.share[step])

    def cumulative_mass(self, where: slice) -> FloatArray:
        """Return the share of positives before the first of ``where``, then up to each of them."""
        start, stop, _ = where.indices(len(self))
        if self.mass is None:
            return np.arange(start, stop + 1) / len(self)
        before = float(self.mass[:start].sum())
        found = before + np.concatenate([[0.0], np.cumsum(self.mass[start:stop])])
        return np.minimum(found, 1.0) if stop < len(self) else np.append(found[:-1], 1.0)

    @property
    def counts_rows(self) -> bool:
        """Whether every share stands for a whole number of rows, as importances do not."""
        sizes = (self.n_positive, self.mass), (self.n_negative, self.share)
        return all(
            n == round(n) and (shares is None or bool(np.allclose(shares * n, np.rint(shares * n))))
            for n, shares in sizes
        )

    def grouped(self) -> Placements:
        """Return the placements with positives of the same place merged into one."""
        moved = (np.diff(self.left) > 0) | (np.diff(self.right) > 0)
        new = np.flatnonzero(np.concatenate([[True], moved]))
        mass = np.full(len(self), 1.0 / len(self)) if self.mass is None else self.mass
        return replace(
            self, left=self.left[new], right=self.right[new], mass=np.add.reduceat(mass, new)
        )

    def tie_ends(self) -> FloatArray:
        """Return ``F̂₀`` at each step: of tied steps, that of the last."""
        last = np.arange(1, self.n_steps + 1)
        if self.negative is not None:
            ends = np.flatnonzero(np.diff(self.negative) > 0) + 1
            ends = np.append(ends, self.n_steps)
            last = ends[np.searchsorted(ends, last)]
        return self.share_at(last)


def place(
    positive: FloatArray,
    negative: FloatArray,
    *,
    weights: tuple[FloatArray, FloatArray] | None = None,
    sizes: tuple[float, float] | None = None,
    many: int = MANY,
) -> Placements:
    """Place sorted scores, with weights in the same order where rows have them.

    ``sizes`` are the numbers of positives and negatives that limits may count on, by default those
    of the scores; above ``many`` scores the compiled merge is used.
    """
    n1, n0 = len(positive), len(negative)
    if many < n1 + n0 < 2**31:  # the compiled merge counts in int32
        left, right = merged(positive, negative)
    else:
        left = np.searchsorted(negative, positive, side="left")
        right = np.searchsorted(negative, positive, side="right")
    mass = share = None
    if weights is not None:
        mass, share = weights[0] / weights[0].sum(), _shares(weights[1])
    size = sizes or (float(n1), float(n0))
    return Placements(left, right, mass, share, *size, n0, negative)


def merged(positive: FloatArray, negative: FloatArray) -> tuple[IntArray, IntArray]:
    """Return the numbers of negatives below, and up to, each positive, by the compiled merge.

    The lower and the upper half of the scores are merged on two threads.
    """
    from karat.ranking._loops import merge

    n1 = len(positive)
    left, right = np.empty(n1, np.int32), np.empty(n1, np.int32)  # half the memory of int64
    middle = negative[len(negative) // 2]
    i, j = (int(np.searchsorted(scores, middle)) for scores in (positive, negative))
    two_threads(
        lambda: merge(positive[:i], negative[:j], left[:i], right[:i], 0),
        lambda: merge(positive[i:], negative[j:], left[i:], right[i:], j),
    )
    return left, right


def place_counts(
    positives: FloatArray, negatives: FloatArray, *, sizes: tuple[float, float] | None = None
) -> Placements:
    """Place counts of both classes at ascending distinct scores; ``sizes`` as in `place`."""
    here = np.flatnonzero(positives > 0)
    mass = positives[here] / positives.sum()
    size = sizes or (float(positives.sum()), float(negatives.sum()))
    return Placements(here, here + 1, mass, _shares(negatives), *size, len(negatives))


def _shares(weights: FloatArray) -> FloatArray:
    total = np.concatenate([[0.0], np.cumsum(weights, dtype=float)])
    return np.asarray(total / total[-1])


def two_threads(first: Callable[[], None], second: Callable[[], None]) -> None:
    """Call ``first`` on a new thread and ``second`` on this one; return when both are done.

    A bare thread starts in a tenth of the time of ``threading.Thread``, which waits until it runs;
    a pool of threads would not survive a fork.
    """
    done, failed = _thread.allocate_lock(), []
    done.acquire()

    def run() -> None:
        try:
            first()
        except BaseException as error:  # raised again below, where the caller sees it
            failed.append(error)
        finally:
            done.release()

    _thread.start_new_thread(run, ())
    try:
        second()
    finally:
        done.acquire()
    if failed:
        raise failed[0]


def warm() -> None:
    """Split a few scores by class and merge them."""
    merged(*split_by_class(np.linspace(0, 1, 8), np.arange(8) % 2 == 0, 4))


# --- Labels that a row may have together, and limits that take the entries of one row together.
#
# `read_labels_apart` reads one column of 0 and 1, and one of scores, for each label into `Labels`;
# `classes_apart` reads classes as such labels; `clustered_limits` limits what is pooled over
# labels.


def classes_apart(
    y_true: Any,
    y_score: Any,
    sample_weight: Any,
    weighting: str | None,
    classes: Any,
    *,
    groups: Any,
    pos_label: Any,
) -> Labels:
    """Return each class against the rest, with its column of scores."""
    if pos_label is not None:
        refuse_option(pos_label, "pos_label", "None where y_score has one column per class")
    no_groups(groups)
    (codes,), order = encode_labels({"y_true": y_true}, classes)
    require_two_classes(order, "y_true")
    columns = check_score_columns(
        y_score, "y_score", each="column per class", classes=order, ranked=True
    )
    weight = check_weights(sample_weight)
    check_same_length(y_true=codes, y_score=next(iter(columns.values())), sample_weight=weight)
    positive = {name: codes == j for j, name in enumerate(order.tolist())}
    for name, rows in positive.items():
        if not rows.any():
            raise LabelError(
                Argument("y_true"),
                f" has no row of class {name!r}, which has a column of scores",
            )
    return Labels(positive, columns, weight, check_weighting(weighting, weight), {})


class Labels(NamedTuple):
    """Columns of labels and of scores by the name of the label, and the weights of rows."""

    positive: dict[Any, BoolArray]
    score: dict[Any, FloatArray]
    weight: FloatArray | None
    approximate: bool
    skipped: dict[Any, str]
    alike: tuple[tuple[BoolArray, FloatArray], ...] = ()  # labels that all rows have, or none

    def only_these(self, *, groups: Any, pos_label: Any) -> None:
        """Refuse what has no meaning beside several labels."""
        if pos_label is not None:
            refuse_option(pos_label, "pos_label", "None where y_true has one column per label")
        no_groups(groups)

    def pooled(self) -> tuple[BoolArray, FloatArray, FloatArray | None]:
        """Return the entries of all labels, label after label."""
        positive = [*self.positive.values(), *(has for has, _ in self.alike)]
        score = [*self.score.values(), *(values for _, values in self.alike)]
        weight = None if self.weight is None else np.tile(self.weight, len(positive))
        return np.concatenate(positive), np.concatenate(score), weight


def read_labels_apart(
    y_true: Any, y_score: Any, sample_weight: Column | None, weighting: str | None
) -> Labels | None:
    """Return the labels where ``y_true`` has a column for each, and None where it is one column.

    Labels that all rows have, or none, are skipped with the reason.
    """
    if not is_score_matrix(y_score) or not _is_table(y_true):
        return None
    columns, names = read_columns(y_true, "y_true", each="column per label")
    labels: list[Any] = list(names)
    if isinstance(y_true, list | tuple | np.ndarray):
        labels = list(range(len(names)))  # columns without names
    scores = check_score_columns(y_score, "y_score", each="column per label", ranked=True)
    if len(scores) != len(names):
        raise ShapeError(
            Argument("y_true"),
            f" has {len(names)} columns and ",
            Argument("y_score"),
            f" has {len(scores)}",
            Remedy("pass one column of scores per label"),
        )
    if set(scores) == set(names):
        scores = {name: scores[name] for name in names}
    elif set(scores) & set(names) and not isinstance(y_score, list | tuple | np.ndarray):
        raise ColumnError(
            Argument("y_score"),
            f" has the columns {named(list(scores))} and the labels are {named(list(names))}",
            Remedy("name every column after its label, or none"),
        )
    weight = check_weights(sample_weight)
    check_same_length(
        y_true=columns[0][0], y_score=next(iter(scores.values())), sample_weight=weight
    )
    positive, kept, skipped, alike = {}, {}, {}, []
    for name, score, (values, mask) in zip(labels, scores.values(), columns, strict=True):
        has = _has_label(values, mask, name)
        if has.all() or not has.any():
            skipped[name] = f"{'all' if has.all() else 'none'} of {len(has)} rows have it"
            alike.append((has, score))
            continue
        positive[name], kept[name] = has, score
    if not positive:
        raise LabelError(
            "every label of ",
            Argument("y_true"),
            " is 0 in all rows or 1 in all rows; a ranking needs both. Pass rows of both kinds",
        )
    return Labels(positive, kept, weight, check_weighting(weighting, weight), skipped, tuple(alike))


def _is_table(y_true: Any) -> bool:
    """Return whether labels have several columns, numbers or flags."""
    if isinstance(y_true, list | tuple):
        return is_score_matrix(y_true)
    shape = getattr(y_true, "shape", ())
    return isinstance(shape, tuple) and len(shape) > 1 and shape[1] > 1


def _has_label(values: Any, mask: Any, name: Any) -> BoolArray:
    """Return which rows have a label, from 0 and 1."""
    array = np.asarray(values)
    broken = np.zeros(len(array), bool) if mask is None else np.asarray(mask)
    known = broken | (array == 0) | (array == 1) if array.dtype.kind in "biuf" else broken
    if broken.any() or not known.all():
        row = int(np.flatnonzero(broken | ~known)[0])
        shown = "missing" if broken[row] else repr(array[row].item())
        raise LabelError(
            Argument("y_true"),
            f" column {name!r} row {row} is {shown}; expected 0 or 1, whether the "
            "row has the label",
        )
    return np.asarray(array == 1)


def clustered_limits(
    value: float, effects: FloatArray, has_label: BoolArray, rows: int, delta: float
) -> tuple[float, float]:
    """Return limits on the scale of log-odds where the entries of one row belong together.

    ``effects`` are those of the entries times what they count, label after label; a row adds the
    sum of its own. One more row, half right and half wrong, is counted with those that have a
    label.
    """
    from scipy.special import expit, logit, stdtrit

    by_row = effects.reshape(-1, rows).sum(axis=0)
    n = float(has_label.reshape(-1, rows).any(axis=0).sum())
    centre = (n * value + 0.5) / (n + 1)
    error = math.sqrt(float(by_row @ by_row) + 0.25 / (n + 1) ** 2)
    reach = -float(stdtrit(max(n - 1, 1.0), delta / 2)) * error / (centre * (1 - centre))
    lower, upper = (float(expit(logit(centre) + sign * reach)) for sign in (-1, 1))
    return min(lower, value), max(upper, value)


def no_groups(groups: Any) -> None:
    """Refuse groups beside several classes or labels."""
    if groups is not None:
        raise DataError(
            Option("groups"),
            " is for two classes and one column of scores",
            Remedy("leave it out"),
        )
