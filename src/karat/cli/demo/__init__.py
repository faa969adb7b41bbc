"""The parts of ``karat demo``, one a file: a question, and its answer on real data.

Each takes the two classifiers of `train_models` and a seed, and returns parts of the page: a
section, the verdict it adds, and every interval beside the truth that was hidden from karat.
`PARTS` lists them in the order of the page. ``ask_doctor`` and ``ask_about_gaps`` ask the simulated
people whose truths are ``DOCTORS_COST`` and ``WORTH``.
"""

from karat.cli.demo._part import Interval, Models, Part, train_models
from karat.cli.demo._with_data import (
    better_at_it,
    fifty_labels,
    from_votes,
    hundred_labels,
    no_labels,
    trusted_jointly,
)
from karat.cli.demo._with_people import (
    DOCTORS_COST,
    WORTH,
    ask_about_gaps,
    ask_doctor,
    elicited,
    which_metric,
    worth_of_fairness,
)
from karat.report.parts import NextStep

__all__ = [
    "DOCTORS_COST",
    "INTRODUCTION",
    "PARTS",
    "TITLE",
    "TRY",
    "WORTH",
    "Interval",
    "Models",
    "Part",
    "ask_about_gaps",
    "ask_doctor",
    "train_models",
    "trusted_jointly",
    "which_metric",
]

TITLE = "What karat knows about two classifiers"
INTRODUCTION = (
    "Two classifiers read the same 569 biopsies (the breast cancer data shipped with scikit-learn) "
    "and say how likely each is to be malignant. Each section asks one question about them, is "
    "answered from less than all labels, and stands beside the truth that was hidden."
)
PARTS = (
    which_metric,
    elicited,
    worth_of_fairness,
    no_labels,
    hundred_labels,
    better_at_it,
    fifty_labels,
    from_votes,
    trusted_jointly,
)
TRY = (
    NextStep(
        what="Everything that the columns of your own file say:",
        command="karat evaluate FILE --label COLUMN --pred COLUMN --output report.html",
    ),
    NextStep(
        what="How often each judge or annotator errs, from votes alone:",
        command="karat judges VOTES --label-next 30 --todo todo.csv",
    ),
    NextStep(
        what="Which items to label next, and what the labels tell so far:",
        command="karat audit FILE --pred COLUMN --metric f1 --todo todo.csv",
    ),
)
