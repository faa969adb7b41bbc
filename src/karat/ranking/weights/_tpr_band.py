"""Partial areas between two true-positive rates."""

from dataclasses import dataclass
from typing import Any

from karat.ranking.weights._fpr_band import FprBand
from karat.ranking.weights._rate_band import RateBand
from karat.ranking.weights._two_way_band import TwoWayBand

__all__ = ["TprBand"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TprBand(RateBand):
    """The area right of the ROC curve between two true-positive rates.

    It is ``∫ (1 − roc⁻¹(t)) dt``: the mean true-negative rate over the band, times its width. With
    labels swapped and scores negated it is the partial AUC of `mirrored`.

    Parameters
    ----------
    low, high : float
        The band, ``0 ≤ low < high ≤ 1``.

    Examples
    --------
    >>> TprBand(0.8, 1.0).mirrored()
    FprBand(low=0.0, high=0.19999999999999996)
    """

    # Both orders of ``FprBand(...) & TprBand(...)`` are defined here, so that `FprBand`, of which a
    # `TprBand` is made by `mirrored`, need not know this class.
    def __and__(self, other: FprBand) -> TwoWayBand:
        return TwoWayBand(fpr=other, tpr=self) if isinstance(other, FprBand) else NotImplemented

    def __rand__(self, other: FprBand) -> TwoWayBand:
        return self.__and__(other)

    def mirrored(self) -> FprBand:
        """Return the band of false-negative rates that these true-positive rates are."""
        return FprBand(1.0 - self.high, 1.0 - self.low)

    @property
    def chance(self) -> float:
        """Area of a ranking by chance."""
        return self.mirrored().chance

    @property
    def title(self) -> str:
        """What the area is called."""
        return f"partial AUC (TPR {self.low:g}–{self.high:g})"

    def __repr__(self) -> str:
        return f"TprBand(low={self.low!r}, high={self.high!r})"

    def to_dict(self) -> dict[str, Any]:
        """Return the kind of weight and its options."""
        return {"kind": "TprBand", "low": self.low, "high": self.high}
