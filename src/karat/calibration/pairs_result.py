"""Which pairs of labels carry a calibration error."""

from dataclasses import dataclass
from typing import Any

from karat._columns import crossed
from karat._result import Result
from karat._typing import FloatArray

__all__ = ["LabelPairs"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class LabelPairs(Result):
    """Which label's residuals are correlated with which label's probability.

    Attributes
    ----------
    z_values : array (K, K)
        Correlation of the residuals of label j (row) with the probability of label k, as z-values.
    names : tuple of str
        The labels.
    """

    z_values: FloatArray
    names: tuple[str, ...]

    def summary(self) -> str:
        """Return the pair that stands out most."""
        j, k = divmod(int(abs(self.z_values).argmax()), len(self.names))
        more = "more" if self.z_values[j, k] > 0 else "less"
        return (
            f"{self.names[j]} is {more} frequent than its probability says where "
            f"{self.names[k]} is probable (z = {self.z_values[j, k]:.1f}), of all pairs most"
        )

    def _columns(self) -> dict[str, Any]:
        return crossed({"label": self.names, "probability": self.names}, z_value=self.z_values)
