"""How far judges follow the position of an answer, from pairs shown in two orders."""

from typing import Any, Literal

from karat._frames import keeps_kind
from karat._typing import Column, Frame
from karat._validate import check_confidence, refuse_lazy
from karat.consensus.judging import bias_of, item_weights
from karat.consensus.pair_result import PositionBias
from karat.consensus.pairs import read_pairs

__all__ = ["position_bias"]


@keeps_kind
def position_bias(
    verdicts: Frame,
    swapped: Frame | None = None,
    *,
    classes: Column | None = None,
    says: Literal["answer", "position"] = "answer",
    first_order: Any = None,
    sample_weight: Column | None = None,
    weighting: str | None = None,
    confidence: float = 0.95,
) -> PositionBias:
    r"""Return how far each judge's verdict follows the position of an answer; no gold is needed.

    A pair (A, B) is shown with A first and with B first. A judge without bias gives the same
    verdict; one that always says what stands first says A, then B. Over pairs,

    .. math:: \beta_j = P(\text{says the first, twice}) - P(\text{says the second, twice})

    which is also the difference of its error rates when the better answer is shown second and
    first. Ties and repeats count in part.

    Parameters
    ----------
    verdicts : matrix or frame
        Wide: one row per pair, one column per judge, the verdicts with A shown first. Or long: a
        frame with ``item``, ``judge``, ``order`` and ``verdict``, or with ``verdict_order1`` and
        ``verdict_order2``; a judge's repeats of one pair in one order are averaged. A verdict is
        one of two labels, "tie", -1 (no verdict) or null (not asked).
    swapped : matrix or frame, optional
        Beside a wide table: the verdicts with B shown first.
    classes : column (2,), optional
        The label of A and that of B; by default those found, sorted.
    says : {"answer", "position"}, default "answer"
        Whether a verdict names the answer, whatever its place, or the place: the first label for
        what is shown first.
    first_order : value, optional
        The value of ``order`` in which A is shown first; by default the smaller.
    sample_weight : column, optional
        Weights of at least 0, one per row, in any unit.
    weighting : {"importance", "frequency"}, optional
        What ``sample_weight`` means, as in ``ErrorEstimator.fit``.
    confidence : float, default 0.95
        Level of the limits.

    Returns
    -------
    PositionBias
        The bias and the share of verdicts that flip, with limits.

    Notes
    -----
    Limits invert the score test of Tango (1998), for each judge alone; they are for the kind of
    pairs seen. ``expected_on(n)`` has those of the bias that n further pairs will show.

    Examples
    --------
    >>> first = [["A", "A"], ["A", "B"], ["A", "A"], ["B", "B"]]
    >>> second = [["B", "A"], ["B", "B"], ["A", "A"], ["B", "B"]]
    >>> position_bias(first, second).bias.tolist()
    [0.5, 0.0]
    """
    level = check_confidence(confidence)
    refuse_lazy(verdicts=verdicts, swapped=swapped, sample_weight=sample_weight)
    read = read_pairs(verdicts, swapped, classes=classes, says=says, first_order=first_order)
    return bias_of(read, item_weights(read, sample_weight, weighting), level)
