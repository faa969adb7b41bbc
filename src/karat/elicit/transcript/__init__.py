"""One person's run as data: the questions, the answers, and the record they are replayed from.

A `Query` is a question, ``looks_alike`` says whether its sides are shown by the same numbers,
``check_answer`` reads what was answered and ``check_kept`` what is kept beside it. A `Transcript`
holds all questions and answers of a run with the options and the space they were asked with, so
that it can be saved, read back by ``load_transcript`` and resumed by the procedure that wrote it.
``pack`` and ``unpack`` write and read the bytes of a snapshot.
"""

from karat.elicit.transcript._checksum import checksum_of
from karat.elicit.transcript._kept import check_kept
from karat.elicit.transcript._load_transcript import load_transcript
from karat.elicit.transcript._packed import pack, unpack
from karat.elicit.transcript._query import (
    ANSWERS,
    KINDS,
    SIGNS,
    Answer,
    Query,
    check_answer,
    looks_alike,
)
from karat.elicit.transcript._transcript import Transcript

__all__ = [
    "ANSWERS",
    "KINDS",
    "SIGNS",
    "Answer",
    "Query",
    "Transcript",
    "check_answer",
    "check_kept",
    "checksum_of",
    "load_transcript",
    "looks_alike",
    "pack",
    "unpack",
]
