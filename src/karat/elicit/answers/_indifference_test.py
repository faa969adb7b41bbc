"""Whether answers get slower and less reliable toward indifference."""

import math
from dataclasses import dataclass

from karat._result import Result
from karat._typing import FloatArray

__all__ = ["IndifferenceTest"]

_SHOWN = 0.05  # p-values above it show nothing


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class IndifferenceTest(Result):
    """Whether a person takes longer, and disagrees with the metric more, where sides are close.

    Attributes
    ----------
    time_correlation : float
        Spearman's correlation of the size of the margin with the time taken; negative if close
        pairs take longer. NaN where fewer than three times were kept or nothing varies.
    time_p_value : float
        One-sided p-value, by permutations, of times that know nothing of the margin.
    n_timed : int
        Answers whose time was kept.
    error_slope : float
        By how much the log-odds of agreeing with the metric rise with every typical (median)
        margin; positive if close pairs are answered less reliably. Infinite where some margin
        separates all errors from all other answers; NaN where there is none of either.
    error_p_value : float
        One-sided p-value, by permutations, of errors that know nothing of the margin.
    n_decided, n_errors : int
        Answers "first" or "second", and those that the metric disagrees with.
    same_answers : bool
        Whether the metric was found from these very answers. The errors then lie near indifference
        in part because the metric was chosen so, and their p-value is too small; the times are not
        affected.
    margins, seconds, agrees : array (n,)
        Of each answer but skips: the size of the metric's margin, the time (NaN where it was not
        kept) and whether the metric agrees (1 or 0; NaN for a tie).
    n_permutations : int
        Permutations that the p-values are counted from.
    """

    time_correlation: float
    time_p_value: float
    n_timed: int
    error_slope: float
    error_p_value: float
    n_decided: int
    n_errors: int
    same_answers: bool
    margins: FloatArray
    seconds: FloatArray
    agrees: FloatArray
    n_permutations: int

    def summary(self) -> str:
        """Return what times and errors say, in one sentence."""
        return f"{self._times()}; {self._errors()}."

    def _times(self) -> str:
        if math.isnan(self.time_correlation):
            return f"The times do not say whether close pairs take longer ({self.n_timed} kept)"
        way = "take no longer"
        if self.time_correlation < 0:
            way = "take longer" if self.time_p_value <= _SHOWN else "are not shown to take longer"
        return (
            f"Close pairs {way} (rank correlation of margin and time "
            f"{self.time_correlation:+.2f}, p = {self.time_p_value:.2g}, {self.n_timed} answers)"
        )

    def _errors(self) -> str:
        if math.isnan(self.error_slope):
            return (
                "errors cannot be told from other answers by their margin "
                f"({self.n_errors} of {self.n_decided} disagree with the metric)"
            )
        way = "no more"
        if self.error_slope > 0:
            way = "more" if self.error_p_value <= _SHOWN else "not shown to be more"
        text = (
            f"they are {way} often answered against the metric ({self.n_errors} of "
            f"{self.n_decided}, p = {self.error_p_value:.2g}"
        )
        return text + (
            ", too small: the metric is from the same answers)" * self.same_answers or ")"
        )

    def _table(self) -> list[tuple[str, str]]:
        return [
            ("correlation of margin and time", f"{self.time_correlation:+.3f}"),
            ("p-value", f"{self.time_p_value:.3g}"),
            ("log-odds of agreeing per typical margin", f"{self.error_slope:+.3g}"),
            ("p-value of errors", f"{self.error_p_value:.3g}"),
        ]
