"""Labels and scores as users pass them, split by class and placed."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from karat._typing import AnyArray, BoolArray, Column, FloatArray
from karat._validate import binary_order, encode_labels, require_two_classes
from karat.exceptions import LabelError
from karat.ranking.placements._placements import MANY, Placements, place
from karat.ranking.placements._two_threads import two_threads

__all__ = [
    "LabelledScores",
    "labelled_scores",
    "read_labels",
    "split_by_class",
]


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

    def mirrored(self) -> "LabelledScores":
        """Return the rows with labels swapped and scores negated."""
        return LabelledScores(
            -self.negative, -self.positive, self.negative_weight, self.positive_weight,
            self.approximate,
        )  # fmt: skip

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
            f"y_true holds one class only, {order[codes[0]].item()!r}; {what} "
            "compares two. Pass rows of both classes"
        )
    require_two_classes(order, "y_true")
    if len(order) > 2:
        raise LabelError(
            f"y_true holds {len(order)} classes, {order[:8].tolist()}, and y_score is one "
            "column; pass one column of scores per class, or y_true == one of them"
        )
    ordered = binary_order(order, pos_label)
    return codes == (1 if ordered is order else 0), ordered


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
        if len(score) > many:
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
    from karat.ranking.placements._loops import split

    ones, zeros = np.empty(n), np.empty(len(score) - n)
    half = len(score) // 2
    first = int(np.count_nonzero(positive[:half]))
    two_threads(
        lambda: split(score[:half], positive[:half], ones[:first], zeros[: half - first]),
        lambda: split(score[half:], positive[half:], ones[first:], zeros[half - first :]),
    )
    return ones, zeros
