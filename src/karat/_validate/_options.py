"""Options that many functions take: a word, a count, a confidence, a seed; and what is not fitted.

Every refusal has one shape: ``name is value; expected what`` in an `OptionError`.
"""

from collections.abc import Sequence
from typing import Any, Literal, NoReturn, overload

import numpy as np

from karat._typing import AnyArray
from karat._validate._columns import shown
from karat.exceptions import OptionError

__all__ = [
    "check_choice",
    "check_confidence",
    "check_count",
    "check_fitted",
    "check_flag",
    "check_number",
    "check_pos_label",
    "check_rng",
    "check_seed",
    "refuse_option",
]


def refuse_option(value: Any, name: str, expected: str) -> NoReturn:
    """Raise the error of an option that is not among what a function takes."""
    raise OptionError(f"{name} is {shown(value)}; expected {expected}")


@overload
def check_choice(value: Any, name: str, choices: Sequence[str]) -> str: ...
@overload
def check_choice(
    value: Any, name: str, choices: Sequence[str], *, none: Literal[True]
) -> str | None: ...
def check_choice(
    value: Any, name: str, choices: Sequence[str], *, none: bool = False
) -> str | None:
    """Check one of a few words; or None, where that leaves the choice to karat."""
    if none and value is None:
        return None
    if not isinstance(value, str) or value not in choices:
        *others, last = [repr(choice) for choice in choices] + ["None"] * none
        refuse_option(value, name, f"{', '.join(others)} or {last}" if others else last)
    return value


def check_pos_label(pos_label: Any, classes: AnyArray) -> int:
    """Check that ``pos_label`` is one of the classes, and return its position among them."""
    known = classes.tolist()
    single = np.isscalar(pos_label) or isinstance(pos_label, np.generic)
    hits = np.flatnonzero([single and bool(c == pos_label) for c in known])
    if hits.size == 0:
        most = 8  # classes that a sentence can list
        *others, last = [shown(c) for c in known[:most]]
        listed = f"{', '.join(others)} or {last}" if len(known) <= most else ""
        wanted = listed or f"one of {len(known)} classes, such as {', '.join(others)}"
        refuse_option(pos_label, "pos_label", wanted)
    return int(hits[0])


def check_number(
    value: Any,
    name: str,
    *,
    at_least: float | None = None,
    above: float | None = None,
    at_most: float | None = None,
) -> float:
    """Check a single finite number."""
    number = _as_number(value)
    too_low = at_least is not None and not number >= at_least
    too_low = too_low or (above is not None and not number > above)
    too_high = at_most is not None and not number <= at_most
    if not np.isfinite(number) or too_low or too_high:
        wanted = "a finite number" if at_least is None else f"a number of at least {at_least:g}"
        wanted = wanted if above is None else f"a number above {above:g}"
        wanted += "" if at_most is None else f" and at most {at_most:g}"
        refuse_option(value, name, wanted)
    return number


def check_count(value: Any, name: str, *, at_least: int = 1) -> int:
    """Check a whole number."""
    number = _as_number(value)
    if not (np.isfinite(number) and number == int(number) and number >= at_least):
        refuse_option(value, name, f"a whole number of at least {at_least}")
    return int(value)  # not from the float, which rounds long numbers


def check_confidence(confidence: Any) -> float:
    """Check a probability that is neither 0 nor 1: the ``confidence=`` of every public function."""
    level = _as_number(confidence)
    if not 0.0 < level < 1.0:
        refuse_option(confidence, "confidence", "a number between 0 and 1, such as 0.95")
    return level


def check_flag(value: Any, name: str) -> bool:
    """Check a yes or no."""
    if not isinstance(value, bool | np.bool_):
        refuse_option(value, name, "True or False")
    return bool(value)


def check_rng(rng: Any) -> np.random.Generator:
    """Return a generator from a seed, a generator or nothing."""
    try:
        return np.random.default_rng(_refuse_flag(rng))
    except (TypeError, ValueError):
        refuse_option(rng, "rng", "a whole number of at least 0, a numpy Generator or None")


def check_seed(rng: Any) -> int:
    """Return a seed that can be kept and used again: the one passed, or a drawn one."""
    if isinstance(rng, int | np.integer) and not isinstance(rng, bool) and rng >= 0:
        return int(rng)
    return int(check_rng(rng).integers(2**63))


def check_fitted(estimator: Any, attribute: str, call: str = "fit") -> None:
    """Refuse an estimator that lacks ``attribute``, which its ``fit`` sets.

    The error is scikit-learn's own, so that whoever catches that one catches this one.
    """
    if not hasattr(estimator, attribute):
        from sklearn.exceptions import NotFittedError

        raise NotFittedError(f"this {type(estimator).__name__} is not fitted; call {call} first")


def _as_number(value: Any) -> float:
    """Return ``value`` as a float; NaN if it is no number, infinity if it is too large for one."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return float("nan")
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def _refuse_flag(rng: Any) -> Any:
    if isinstance(rng, bool):  # NumPy takes True as the seed 1
        raise TypeError("a flag is no seed")
    return rng
