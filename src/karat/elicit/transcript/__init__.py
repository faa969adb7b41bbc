"""One person's run as data: the questions, the answers, and the record they are replayed from.

A `Query` is a question, ``check_answer`` reads what was answered, and a `Transcript` holds all
questions and answers of a run with the options and the space they were asked with, so that it can
be saved, read back by ``load_transcript`` and resumed by the procedure that wrote it.
"""

from karat.elicit.transcript._load_transcript import load_transcript
from karat.elicit.transcript._query import ANSWERS, SIGNS, Answer, Query, check_answer
from karat.elicit.transcript._transcript import Transcript

__all__ = [
    "ANSWERS",
    "SIGNS",
    "Answer",
    "Query",
    "Transcript",
    "check_answer",
    "load_transcript",
]
