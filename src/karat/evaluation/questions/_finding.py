"""What a question is asked of, and what it finds."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from karat._frozen import Frozen
from karat._result import Result
from karat._typing import BoolArray
from karat.evaluation.roles import Roles
from karat.metrics import MetricBase
from karat.report import NextStep, Section, Table, Verdict, result_svg

__all__ = ["Evidence", "Finding", "LeftOut"]


@dataclass(frozen=True)
class Evidence:
    """The columns of a table by their roles, and what was asked of them.

    Attributes
    ----------
    frame : polars.DataFrame
        The rows.
    roles : Roles
        Which column plays which part.
    metric : MetricBase or None
        What counts; None where the user named nothing.
    pos_label : object
        The positive class, or None for the larger label.
    confidence : float
        Probability that limits hold.
    budget : int or None
        How many labels can be had.
    rng : int
        Seed of everything that is drawn.
    metric_code : str
        The metric as an expression.
    votes : polars.DataFrame or None
        Votes, a row each, where the table has that form.
    read : str
        The line of code that reads the rows into ``frame``.
    file : str
        The file as a command would name it.
    """

    frame: Any
    roles: Roles
    metric: MetricBase | None = None
    pos_label: Any = None
    confidence: float = 0.95
    budget: int | None = None
    rng: int = 0
    metric_code: str = "'accuracy'"
    votes: Any = None
    read: str = ""
    file: str = "FILE"

    def column(self, name: str) -> Any:
        """Return a column as a series."""
        return self.frame[name]

    @property
    def groups(self) -> Any:
        """The column of groups, or None."""
        return None if self.roles.group is None else self.frame[self.roles.group]

    @cached_property
    def known(self) -> BoolArray:
        """Whether each row has a true label (the first column of labels)."""
        if not self.roles.label:
            return np.zeros(len(self.frame), dtype=bool)
        return np.asarray(~self.frame[self.roles.label[0]].is_null().to_numpy(), dtype=bool)

    @property
    def n_known(self) -> int:
        """How many rows have a true label."""
        return int(self.known.sum())

    @property
    def flags(self) -> str:
        """The flags of a command that asks about the same metric and class, with the labels."""
        given = "" if self.metric is None else f" --metric {self.metric_code.strip(chr(39))}"
        positive = "" if self.pos_label is None else f" --pos-label {self.pos_label}"
        label = f" --label {self.roles.label[0]}" if self.n_known else ""
        return f"{given}{positive}{label}"

    @property
    def sampled(self) -> str:
        """What a sentence from labels assumes where not every row has one."""
        if self.all_known:
            return ""
        return f", if the {self.n_known:,} labelled rows of {len(self.frame):,} are a random draw"

    @property
    def all_known(self) -> bool:
        """Whether every row has a true label."""
        return bool(self.known.all()) and bool(self.roles.label)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Finding(Frozen):
    """The answer to one question.

    Attributes
    ----------
    key : str
        Name of the question in `Evaluation.findings`.
    question, answer : str
        Heading and answer of the section.
    results : dict
        The results of the library by name; the first is drawn.
    picture : str
        What the picture shows.
    """

    key: str
    question: str
    answer: str
    results: dict[str, Result]
    picture: str = ""
    table: Table | None = None
    assumptions: tuple[str, ...] = ()
    code: str = ""
    verdicts: tuple[Verdict, ...] = ()
    next_steps: tuple[NextStep, ...] = ()
    drawn: Result | None = None

    def section(self) -> Section:
        """Return the section of a report, with its picture."""
        return Section(
            question=self.question,
            answer=self.answer if self.answer.endswith(".") else f"{self.answer}.",
            figure="" if self.drawn is None else result_svg(self.drawn),
            figure_text=self.picture,
            table=self.table,
            assumptions=self.assumptions,
            code=self.code,
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LeftOut(Frozen):
    """A question that the columns do not answer, and what would.

    Attributes
    ----------
    question : str
        The question.
    unlock : str
        The column or the labels that would answer it.
    """

    question: str
    unlock: str
