"""Procedures: begun, restored from bytes, replayed from answers, and told answers."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from karat.elicit import Procedure, Query
from karat.studio.services.asking._asked import COMPUTING, Asked
from karat.studio.services.asking._pairs import query_of, sides_of

__all__ = ["begin", "next_query", "replayed", "restored", "tell"]


def begin(asked: Asked, seed: int) -> Procedure:
    """Return the procedure of a person before the first question."""
    options = asked.config.options
    own: dict[str, Any] = {"same_pairs": options.same_pairs} if asked.fair else {}
    with COMPUTING:
        return asked.build(
            asked.space,
            out_of=options.out_of,
            agreement=options.agreement,
            precision=options.precision,
            worst_rate=options.worst_rate,
            max_queries=options.max_queries,
            checks=options.checks,
            rng=seed,
            **own,
        )


def restored(asked: Asked, snapshot: bytes) -> Procedure:
    """Return the procedure of a snapshot; raises `TranscriptError` where it cannot be used."""
    with COMPUTING:
        return asked.build.restore(asked.space, snapshot)


def replayed(asked: Asked, seed: int, payloads: Sequence[dict[str, Any]]) -> Procedure:
    """Return the procedure after the answers of a log, where no snapshot can be used."""
    with COMPUTING:
        fresh = begin(asked, seed)
        transcript = replace(
            fresh.transcript,
            answers=tuple(payload["answer"] for payload in payloads),
            queries=tuple((payload["first"], payload["second"]) for payload in payloads),
            kinds=tuple(payload["kind"] for payload in payloads),
            kept=tuple(payload["kept"] for payload in payloads),
        )
        return asked.build.resume(asked.space, transcript)


def tell(procedure: Procedure, answer: str, kept: dict[str, Any]) -> None:
    """Tell a procedure an answer, and what is kept beside it."""
    with COMPUTING:
        procedure.tell(answer, **kept)


def next_query(procedure: Procedure, seed: int, seq: int) -> dict[str, Any] | None:
    """Return the next question with the side it is shown on; None where all is asked.

    Sides are shown at random. A question that is asked again is shown the other way round, so it
    takes the draw of the first time: its own sides are swapped already.
    """
    with COMPUTING:
        query = procedure.ask()
        if query is None:
            return None
        swapped = bool(np.random.default_rng([seed, seq]).random() < 0.5)
        if query.kind == "repeat":
            swapped = _swapped_before(procedure, query, swapped)
        return {**sides_of(query), "swapped": swapped, "number": len(procedure.answers) + 1}


def _swapped_before(procedure: Procedure, query: Query, otherwise: bool) -> bool:
    told = procedure.transcript
    for (first, second), kept in zip(reversed(told.queries), reversed(told.kept), strict=True):
        earlier = query_of({"first": second, "second": first})
        if np.allclose(earlier.first, query.first) and np.allclose(earlier.second, query.second):
            return bool(kept.get("swapped", otherwise))
    return otherwise
