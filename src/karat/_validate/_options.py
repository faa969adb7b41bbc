"""Options that many functions take: a choice, a count, a confidence."""

from typing import Any

from karat._validate._columns import shown
from karat._validate._numbers import check_number
from karat.exceptions import DataError

__all__ = ["check_choice", "check_confidence", "check_count"]


def check_choice(value: Any, name: str, choices: tuple[str, ...]) -> str:
    """Check one of a few words."""
    if value not in choices:
        listed = " or ".join(repr(choice) for choice in choices)
        raise DataError(f"{name} is {shown(value)}; expected {listed}")
    return str(value)


def check_count(value: Any, name: str, *, at_least: int = 1) -> int:
    """Check a whole number."""
    number = check_number(value, name, at_least=at_least)
    if number != int(number):
        raise DataError(f"{name} is {shown(value)}; expected a whole number")
    return int(number)


def check_confidence(confidence: Any) -> float:
    """Check a probability that is neither 0 nor 1: the ``confidence=`` of every public function."""
    try:
        level = check_number(confidence, "confidence")
    except DataError:
        level = 0.0
    if not 0.0 < level < 1.0:
        raise DataError(
            f"confidence is {shown(confidence)}; expected a number between 0 and 1, such as 0.95"
        )
    return level
