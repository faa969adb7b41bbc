"""Partial areas between two true-positive rates."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from karat._frozen import Frozen
from karat.ranking._fpr_band import FprBand, check_band

if TYPE_CHECKING:
    from karat.ranking._two_way_band import TwoWayBand

__all__ = ["TprBand"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TprBand(Frozen):
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

    low: float
    high: float

    def __post_init__(self) -> None:
        """Check the ends."""
        low, high = check_band(self.low, self.high, "TprBand")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    def __and__(self, other: FprBand) -> "TwoWayBand":
        from karat.ranking._two_way_band import TwoWayBand

        return TwoWayBand(fpr=other, tpr=self) if isinstance(other, FprBand) else NotImplemented

    def mirrored(self) -> FprBand:
        """Return the same band as one of false-negative rates."""
        return FprBand(1.0 - self.high, 1.0 - self.low)

    @property
    def area(self) -> float:
        """Area of a perfect ranking."""
        return self.high - self.low

    @property
    def chance(self) -> float:
        """Area of a ranking that knows nothing."""
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
