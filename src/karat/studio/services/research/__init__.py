"""What researchers do with a study: make it, let bots play it, watch it, and take its data away.

``making`` turns forms into a study, ``bots`` are simulated people, ``dashboard`` gathers what is
known of all people, ``answers`` one person's answers, ``boundary`` what classifiers attain, and
``exports`` writes it out. Functions take a `Store` first.
"""

from karat.studio.services.research import (
    answers,
    bots,
    boundary,
    dashboard,
    exports,
    making,
)

__all__ = [
    "answers",
    "bots",
    "boundary",
    "dashboard",
    "exports",
    "making",
]
