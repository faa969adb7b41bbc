"""May a judge replace a person: the alternative-annotator test."""

from typing import Any, Literal

import numpy as np

from karat._frames import keeps_kind
from karat._typing import Column, Frame
from karat._validate import (
    check_choice,
    check_confidence,
    check_count,
    check_number,
    named,
    refuse_lazy,
)
from karat.consensus.people import (
    Comparison,
    benjamini_yekutieli,
    compare,
    exact_p_value,
    holm,
    rate_limits,
    read_answers,
    student_p_value,
)
from karat.consensus.people_result import AnnotatorTest
from karat.exceptions import DataError

__all__ = ["annotator_test"]


@keeps_kind
def annotator_test(
    judge: Column | str,
    people: Frame,
    *,
    epsilon: float,
    alignment: Literal["accuracy", "rmse"] = "accuracy",
    fewest: int = 30,
    fdr: float = 0.05,
    confidence: float = 0.95,
) -> AnnotatorTest:
    r"""Test whether a judge may replace a person, given what several people answered.

    One person is left out at a time. On each item, whoever agrees more with the remaining people is
    ahead; with :math:`\rho^f_j` and :math:`\rho^h_j` the shares of items on which judge and person
    j are at least as close to the others, the judge beats the person if a paired test rejects

    .. math:: H_{0j}: \rho^h_j - \rho^f_j \ge \varepsilon

    at a false discovery rate over people (Benjamini and Yekutieli). The winning rate ω is the share
    of people who are beaten; with at least half of them the judge passes. The average advantage ρ
    is the mean of :math:`\rho^f_j`.

    Parameters
    ----------
    judge : column, mapping, frame or name
        The judge's answers: one per row of a wide table; a mapping from item to answer or a frame
        with the columns ``item`` and ``vote`` beside a long one; or the name of a column, or of an
        annotator, of ``people``, which is then taken out of it. Null: not asked.
    people : matrix or frame
        Wide: one row per item, one column per person, null where a person did not answer. Or long:
        columns ``item``, ``classifier`` (or ``annotator``, ``worker``, ``person``) and ``vote`` (or
        ``answer``, ``label``, ``rating``, ``score``).
    epsilon : float
        What the judge is worth in cost and time: how far the person may be ahead. Calderon et al.
        advise .2 where people are experts, .15 where they are skilled, .1 for crowd workers.
    alignment : {"accuracy", "rmse"}, default "accuracy"
        Share of the others with the same label; or minus the root of the mean squared difference
        of ratings.
    fewest : int, default 30
        People with fewer items are not compared, and are named in ``skipped``. Below 30 rely on
        the exact test.
    fdr : float, default 0.05
        The false discovery rate.
    confidence : float, default 0.95
        Level of the limits of ω and ρ.

    Returns
    -------
    AnnotatorTest
        ω and ρ with limits, and the tests person by person.

    Notes
    -----
    ω and ``wins`` are by Student's test, as published. Beside them stand exact tests, which hold
    for any number of items. The limits of ω are those of the share of these people whom the judge
    is truly ahead of (by Holm's procedure with exact tests on either side), those of ρ treat items
    as the sample and people as fixed. With ``alignment="accuracy"`` an abstention (-1) of the judge
    agrees with nobody, and one of a person is no answer. An item counts if the judge and at least
    two people answered it.

    References
    ----------
    N. Calderon, R. Reichart and R. Dror, The alternative annotator test for LLM-as-a-judge: how to
    statistically justify replacing human annotators with LLMs, ACL 2025.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 3, 200)
    >>> wrong = rng.random((200, 4)) < [0.3, 0.3, 0.3, 0.1]
    >>> said = np.where(wrong, (y[:, None] + 1) % 3, y[:, None])
    >>> annotator_test(said[:, 3], said[:, :3], epsilon=0.1).passed
    True
    """
    margin = check_number(epsilon, "epsilon", at_least=0.0, at_most=0.9)
    numeric = check_choice(alignment, "alignment", ("accuracy", "rmse")) == "rmse"
    least = check_count(fewest, "fewest", at_least=2)
    rate = check_number(fdr, "fdr", above=0.0, at_most=0.5)
    level = check_confidence(confidence)
    refuse_lazy(judge=judge, people=people)
    answers = read_answers(judge, people, numeric=numeric)
    found = compare(answers.judge, answers.people, numeric=numeric)
    enough = [len(one.items) >= least for one in found]
    if not any(enough):
        most = max(len(one.items) for one in found)
        raise DataError(
            f"nobody among {named(answers.names)} answered {least} items that the judge and "
            f"another person answered too (the most is {most}); pass more items, or a "
            "smaller fewest="
        )
    tested = [one for one, kept in zip(found, enough, strict=True) if kept]
    names = [name for name, kept in zip(answers.names, enough, strict=True) if kept]
    skipped = [name for name, kept in zip(answers.names, enough, strict=True) if not kept]
    return _result(tested, answers.judge_name, names, skipped, margin, rate, level, alignment)


def _result(
    tested: list[Comparison],
    judge: Any,
    names: list[Any],
    skipped: list[Any],
    margin: float,
    rate: float,
    level: float,
    alignment: str,
) -> AnnotatorTest:
    """Test every person and gather the answer."""
    counts = [(one.plus, one.minus, len(one.items)) for one in tested]
    student = np.array([student_p_value(*c, margin) for c in counts])
    exact = np.array([exact_p_value(*c, margin) for c in counts])
    reverse = np.array([exact_p_value(minus, plus, n, -margin) for plus, minus, n in counts])
    wins, sure = benjamini_yekutieli(student, rate), benjamini_yekutieli(exact, rate)
    omega, delta = float(wins.mean()), (1 - level) / 2
    n_items = 1 + max(int(one.items.max()) for one in tested)
    rho, low, high = rate_limits(
        [one.judge.astype(np.float64) for one in tested], [one.items for one in tested],
        n_items, delta,
    )  # fmt: skip
    return AnnotatorTest(
        judge=judge,
        people=tuple(names),
        n=np.array([n for _, _, n in counts]),
        advantage=np.array([one.judge.mean() for one in tested]),
        person_advantage=np.array([one.person.mean() for one in tested]),
        p_value=student,
        exact_p_value=exact,
        wins=wins,
        exact_wins=sure,
        winning_rate=omega,
        winning_lower=min(omega, float(holm(exact, delta).mean())),
        winning_upper=max(omega, float(1 - holm(reverse, delta).mean())),
        exact_winning_rate=float(sure.mean()),
        advantage_rate=rho,
        advantage_lower=low,
        advantage_upper=high,
        passed=omega >= 0.5,
        epsilon=margin,
        fdr=rate,
        confidence=level,
        alignment=alignment,
        skipped=tuple(skipped),
        n_items=len(np.unique(np.concatenate([one.items for one in tested]))),
    )
