"""May a judge replace a person? An exact test against people who labelled the same items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from karat._result import Estimate, call_columns, keeps_kind
from karat._sentences import Argument, Expected, Given, Option, Remedy
from karat._typing import BoolArray, Column, FloatArray, Frame, IntArray
from karat._validate import (
    check_choice,
    check_confidence,
    check_count,
    check_number,
    named,
    native_frame,
    read_column,
    refuse_lazy,
    shown,
    union_of_values,
)
from karat.consensus.judged import AnnotatorTest
from karat.exceptions import ColumnError, DataError, LabelError, LengthMismatchError, ShapeError
from karat.limits.proportions import clopper_pearson_limits, wilson_limits
from karat.votes.names import fitting
from karat.votes.table import Cells, Listed, TableOfVotes, table_of


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
        columns of items, people and answers, known by their names as in
        `karat.votes.read_patterns`.
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
            f"nobody among {named(answers.names)} answered {least} items that the "
            f"judge and another person answered too (the most is {most})",
            Remedy("pass more items, or a smaller ", Option("fewest")),
        )
    tested = [one for one, kept in zip(found, enough, strict=True) if kept]
    names = [name for name, kept in zip(answers.names, enough, strict=True) if kept]
    skipped = [name for name, kept in zip(answers.names, enough, strict=True) if not kept]
    result = _result(tested, answers.judge_name, names, skipped, margin, rate, level, alignment)
    return call_columns(result, answers.called)


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
        [one.judge.astype(np.float64) for one in tested],
        [one.items for one in tested],
        n_items,
        delta,
    )
    likely = partial(Estimate.of, confidence=level, guarantee="approximate")
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
        estimate=likely(
            omega,
            min(omega, float(holm(exact, delta).mean())),
            max(omega, float(1 - holm(reverse, delta).mean())),
        ),
        exact_winning_rate=float(sure.mean()),
        advantage_rate=likely(rho, low, high),
        passed=omega >= 0.5,
        epsilon=margin,
        fdr=rate,
        alignment=alignment,
        skipped=tuple(skipped),
        n_items=len(np.unique(np.concatenate([one.items for one in tested]))),
    )


# --- Who is closer to the other people, the judge or the person left out.

_SAME = 1e-9  # distances that differ by less, relative to the larger, are equal


@dataclass(frozen=True, slots=True)
class Comparison:
    """One person against the judge, item by item."""

    items: IntArray
    judge: BoolArray  # the judge is at least as close to the others as the person
    person: BoolArray  # the person is at least as close to the others as the judge

    @property
    def plus(self) -> int:
        """Items on which the person is closer."""
        return int((~self.judge).sum())

    @property
    def minus(self) -> int:
        """Items on which the judge is closer."""
        return int((~self.person).sum())


def compare(judge: FloatArray, people: FloatArray, *, numeric: bool) -> list[Comparison]:
    """Compare the judge with each person: items × people of answers, NaN where there is none.

    With ``numeric`` the distance to the others is the root of the mean squared difference, else
    the share of them that answered otherwise.
    """
    there = ~np.isnan(people)
    usable = ~np.isnan(judge) & (there.sum(axis=1) >= 2)
    found = []
    for j in range(people.shape[1]):
        rows = np.flatnonzero(usable & there[:, j])
        others = np.delete(people[rows], j, axis=1)
        by_judge = _distance(judge[rows], others, numeric)
        by_person = _distance(people[rows, j], others, numeric)
        close = _SAME * np.maximum(by_judge, by_person)
        off = by_judge - by_person
        found.append(Comparison(rows, off <= close, off >= -close))
    return found


def _distance(answer: FloatArray, others: FloatArray, numeric: bool) -> FloatArray:
    """Return the summed distance to the others; they are as many for judge and person."""
    if numeric:
        return np.asarray(np.nansum((others - answer[:, None]) ** 2, axis=1))
    apart = ~np.isnan(others) & (others != answer[:, None])
    return np.asarray(apart.sum(axis=1), dtype=np.float64)


# --- Several tests at once, and the limits of a rate that several people share.


def benjamini_yekutieli(p_values: FloatArray, rate: float) -> BoolArray:
    """Return which hypotheses are rejected at a false discovery rate, however they depend.

    Y. Benjamini and D. Yekutieli, The control of the false discovery rate in multiple testing under
    dependency, Annals of Statistics 29 (2001), Theorem 1.3.
    """
    m = len(p_values)
    ranks = np.arange(1, m + 1)
    order = np.argsort(p_values, kind="stable")
    under = np.flatnonzero(p_values[order] <= ranks * rate / (m * (1 / ranks).sum()))
    rejected = np.zeros(m, dtype=bool)
    if under.size:
        rejected[order[: under[-1] + 1]] = True
    return rejected


def holm(p_values: FloatArray, delta: float) -> BoolArray:
    """Return which hypotheses are rejected if a single false one may be with ``delta`` at most.

    S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of
    Statistics 6 (1979). All rejected hypotheses are false at once with probability 1 − delta.
    """
    m = len(p_values)
    order = np.argsort(p_values, kind="stable")
    kept = np.flatnonzero(p_values[order] > delta / (m - np.arange(m)))
    rejected = np.zeros(m, dtype=bool)
    rejected[order[: kept[0] if kept.size else m]] = True
    return rejected


def rate_limits(
    values: list[FloatArray], items: list[np.ndarray], n_items: int, delta: float
) -> tuple[float, float, float]:
    """Return the mean over people of their mean values, and its limits over items.

    Person j has ``values[j]`` (0 or 1) on ``items[j]``; an item that several people answered is one
    draw. The limits are Wilson's at the number of independent items that would give the variance.
    """
    m = len(values)
    means = np.array([v.mean() for v in values])
    influence = np.zeros(n_items)
    for v, where, mean in zip(values, items, means, strict=True):
        np.add.at(influence, where, (v - mean) / (m * len(v)))
    rate = float(means.mean())
    n = int((np.bincount(np.concatenate(items), minlength=n_items) > 0).sum())
    variance = float(influence @ influence) * n / max(n - 1, 1)
    fewest = float(min(len(v) for v in values))
    number = rate * (1 - rate) / variance if variance > 0 and 0 < rate < 1 else fewest
    low, high = wilson_limits(rate * number, number, delta)
    return rate, float(low), float(high)


# --- What people and a judge answered, from wide and long tables, as one matrix.


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers as numbers: codes of labels or the ratings themselves, NaN where there is none."""

    judge: FloatArray  # (items,)
    people: FloatArray  # (items, people)
    names: tuple[Any, ...]  # of the people, as they were passed
    judge_name: Any
    called: Mapping[str, str]  # what a long table calls the people


def read_answers(judge: Any, people: Frame, *, numeric: bool) -> Answers:
    """Read the answers of people, wide or long, and of a judge on the same items."""
    table = table_of(people, "people")
    _refuse_one_person(table)
    cells = table.cells(null=-1, each="column per person")
    said, names = _said(cells), cells.voters.tolist()
    named_by = range(cells.n_items) if cells.items is None else cells.items.tolist()
    places = {name: i for i, name in enumerate(named_by)}
    n, others = len(places), list(range(len(names)))
    own, name = _taken_out(judge, names, said), "judge"
    if own is not None:
        name = judge
        others.remove(names.index(judge))
    else:
        own = _read_judge(judge, places, wide=not table.is_long)
        name = _judge_name(judge)
    if len(others) < 2:
        raise ShapeError(
            Argument("people"),
            f" has {len(others)} column{'s' * (len(others) != 1)} beside the "
            "judge; the test leaves one person out and compares with the others, so "
            "it needs at least two",
        )
    _refuse_repeats(said, names, list(places))
    numbers = _numbers if numeric else _codes
    said_value, own_value = numbers(said, own)
    matrix = np.full((n, len(names)), np.nan)
    matrix[said.item, said.voter] = said_value
    column = np.full(n, np.nan)
    column[own.item] = own_value
    if not numeric:  # an abstention of a person is no answer; one of the judge agrees with nobody
        matrix[matrix < 0] = np.nan
    return Answers(
        column,
        matrix[:, others],
        tuple(names[j] for j in others),
        name,
        table.named(person="voter"),
    )


def _said(cells: Cells) -> Listed:
    """Return the answers in a list; text and numbers in different columns are refused."""
    there = {c.name: c.values for c in cells.columns if not c.absent.all()}
    if not there:
        raise LabelError("no cell of people holds an answer; pass at least two per item")
    if len({values.dtype.kind == "U" for values in there.values()}) > 1:
        union_of_values(there)  # says which column is text and which holds numbers
    return cells.listed()


def _refuse_one_person(table: TableOfVotes) -> None:
    """Refuse a long table of one person, whose columns would be read as people."""
    columns = [] if table.frame is None else list(table.frame.columns)
    if table.is_long or len(columns) != 3:
        return
    if all(len(fitting(part, columns)) == 1 for part in ("item", "voter", "vote")):
        raise ShapeError(
            Argument("people"),
            f" has the columns {named(columns)} and no item twice, so that each item has the "
            "answer of one person; the test compares people on the same item, so it needs at "
            "least two answers per item",
        )


def _taken_out(judge: Any, names: list[Any], said: Listed) -> Listed | None:
    """Return the judge's answers where it is named among those of the people."""
    if not isinstance(judge, str | int) or isinstance(judge, bool):
        return None
    if judge not in names:
        raise ColumnError(
            Argument("judge"),
            " is ",
            Given(judge),
            f", and people has {named(names)}",
            Remedy("name one of them, or pass the judge's answers"),
        )
    mine = said.voter == names.index(judge)
    return Listed(said.item[mine], said.voter[mine], said.value[mine], said.absent[mine])


def _read_judge(judge: Any, places: Mapping[Any, int], *, wide: bool) -> Listed:
    """Return the judge's answers from a column, a mapping or a frame with items."""
    frame = None if isinstance(judge, Mapping) else native_frame(judge, "judge")
    column: Column = judge
    if isinstance(judge, Mapping):
        items, column = list(judge), list(judge.values())
    elif frame is not None and fitting("item", frame.columns):
        table = table_of(judge, "judge", parts=("item", "vote"), long=True)
        if not table.is_long:
            raise ColumnError(
                Argument("judge"),
                f" has the columns {named(frame.columns)}; expected ",
                Expected("'item' and 'vote'"),
            )
        items, column = frame[table.called["item"]].to_list(), table.column("vote")
    elif wide:
        items = list(places)  # in the order of the rows
    else:
        raise ColumnError(
            "people is a long table, so the judge's answers need items too; pass a mapping from "
            "item to answer, a frame with the columns 'item' and 'vote', or the judge's name"
        )
    value, mask = read_column(column, "judge", null=-1)
    if len(value) != len(items):
        raise LengthMismatchError(
            f"people has {len(items):,} rows and judge has {len(value):,}; pass one answer per row"
        )
    known = np.array([item in places for item in items], dtype=bool)
    if not known.any():
        raise DataError(
            Argument("judge"),
            f" and people share no item: judge has {named(items[:3])}, people has "
            f"{named(list(places)[:3])}",
        )
    at = np.array([places[item] for item, k in zip(items, known, strict=True) if k])
    absent = np.zeros(len(value), dtype=bool) if mask is None else mask
    return Listed(at, np.zeros(len(at), dtype=np.int64), value[known], absent[known])


def _judge_name(judge: Any) -> Any:
    """Return the one name that the judge's own frame gives it, else "judge"."""
    frame = None if isinstance(judge, Mapping) else native_frame(judge, "judge")
    who = [] if frame is None else fitting("voter", frame.columns)
    names = frame[who[0]].unique().to_list() if frame is not None and who else []
    return names[0] if len(names) == 1 else "judge"


def _refuse_repeats(said: Listed, names: list[Any], items: list[Any]) -> None:
    """Refuse two answers of one person on one item."""
    there = ~said.absent
    key = said.item[there] * len(names) + said.voter[there]
    found, counts = np.unique(key, return_counts=True)
    if (counts > 1).any():
        item, who = divmod(int(found[counts > 1][0]), len(names))
        raise DataError(
            f"{shown(names[who])} answers the item {shown(items[item])} twice; keep one answer per "
            "person and item"
        )


def _codes(said: Listed, own: Listed) -> tuple[FloatArray, FloatArray]:
    """Return labels as codes, -1 for an abstention and NaN for no answer."""
    parts = {"people": said, "judge": own}
    there = {name: s.value[~s.absent] for name, s in parts.items() if (~s.absent).any()}
    if len(there) < 2:
        raise LabelError("the judge gives no answer; pass at least one")
    kinds = {a.dtype.kind == "U" for a in there.values()}
    order = (
        union_of_values(there) if len(kinds) > 1 else np.unique(np.concatenate([*there.values()]))
    )
    codes = []
    for s in parts.values():
        places = np.searchsorted(order, np.where(s.absent, order[0], s.value)).astype(np.float64)
        gone = s.value == ("-1" if s.value.dtype.kind == "U" else -1)
        codes.append(np.where(s.absent, np.nan, np.where(gone, -1.0, places)))
    return codes[0], codes[1]


def _numbers(said: Listed, own: Listed) -> tuple[FloatArray, FloatArray]:
    """Return ratings as numbers, NaN for no answer; text is read as the number it shows."""
    found = []
    for name, s in (("people", said), ("judge", own)):
        filled = np.where(s.absent, "0" if s.value.dtype.kind == "U" else 0, s.value)
        try:
            number = filled.astype(np.float64)
        except ValueError as error:
            raise LabelError(
                Argument.of(name),
                " holds an answer that is no number (",
                error,
                "), and ",
                Option("alignment", "rmse"),
                " compares ratings",
                Remedy("use ", Option("alignment", "accuracy"), " for labels"),
            ) from error
        if not np.isfinite(number).all():
            raise LabelError(
                Argument.of(name),
                " holds an infinite rating; ratings are finite numbers",
            )
        found.append(np.where(s.absent, np.nan, number))
    return found[0], found[1]


# --- Tests of a difference of two shares that one sample gives: more, fewer or equal.

_GRID = 129  # values of the share that the hypothesis leaves open, before the best is refined
_MISSED = 1e-6  # how often the limits of the open share may miss it; added to the p-value
_SLACK = 1e-9  # samples whose statistics differ by less count as equally extreme


def student_p_value(plus: int, minus: int, n: int, margin: float) -> float:
    """Return the p-value of Student's test that the mean of +1, 0 and -1 is ``margin`` or more."""
    from scipy.special import stdtr

    mean = (plus - minus) / n
    variance = ((plus + minus) - n * mean**2) / max(n - 1, 1)
    if n < 2 or variance <= 0:
        return 0.0 if mean < margin and n > 1 else 1.0
    return float(stdtr(n - 1, (mean - margin) / np.sqrt(variance / n)))


def exact_p_value(plus: int, minus: int, n: int, margin: float) -> float:
    r"""Return the p-value of the exact test that :math:`p_+ - p_-` is ``margin`` or more.

    Of n items, ``plus`` count +1 and ``minus`` count -1. Samples are ordered by the score statistic
    of T. Tango, Equivalence test and confidence interval for the difference in proportions for the
    paired-sample design, Statistics in Medicine 17 (1998); the p-value is the greatest probability,
    over the laws with :math:`p_+ - p_-` equal to the margin and a :math:`p_-` inside limits that
    miss it once in a million (R. L. Berger and D. D. Boos, P values maximized over a confidence set
    for the nuisance parameter, JASA 89, 1994), of a sample as extreme or more, plus that millionth.
    It holds for any number of items. Given how many count +1, the extreme samples are those with
    at least so many -1, so a law costs one sum of binomial probabilities.
    """
    observed = float(_score(np.array(plus), np.array(minus), n, margin))
    limits = clopper_pearson_limits(minus, n, _MISSED / 2)
    low, high = (float(np.clip(v, max(0.0, -margin), (1.0 - margin) / 2)) for v in limits)
    first = _likely(low + margin, high + margin, n)
    least = _least_minus(first, n, margin, observed)
    best = 0.0
    for _ in range(3):
        shares = np.linspace(low, high, _GRID)
        chance = _chance(first, least, n, shares, margin)
        top = int(chance.argmax())
        best = max(best, float(chance[top]))
        step = shares[1] - shares[0]
        low, high = max(low, shares[top] - step), min(high, shares[top] + step)
    return min(best + _MISSED, 1.0)


def _likely(low: float, high: float, n: int) -> IntArray:
    """Return the counts of n that a share between two may give; all others have no weight."""
    reach = 9 * np.sqrt(n) / 2 + 9
    return np.arange(max(0, int(low * n - reach)), min(n, int(high * n + reach)) + 1)


def _score(plus: IntArray, minus: IntArray, n: int, margin: float) -> FloatArray:
    """Return the difference from the margin in standard errors under the hypothesis."""
    inner = (plus + minus) * (1 - margin) - 2 * margin * (n - plus)
    root = np.sqrt(np.maximum(inner**2 + 8 * n * minus * margin * (1 - margin), 0.0))
    share = np.clip((inner + root) / (4 * n), max(0.0, -margin), (1 - margin) / 2)
    variance = n * (2 * share + margin - margin**2)
    off = plus - minus - n * margin
    out = np.zeros(np.shape(off))
    return np.asarray(np.divide(off, np.sqrt(variance), out=out, where=variance > 0))


def _least_minus(plus: IntArray, n: int, margin: float, observed: float) -> IntArray:
    """Return, for each number of +1, the fewest -1 that are as extreme; one too many if none."""
    low, high = np.zeros(len(plus), dtype=np.int64), n - plus + 1
    while (low < high).any():
        middle = (low + high) // 2
        inside = np.minimum(middle, n - plus)
        extreme = (_score(plus, inside, n, margin) <= observed + _SLACK) & (middle <= n - plus)
        open_ = low < high
        high = np.where(open_ & extreme, middle, high)
        low = np.where(open_ & ~extreme, middle + 1, low)
    return low


def _chance(
    plus: IntArray, least: IntArray, n: int, shares: FloatArray, margin: float
) -> FloatArray:
    """Return the probability of the extreme samples under each law."""
    from scipy.special import bdtrc, gammaln, xlog1py, xlogy

    p, q = shares[:, None] + margin, shares[:, None]
    choose = gammaln(n + 1) - gammaln(plus + 1) - gammaln(n - plus + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = np.exp(choose + xlogy(plus, p) + xlog1py(n - plus, -np.minimum(p, 1.0)))
        given = np.clip(np.where(p < 1, q / np.maximum(1 - p, 1e-300), 0.0), 0.0, 1.0)
    tail = bdtrc(least - 1.0, np.maximum(n - plus, 1), given)
    tail = np.where(least <= 0, 1.0, np.where(least > n - plus, 0.0, tail))
    return np.asarray((weight * tail).sum(axis=1))
