"""What researchers do with a study: make it, let bots play it, watch it, and take its data away.

``making`` and ``questions`` turn forms into a study, ``kept_uploads`` holds files between two
pages, ``bots`` are simulated people, ``dashboard`` gathers what is known of all people,
``answers`` one person's answers, ``boundary`` what classifiers attain, and ``exports`` writes it
out. Functions take a `Store` first.
"""

from karat.studio.services.research import (
    answers,
    bots,
    boundary,
    dashboard,
    exports,
    kept_uploads,
    making,
    questions,
)

__all__ = [
    "answers",
    "bots",
    "boundary",
    "dashboard",
    "exports",
    "kept_uploads",
    "making",
    "questions",
]
