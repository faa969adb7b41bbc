"""A band of rates: what bands of false- and of true-positive rates have in common."""

from dataclasses import dataclass

from karat._frozen import Frozen
from karat._validate import check_number, refuse_option

__all__ = ["RateBand"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RateBand(Frozen):
    """The rates between ``low`` and ``high``, ``0 ≤ low < high ≤ 1``."""

    low: float
    high: float

    def __post_init__(self) -> None:
        """Check the ends."""
        low = check_number(self.low, "low", at_least=0.0, at_most=1.0)
        high = check_number(self.high, "high", at_least=0.0, at_most=1.0)
        if low >= high:
            refuse_option(
                self.low, "low", f"a rate below high, which is {high:g}; the band is empty"
            )
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    @property
    def area(self) -> float:
        """Width of the band: the area of a perfect ranking."""
        return self.high - self.low
