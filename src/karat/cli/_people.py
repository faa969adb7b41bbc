"""May a judge replace a person, as a command answers it."""

import warnings
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, NamedTuple

from karat._code import Coded, call_code, script
from karat.cli._judge_flags import LongNames, limits_text, matching
from karat.cli._run import Answer, Grid, Page, section
from karat.cli._table import InputTable
from karat.consensus import AnnotatorTest, annotator_test
from karat.exceptions import ColumnError, KaratWarning, OptionError
from karat.votes.long_names import LongColumns


class PeopleFlags(NamedTuple):
    """What the flags say of people and judges."""

    people: Sequence[str]
    judge: Sequence[str]
    names: LongNames
    epsilon: float | None
    alignment: str = "accuracy"
    also: Sequence[str | None] = ()  # columns that other flags name


class _Tested(NamedTuple):
    judge: str
    result: AnnotatorTest
    code: str


def people_answer(table: InputTable, flags: PeopleFlags, confidence: float) -> Answer:
    """Return the test of each judge against the people."""
    if flags.epsilon is None:
        raise OptionError(
            "--people needs --epsilon: how far a person may be ahead of the judge, .2 for experts, "
            ".15 for skilled people, .1 for crowd workers"
        )
    options: dict[str, Any] = {
        "epsilon": flags.epsilon,
        "alignment": flags.alignment,
        "confidence": confidence,
    }
    columns = (
        None
        if flags.judge and set(flags.judge) <= set(table.frame.columns)
        else (flags.names.found(table, taken=flags.also))
    )
    parts = _wide(table, flags) if columns is None else _long(table, flags, columns)
    tested = []
    for name, judge, people in parts:
        line = f"test = {call_code('annotator_test', judge, people, **options)}"
        code = script(
            ("import polars as pl", "from karat.consensus import annotator_test"), table.code, line
        )
        result = annotator_test(judge.value, people.value, **options)
        tested.append(_Tested(name, result, code))
    tested.sort(key=lambda one: -one.result.advantage_rate.value)
    return _answer(table.path.name, tested)


def _wide(table: InputTable, flags: PeopleFlags) -> list[tuple[str, Coded, Coded]]:
    """Return each judge's column beside those of the people."""
    people = matching(table, "--people", flags.people)
    judges = (
        matching(table, "--judge", flags.judge) if flags.judge else _others(table, flags, people)
    )
    both = [name for name in judges if name in people]
    if both:
        raise OptionError(f"--judge and --people both name {both[0]!r}; expected one of them")
    names = Coded(table.frame.select(people), f"frame[{people}]")
    return [(name, Coded(table.frame[name], f"frame[{name!r}]"), names) for name in judges]


def _others(table: InputTable, flags: PeopleFlags, people: Sequence[str]) -> list[str]:
    """Return the columns that answer as the people do: numbers to be rated, or the same labels.

    Those left out are named in a warning.
    """
    taken = {*people, flags.names.item_of(table), *flags.also}
    rest = [name for name in table.frame.columns if name not in taken]
    if flags.alignment == "rmse":
        judges = [name for name in rest if table.frame[name].dtype.is_numeric()]
    else:
        answers = {str(v) for name in people for v in table.frame[name].drop_nulls().unique()}
        judges = [
            name
            for name in rest
            if {str(v) for v in table.frame[name].drop_nulls().unique()} & answers
            and table.frame[name].n_unique() <= max(2 * len(answers), 2)
        ]
    if not judges:
        raise ColumnError(
            "--people: no other column answers as the people do; name the judges with --judge. "
            f"There are {table.frame.columns}"
        )
    left = [name for name in rest if name not in judges]
    if left:
        warnings.warn(
            f"the column{'s' * (len(left) > 1)} {', '.join(left)} hold{'s' * (len(left) == 1)} no "
            "answers like those of the people and counted as no judge; name judges with --judge",
            KaratWarning,
            stacklevel=2,
        )
    return judges


def _long(
    table: InputTable, flags: PeopleFlags, columns: LongColumns
) -> list[tuple[str, Coded, Coded]]:
    """Return each judge's rows beside those of the people."""
    import polars as pl

    called = {"item": columns.item, "annotator": columns.voter, "answer": columns.vote}
    frame = table.frame.select([table.frame[c].alias(name) for name, c in called.items()])
    voters = [str(v) for v in frame["annotator"].unique(maintain_order=True).to_list()]
    frame = frame.with_columns(pl.col("annotator").cast(pl.String))

    def chosen(flag: str, patterns: Sequence[str]) -> list[str]:
        hits = [v for v in voters if any(v == p or fnmatchcase(v, p) for p in patterns)]
        if not hits:
            raise ColumnError(
                f"{flag} {list(patterns)}: nobody is so called; there are {voters[:20]}"
            )
        return hits

    people = chosen("--people", flags.people)
    rest = [v for v in voters if v not in people]
    judges = chosen("--judge", flags.judge) if flags.judge else rest
    if not judges:
        raise ColumnError("--people names everybody in the file; nobody is left to test")
    picked = ", ".join(f"{name}={column!r}" for name, column in called.items())
    base = f"frame.select({picked})"

    def rows(names: list[str]) -> Coded:
        inside = frame.filter(pl.col("annotator").is_in(names))
        return Coded(inside, f'{base}.filter(pl.col("annotator").is_in({names}))')

    return [(name, rows([name]), rows(people)) for name in judges if name not in people]


def _grid(tested: Sequence[_Tested]) -> Grid:
    level = f"{100 * tested[0].result.confidence:g} % limits"
    rows = tuple(
        (
            one.judge,
            "yes" if one.result.passed else "no",
            f"{one.result.value:.2f}",
            limits_text(one.result.lower, one.result.upper),
            f"{one.result.exact_winning_rate:.2f}",
            f"{one.result.advantage_rate.value:.2f}",
            limits_text(one.result.advantage_rate.lower, one.result.advantage_rate.upper),
        )
        for one in tested
    )
    names = ("judge", "may replace a person", "ω", level, "ω, exact tests", "ρ", level)
    return Grid(names, rows)


def _answer(name: str, tested: Sequence[_Tested]) -> Answer:
    best = tested[0].result
    passed = [one.judge for one in tested if one.result.passed]
    summary = (
        f"{len(passed)} of {len(tested)} judges may replace a person: {', '.join(passed)}"
        if passed
        else f"none of {len(tested)} judges is shown to replace a person"
    )
    data = {
        "summary": summary,
        "tests": [{"judge": one.judge, "result": one.result} for one in tested],
    }
    text: list[str | Grid] = [summary, _grid(tested), f"the closest: {best.summary()}"]
    return Answer(data=data, text=text, page=partial(_page, name, tested, summary))


def _page(name: str, tested: Sequence[_Tested], summary: str) -> Page:
    sections = [
        section(
            f"May {one.judge} replace a person?",
            one.result.summary(),
            result=one.result,
            picture="Judge and person beside the other people, person by person.",
            grid=_grid([one]),
            assumptions=(
                "People are the reference: what they get wrong together counts as right.",
                "The items are a random sample of those to be judged.",
            ),
            code=one.code,
        )
        for one in tested
    ]
    return Page(f"{name}: judges beside people", f"{summary}.", sections)
