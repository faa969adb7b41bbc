"""The only place that touches ``karat.elicit``: spaces of studies, procedures, quizzes, guesses.

`StudyData` is what questions are made of, `Asked` a study's space with its procedure, kept by the
process. Procedures are begun, restored from snapshots or replayed from answers. Everything
computes under one lock a process: NumPy would not run faster in two threads, and what a space
remembers is not made for them.
"""

from karat.studio.data import StudyData, pack_data, unpack_data
from karat.studio.services.asking._asked import (
    COMPUTING,
    Asked,
    asked_about,
    asked_apart,
    check_space,
)
from karat.studio.services.asking._evaluation import drawn_pairs
from karat.studio.services.asking._guess import guess_fields, guess_metric
from karat.studio.services.asking._own_words import own_words
from karat.studio.services.asking._pairs import counts_of, query_of, sides_of
from karat.studio.services.asking._procedures import begin, next_query, replayed, restored, tell
from karat.studio.services.asking._quiz import QUIZ_PHASES, Key, Quiz, quiz_of
from karat.studio.services.asking._words import Words, words_of

__all__ = [
    "COMPUTING",
    "QUIZ_PHASES",
    "Asked",
    "Key",
    "Quiz",
    "StudyData",
    "Words",
    "asked_about",
    "asked_apart",
    "begin",
    "check_space",
    "counts_of",
    "drawn_pairs",
    "guess_fields",
    "guess_metric",
    "next_query",
    "own_words",
    "pack_data",
    "query_of",
    "quiz_of",
    "replayed",
    "restored",
    "sides_of",
    "tell",
    "unpack_data",
    "words_of",
]
