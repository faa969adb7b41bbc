"""The transcript of a run, kept apart from the procedure that thinks of the next question."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from karat.elicit import Query, Transcript

__all__ = ["save_answers", "with_answer", "without_last"]


def with_answer(record: Transcript, query: Query, answer: str, kept: dict[str, Any]) -> Transcript:
    """Return a transcript with one more answer, as the procedure's own will be."""
    return replace(
        record,
        answers=(*record.answers, answer),
        queries=(*record.queries, (query.first.tolist(), query.second.tolist())),
        kinds=(*record.kinds, query.kind),
        kept=(*record.kept, kept),
    )


def without_last(record: Transcript) -> Transcript:
    """Return a transcript without its last answer."""
    return replace(
        record,
        answers=record.answers[:-1],
        queries=record.queries[:-1],
        kinds=record.kinds[:-1],
        kept=record.kept[:-1],
    )


def save_answers(record: Transcript, path: Path | None) -> None:
    """Write a transcript; where every answer was taken back, there is none to be found."""
    if path is None:
        return
    if record.answers:
        record.save(path)
    else:
        path.unlink(missing_ok=True)
