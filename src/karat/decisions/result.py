"""What `maximise` returns: the best classifier that was found, and how much more there can be."""

from dataclasses import dataclass

from karat._result import Estimate, Estimated
from karat._typing import AnyArray, FloatArray
from karat.decisions.rules import Mixture


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Optimum(Estimated[float]):
    """The best classifier that was found, and how much more there can be.

    Attributes
    ----------
    metric : str
        What was maximised.
    estimate : Estimate
        ``value`` is what ``mixture`` attains, and so is ``lower``: the best is at least that.
        ``upper`` is what no mixture of rules exceeds; NaN if that is not ``certified``.
    gap : float
        By how much a better classifier could exceed ``value``.
    tol : float
        The gap that was asked for.
    confusion : array (k, k) or (groups, k, k)
        The confusion of the mixture.
    groups : array (groups,)
        The names of the groups; empty where the confusion is of all items.
    mixture : Mixture
        The rules and their shares: weights (T, blocks, k, k). Apply it with the block of each
        row: ``mixture.class_shares(proba, np.eye(n_blocks)[block])``, one column of ones where
        there is one block.
    values, gaps : array (rounds,)
        Value and gap, round by round.
    """

    metric: str
    estimate: Estimate[float]
    gap: float
    tol: float
    confusion: FloatArray
    groups: AnyArray
    mixture: Mixture
    values: FloatArray
    gaps: FloatArray

    @property
    def certified(self) -> bool:
        """Whether the gap bounds every mixture of rules that decide by weighted probabilities.

        It does not for metrics that are neither linear, nor a ratio, nor concave, and for more than
        two classes where labels are counted: rules are then best only as far as probabilities are
        right.
        """
        return self.basis == "certain"

    @property
    def converged(self) -> bool:
        """Whether the gap is as small as was asked for."""
        return self.gap <= self.tol

    def summary(self) -> str:
        """Return the value, how it is attained, and how much better a classifier can be."""
        n = len(self.mixture.shares)
        made = "one rule" if n == 1 else f"a mixture of {n} rules"
        rest = (
            f"no mixture of rules is better by more than {self.gap:.2g}"
            if self.certified
            else f"the rules that were looked for gain no more than {self.gap:.2g} at first order; "
            "others may"
        )
        return f"{self.metric} is {self.value:.6g} for {made}; {rest}."

    def _table(self) -> list[tuple[str, str]]:
        return [
            ("value", f"{self.value:.6g}"),
            ("gap", f"{self.gap:.2g}"),
            ("rules", str(len(self.mixture.shares))),
            ("rounds", str(len(self.values))),
        ]
