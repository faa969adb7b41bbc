"""What a fit is asked for."""

from dataclasses import dataclass
from typing import Any, Self, cast

from karat._validate import (
    check_choice,
    check_confidence,
    check_count,
    check_flag,
    check_number,
    refuse_option,
)
from karat.consensus.model import Errors

__all__ = ["DEPENDENCE", "ERRORS", "STRUCTURES", "Settings"]

STRUCTURES = ("independent", "coupled", "hierarchical")
ERRORS = ("class-conditional", "symmetric")
DEPENDENCE = ("none", "difficulty", "pairs")


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of a fit."""

    structure: str
    errors: Errors
    dependence: str
    chains: int
    draws: int | None
    abstain: str
    confidence: float
    slack: float
    progress: bool

    @classmethod
    def checked(cls, options: dict[str, Any]) -> Self:
        """Check the options of an estimator; those that are no settings are left out."""
        structure = check_choice(options["structure"], "structure", STRUCTURES)
        dependence = check_choice(options["dependence"], "dependence", ("auto", *DEPENDENCE))
        if structure != "independent" and dependence in ("difficulty", "pairs"):
            refuse_option(
                dependence, "dependence",
                f"'auto' or 'none' where structure is {structure!r}: voters whose error rates "
                "domains share err independently, and 'auto' compares that with dependent votes",
            )  # fmt: skip
        draws = options["draws"]
        return cls(
            structure=structure,
            errors=cast(Errors, check_choice(options["errors"], "errors", ERRORS)),
            dependence=dependence,
            chains=check_count(options["chains"], "chains", at_least=2),
            draws=None if draws is None else check_count(draws, "draws", at_least=20),
            abstain=check_choice(options["abstain"], "abstain", ("outcome", "missing")),
            confidence=check_confidence(options["confidence"]),
            slack=_check_slack(options["slack"]),
            progress=check_flag(options["progress"], "progress"),
        )


def _check_slack(slack: Any) -> float:
    share = check_number(slack, "slack")
    if not 0 <= share < 1:
        refuse_option(slack, "slack", "a share of the items from 0 to below 1, such as 0.02")
    return share
