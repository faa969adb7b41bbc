"""A sentence for whoever reads nothing else of a report."""

from dataclasses import dataclass
from typing import Literal

from karat._frozen import Frozen
from karat._validate import check_choice

__all__ = ["BADGES", "Badge", "Verdict"]

Badge = Literal["certain", "likely", "unknown"]

# What a reader sees for each badge. A badge says what the number rests on, not how good it is.
BADGES: dict[str, str] = {
    "certain": "certain",
    "likely": "likely",
    "unknown": "cannot be known from this",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Verdict(Frozen):
    """A conclusion, how far it can be trusted, and what would change it.

    Attributes
    ----------
    sentence : str
        The conclusion in words that need no statistics, with its number and its limits.
    badge : {"certain", "likely", "unknown"}
        ``"certain"``: limits that hold for any law of the data, or all labels are known;
        ``"likely"``: limits that hold if what the section names is true;
        ``"unknown"``: the columns cannot answer the question.
    change : str
        The one thing that would change the conclusion or make it narrower.
    """

    sentence: str
    badge: Badge
    change: str = ""

    def __post_init__(self) -> None:
        """Check the badge; called by the dataclass's own constructor."""
        check_choice(self.badge, "badge", tuple(BADGES))
        # Not super(): a slotted dataclass is another class than the one super() would find.
        Frozen.__post_init__(self)

    @property
    def badge_text(self) -> str:
        """The badge as a reader sees it."""
        return BADGES[self.badge]
