"""Two-way partial areas: a box of false- and true-positive rates."""

from dataclasses import dataclass
from typing import Any

from karat._frozen import Frozen
from karat._validate import refuse_option
from karat.ranking.weights._fpr_band import FprBand
from karat.ranking.weights._rate_band import RateBand

__all__ = ["TwoWayBand"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TwoWayBand(Frozen):
    """The area under the ROC curve inside a box, ``FprBand(a, b) & TprBand(c, d)``.

    Parameters
    ----------
    fpr : FprBand
        The false-positive rates of the box.
    tpr : TprBand
        Its true-positive rates.

    Examples
    --------
    >>> from karat.ranking import FprBand, TprBand
    >>> box = FprBand(0, 0.1) & TprBand(0.5, 1)
    >>> box.area, box.chance
    (0.05, 0.0)
    """

    fpr: FprBand
    tpr: RateBand

    def __post_init__(self) -> None:
        if not isinstance(self.fpr, FprBand):
            refuse_option(self.fpr, "fpr", "a band such as FprBand(0, 0.1)")
        if not isinstance(self.tpr, RateBand) or isinstance(self.tpr, FprBand):
            refuse_option(self.tpr, "tpr", "a band such as TprBand(0.5, 1)")

    @property
    def area(self) -> float:
        """Area of a perfect ranking: that of the box."""
        return self.fpr.area * self.tpr.area

    @property
    def chance(self) -> float:
        """Area under the diagonal inside the box."""

        def above(t: float) -> float:  # ∫ (u − t)₊ du over the band of u
            low, high = max(self.fpr.low, t), max(self.fpr.high, t)
            return ((high - t) ** 2 - (low - t) ** 2) / 2

        return above(self.tpr.low) - above(self.tpr.high)

    @property
    def title(self) -> str:
        """What the area is called."""
        return (
            f"two-way partial AUC (FPR {self.fpr.low:g}–{self.fpr.high:g}, "
            f"TPR {self.tpr.low:g}–{self.tpr.high:g})"
        )

    def __repr__(self) -> str:
        return f"{self.fpr!r} & {self.tpr!r}"

    def to_dict(self) -> dict[str, Any]:
        """Return the kind of weight and its options."""
        return {"kind": "TwoWayBand", "fpr": self.fpr.to_dict(), "tpr": self.tpr.to_dict()}
