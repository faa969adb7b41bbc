"""Which question to ask next, and when to stop.

An `ActiveSearch` asks the ``best_question`` of a source (`AttainablePairs`, `SpherePairs`), and now
and then one of the `CheckPairs`, until its `Goal` is reached. Pairs are made of a `Pool` of
classifiers that is drawn once for a space (``draw_pool``, ``cached``). ``forecast_agreement`` looks
ahead, and `Effort` says how much is computed.
"""

from karat.elicit.asking._active_search import (
    ActiveSearch,
    answer_information,
    best_question,
)
from karat.elicit.asking._check_pairs import CheckPairs, more_errors
from karat.elicit.asking._effort import Effort
from karat.elicit.asking._forecast import forecast_agreement
from karat.elicit.asking._goal import Goal, is_precise, told_apart
from karat.elicit.asking._pool import WORST_RATE, Pool, cached, class_errors, draw_pool
from karat.elicit.asking._question_sources import (
    AttainablePairs,
    Candidates,
    Pending,
    SpherePairs,
)

__all__ = [
    "WORST_RATE",
    "ActiveSearch",
    "AttainablePairs",
    "Candidates",
    "CheckPairs",
    "Effort",
    "Goal",
    "Pending",
    "Pool",
    "SpherePairs",
    "answer_information",
    "best_question",
    "cached",
    "class_errors",
    "draw_pool",
    "forecast_agreement",
    "is_precise",
    "more_errors",
    "told_apart",
]
