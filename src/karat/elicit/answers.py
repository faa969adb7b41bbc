"""Answers with their questions, read from a result, a transcript or records of one's own."""

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from karat._sentences import Argument, Expected, Given
from karat._validate import shown
from karat.elicit.result import ElicitationResult
from karat.elicit.transcript import Answer, Query, Transcript, check_answer, load_transcript
from karat.exceptions import DataError


class Answered(NamedTuple):
    """A question, its answer, and whatever was kept beside it."""

    query: Query
    answer: Answer
    kept: Mapping[str, Any]


def read_answered(answered: Any) -> list[Answered]:
    """Return the answers of a result, a transcript (or its file), or records.

    A record is a dict with ``query`` and ``answer``. A ``kind`` among what was kept, or in the
    record, takes the place of the query's own.
    """
    if isinstance(answered, ElicitationResult):
        answered = answered.transcript
    if isinstance(answered, Transcript | dict | str | PathLike):
        told = load_transcript(answered)
        records: Iterable[Any] = (
            {"kind": kind, **kept, "query": query, "answer": answer}
            for query, answer, kind, kept in zip(
                told.queries, told.answers, told.kinds, told.kept, strict=True
            )
        )
    elif isinstance(answered, Iterable):
        records = answered
    else:
        raise DataError(
            f"the answers are {shown(answered)}; expected a result, a transcript or a list of "
            'records such as {"query": query, "answer": "first"}'
        )
    return [_read(record, number) for number, record in enumerate(records, start=1)]


def _read(record: Any, number: int) -> Answered:
    if not isinstance(record, Mapping) or not {"query", "answer"} <= set(record):
        raise DataError(
            f"record {number} is {shown(record)}; expected a dict with the keys 'query' and "
            "'answer', and 'kind' or 'seconds' where there are such"
        )
    query = _as_query(record["query"], f"the query of record {number}")
    if "kind" in record:
        query = Query(query.first, query.second, kind=record["kind"])
    return Answered(query, check_answer(record["answer"]), record)


def check_pairs(pairs: Any) -> list[Query]:
    """Check a list of queries, or of pairs of confusions."""
    if isinstance(pairs, Query) or not isinstance(pairs, Iterable):
        raise DataError(
            Argument("pairs"),
            " is ",
            Given(pairs),
            "; expected ",
            Expected("a list of queries"),
        )
    return [_as_query(pair, f"pair {number}") for number, pair in enumerate(pairs, start=1)]


def _as_query(pair: Any, name: str) -> Query:
    if isinstance(pair, Query):
        return pair
    if isinstance(pair, Sequence) and not isinstance(pair, str) and len(pair) == 2:
        try:
            first, second = (np.asarray(side, dtype=np.float64) for side in pair)
        except (TypeError, ValueError):
            pass
        else:
            return Query(first, second)
    raise DataError(
        Argument.of(name),
        " is ",
        Given(pair),
        "; expected ",
        Expected("a Query, or its two confusions"),
    )


def seconds_of(answered: Answered, number: int) -> float:
    """Return how long an answer took; NaN where nobody kept it."""
    value = answered.kept.get("seconds")
    if value is None:
        return float("nan")
    number_like = isinstance(value, int | float | np.integer | np.floating)
    if isinstance(value, bool) or not number_like or not 0.0 <= value < np.inf:
        raise DataError(
            f"seconds of answer {number} is {shown(value)}; expected a number of at least 0, or "
            "nothing where it was not taken"
        )
    return float(value)
