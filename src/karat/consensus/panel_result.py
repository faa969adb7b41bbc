"""The frozen answer about the judges that a panel needs."""

from dataclasses import dataclass
from typing import Any

from karat._result import Result
from karat._typing import BoolArray, FloatArray

__all__ = ["JudgePanel"]

_NAMED = 6  # names that a sentence can hold


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class JudgePanel(Result):
    """The cheapest judges whose consensus is as certain as that of all.

    Attributes
    ----------
    judges : tuple
        All judges, named as they were passed.
    chosen : array (j,)
        Who is on the panel.
    cost : array (j,)
        What each costs.
    alone : array (j,)
        Share of items on which this judge alone would be wrong where all together are right,
        beyond the reverse: what asking nobody else loses.
    left_out : array (j,)
        What leaving out this judge alone loses.
    adds_nothing : array (j,)
        Whether the others lose less than the tolerance without it, in most draws of the error
        rates.
    loss, loss_lower, loss_upper : float
        What the panel loses beside all judges: extra errors of its consensus, as a share of items.
    error_of_all : float
        Expected error of the consensus of all judges.
    tolerance : float
        The loss that was allowed.
    exact : bool
        Whether every set was tried, so that none is cheaper.
    identified : bool
        Whether the votes identify the error rates; if not, the panel rests on the consensus alone.
    domain : name
        The domain.
    confidence : float
        Level of the limits.
    """

    judges: tuple[Any, ...]
    chosen: BoolArray
    cost: FloatArray
    alone: FloatArray
    left_out: FloatArray
    adds_nothing: BoolArray
    loss: float
    loss_lower: float
    loss_upper: float
    error_of_all: float
    tolerance: float
    exact: bool
    identified: bool
    domain: Any
    confidence: float

    _COLUMNS = (
        "judge=judges", "chosen", "cost", "alone", "left_out", "adds_nothing", "domain",
        "confidence",
    )  # fmt: skip

    def summary(self) -> str:
        """Return the panel, its cost and what it loses."""
        names = [str(n) for n, on in zip(self.judges, self.chosen, strict=True) if on]
        share = self.cost[self.chosen].sum() / self.cost.sum()
        idle = [str(n) for n, no in zip(self.judges, self.adds_nothing, strict=True) if no]
        text = (
            f"{', '.join(names)}: {len(names)} of {len(self.judges)} judges, at "
            f"{100 * share:.0f} % of the cost, decide as all of them do but for "
            f"{100 * self.loss:.1f} % of the items ({100 * self.confidence:g} % limits "
            f"{100 * self.loss_lower:.1f} to {100 * self.loss_upper:.1f} %)"
        )
        if idle:
            who = ", ".join(idle) if len(idle) <= _NAMED else f"{len(idle)} judges"
            text += f"; beside all others nothing is added by any one of {who}"
        if not self.identified:
            text += "; the votes do not identify who is right, so all may be wrong together"
        return text

    def _table(self) -> list[tuple[Any, str]]:
        return [
            (name, f"{'on the panel, ' if on else ''}without it {100 * out:.1f} % are lost")
            for name, on, out in zip(self.judges, self.chosen, self.left_out, strict=True)
        ]
