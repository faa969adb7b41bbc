"""An elicitation, reported: the metric that the answers mean, and how sure that is.

`of_elicitation` makes an `Answer`, which the command line prints and writes as a page.
"""

from __future__ import annotations

import numpy as np

from karat.elicit import Elicitation, ElicitationResult
from karat.report.answer import Answer, Finding, finding, table
from karat.report.parts import Table

_CODE = """from karat.elicit import Elicitation

Elicitation.resume(space, 'answers.json').result.metric
"""


def of_elicitation(
    elicitation: Elicitation, name: str, *, saved: str | None = None, kept: str | None = None
) -> Answer:
    """Report what the answers so far mean.

    Parameters
    ----------
    elicitation : Elicitation
        The elicitation, perhaps before its end.
    name : str
        What the questions were about.
    saved, kept : str, optional
        The files of the metric and of the answers.
    """
    result = elicitation.result
    weights = _weights(result)
    text: list[str | Table] = [result.summary(), weights, result.description]
    if saved is not None:
        text.append(f"the metric is in {saved}")
    if kept is not None:
        go_on = "" if elicitation.finished else ": run again to go on"
        text.append(f"the answers are in {kept}{go_on}")
    return Answer(
        data={"summary": result.summary(), "result": result},
        text=text,
        title=f"{name}: what should be measured",
        introduction="Which of two classifiers is better? From the answers, a metric with its "
        "uncertainty.",
        findings=lambda: [
            finding(
                "What should we measure?",
                f"{result.summary()} {result.description}",
                result,
                picture="The weights that fit the answers, with their limits.",
                table=weights,
                assumptions=(
                    "The person compares classifiers by a metric of this family, slips now and "
                    "then, and means the same by every answer.",
                ),
                code=_CODE,
            ),
            *_of_groups(elicitation, result),
            finding(
                "What was asked?",
                result.questions.summary(),
                result.questions,
                picture="The pairs asked about, among what classifiers attain.",
            ),
            finding(
                "Would more questions help?",
                result.progress.summary(),
                result.progress,
                picture="Predicted agreement after each answer.",
            ),
        ],
    )


def _weights(result: ElicitationResult) -> Table:
    def limits(low: float, high: float) -> str:
        return f"{low:.3g} to {'∞' if np.isinf(high) else f'{high:.3g}'}"

    rows = [
        (w.name, f"{w.value:.3g}", limits(w.lower, w.upper))
        for w in (*result.weights, *result.ratios)
    ]
    return table(("weight", "value", "95 % limits"), rows)


def _of_groups(elicitation: Elicitation, result: ElicitationResult) -> list[Finding]:
    """Return what there is to say of a metric of groups."""
    if result.trade_off is None:
        return []
    frontier = elicitation.frontier()
    return [
        finding(
            "What is a gap between groups worth?",
            result.trade_off.summary(),
            result.trade_off,
            picture="The trade-offs that fit the answers.",
        ),
        finding(
            "What would it choose?",
            frontier.summary(),
            frontier,
            picture="Few errors or small gaps, and lines along which both are equally good.",
        ),
    ]
