"""Questions as data, and as whole numbers to be shown."""

from typing import Any

import numpy as np

from karat._typing import IntArray
from karat.elicit import Query

__all__ = ["counts_of", "query_of", "sides_of"]


def sides_of(query: Query) -> dict[str, Any]:
    """Return a question as plain data."""
    return {
        "first": query.first.tolist(),
        "second": query.second.tolist(),
        "kind": query.kind,
    }


def query_of(sides: dict[str, Any]) -> Query:
    """Return the question that `sides_of` gave."""
    kind = sides.get("kind", "question")
    return Query(np.array(sides["first"]), np.array(sides["second"]), kind=kind)


def counts_of(sides: dict[str, Any], out_of: int) -> tuple[IntArray, IntArray]:
    """Return both sides as whole numbers in the order in which they are shown."""
    first, second = query_of(sides).counts(out_of)
    return (second, first) if sides.get("swapped") else (first, second)
