"""The sections of ``karat demo``, one a file: a question, and its answer on real data.

Each section is a function that takes the two classifiers of `train_models` and returns a
`karat.report.Section` in which the answer stands beside the hidden truth. `SECTIONS` lists them in
the order of the page. ``ask_doctor`` and ``ask_about_gaps`` ask the simulated people whose truths
are ``DOCTORS_COST`` and ``WORTH``.
"""

from karat.cli.demo._better_at_it import better_at_it
from karat.cli.demo._elicited import DOCTORS_COST, ask_doctor, elicited
from karat.cli.demo._fifty_labels import fifty_labels
from karat.cli.demo._from_votes import from_votes
from karat.cli.demo._models import Models, train_models
from karat.cli.demo._no_labels import no_labels
from karat.cli.demo._trusted_jointly import trusted_jointly
from karat.cli.demo._where_it_matters import where_it_matters
from karat.cli.demo._which_metric import which_metric
from karat.cli.demo._worth_of_fairness import WORTH, ask_about_gaps, worth_of_fairness

__all__ = [
    "DOCTORS_COST",
    "INTRODUCTION",
    "SECTIONS",
    "TITLE",
    "WORTH",
    "Models",
    "ask_about_gaps",
    "ask_doctor",
    "train_models",
    "which_metric",
]

TITLE = "What karat knows about two classifiers"
INTRODUCTION = (
    "Two classifiers read the same 569 biopsies (the breast cancer data shipped with scikit-learn) "
    "and say how likely each is to be malignant. Each section asks one question about them and "
    "answers it with its uncertainty."
)
SECTIONS = (
    which_metric, elicited, worth_of_fairness, better_at_it, no_labels, fifty_labels, from_votes,
    where_it_matters, trusted_jointly,
)  # fmt: skip
