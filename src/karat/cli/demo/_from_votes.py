"""How good are they, from their votes alone? Error rates against the hidden truth."""

import warnings
from dataclasses import replace

import numpy as np

from karat._typing import IntArray
from karat.cli.demo._models import Models
from karat.consensus import ErrorEstimator, ErrorRates
from karat.exceptions import KaratWarning
from karat.report import Section, Table, result_svg

__all__ = ["from_votes"]

# Crude readers beside the two models: "among the largest, so malignant".
_READERS = ("worst texture", "worst smoothness", "worst area", "worst concave points")
_CUT = 0.62
_CODE = """\
from karat.consensus import ErrorEstimator

estimator = ErrorEstimator(rng=0).fit(votes)        # one column per voter, no labels
estimator.error_rates_, estimator.status_
estimator.label_next(20)                            # items to label, drawn with known chances
"""


def from_votes(models: Models) -> Section:
    """Let two models and four crude readers vote, and estimate how often each errs."""
    votes = _votes(models)
    matrix = np.stack(list(votes.values()), axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KaratWarning)  # what they say is said below
        estimator = ErrorEstimator(draws=500, rng=0).fit(matrix)
    truth = models.y_true == models.classes[1]
    wrong = (matrix != truth[:, None]).mean(axis=0)
    result = replace(estimator.result_.with_truth(wrong), classifiers=tuple(votes))
    return Section(
        question="How good are they, from their votes alone?",
        answer=_answer(result),
        figure=result_svg(result),
        figure_text="For each voter, the error rate from votes, its limits and the truth.",
        table=_table(result),
        assumptions=(
            "Voters are mostly right. They may err together: items come easy and hard, and voters "
            "may copy one another; the limits span every such model that predicts the votes.",
            "Votes cannot show an error that all voters share. Where another explanation of the "
            "votes would move the error rates much, no ranking is given.",
        ),
        code=_CODE,
    )


def _votes(models: Models) -> dict[str, IntArray]:
    votes = {n: (models.predict(n) == models.classes[1]).astype(int) for n in models.scores}
    for name in _READERS:
        rank = np.argsort(np.argsort(models.measurements[name])) / len(models.y_true)
        votes[name] = (rank > _CUT).astype(int)
    return votes


def _answer(r: ErrorRates) -> str:
    assert r.truth is not None
    inside = int(((r.lower <= r.truth) & (r.truth <= r.upper)).sum())
    return (
        f"{len(r.mean)} voters, {int(r.votes.max())} biopsies, no labels. {r.summary()}. The "
        f"hidden truth is inside the limits of {inside} of {len(r.mean)} voters."
    )


def _table(r: ErrorRates) -> Table:
    assert r.truth is not None
    shown = (r.lower, r.mean, r.upper, r.truth)
    rows = tuple(
        (r.classifiers[r.classifier[i]], *(f"{v[i]:.3f}" for v in shown))
        for i in range(len(r.mean))
    )
    columns = ("voter", "lower", "error rate", "upper", "hidden truth")
    return Table(columns=columns, rows=rows, caption="Error rates from votes alone")
