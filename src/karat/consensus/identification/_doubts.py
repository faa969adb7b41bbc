"""What speaks against error rates, in words that stand before them."""

from collections.abc import Sequence
from typing import Any

from karat._validate import named

__all__ = ["doubts"]


def doubts(
    domains: Sequence[Any],
    status: Sequence[str],
    reasons: Sequence[Sequence[str]],
    evidence: Sequence[str],
    *,
    of: str,
    unknown: str,
) -> list[str]:
    """Return what gold labels contradict, and then what is not identified, each with its reason.

    ``of`` says whose consensus it is, ``unknown`` who does not identify the rates.
    """
    parts = []
    lost = [d for d, found in enumerate(status) if found == "contradicted"]
    if lost:
        where = _where(domains, lost)
        parts.append(
            f"gold labels contradict the consensus of the {of}{where}: it is {evidence[lost[0]]}"
        )
    open_ = [d for d, found in enumerate(status) if found == "not identified"]
    if open_:
        why = " and because ".join(reasons[open_[0]])
        parts.append(
            f"{unknown} do not identify the error rates{_where(domains, open_)}, because {why}"
        )
    return parts


def _where(domains: Sequence[Any], here: Sequence[int]) -> str:
    return "" if len(domains) == 1 else f" in {named([domains[d] for d in here])}"
