"""What a question is asked of, and what it finds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from karat._frozen import Frozen
from karat._result import Result
from karat._typing import BoolArray
from karat.evaluation.questions._words import flag, sentence
from karat.evaluation.roles import Roles
from karat.metrics import MetricBase, as_metric
from karat.report import NextStep, Section, Table, Verdict, result_svg

__all__ = ["Evidence", "Finding", "LeftOut"]

_NAMED = ("accuracy", "precision", "recall", "f1")  # shown beside each other for two classes


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
    metric_code, metric_flag : str
        The metric as an expression, and as a flag of a command.
    votes : polars.DataFrame or None
        Votes, a row each, where the table has that form.
    log : polars.DataFrame or None
        The verdicts of an evaluation log, a row each, those of lone judges among them.
    no_votes : str
        Why a log has no votes from which errors show.
    patterns : mapping
        The columns of each part as they were named, patterns among them.
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
    metric_flag: str = ""
    votes: Any = None
    log: Any = None
    no_votes: str = ""
    patterns: Mapping[str, Any] = field(default_factory=dict)
    read: str = ""
    file: str = "FILE"

    def column(self, name: str) -> Any:
        """Return a column as a series."""
        return self.frame[name]

    @property
    def headline(self) -> MetricBase:
        """What counts first: the metric that was named, or accuracy."""
        return as_metric("accuracy") if self.metric is None else self.metric

    def metrics(self, *columns: Any) -> tuple[MetricBase, ...]:
        """Return the metrics to show for labels and predictions; one that was named stands alone.

        Where nobody said what counts, two classes have four that people ask for.
        """
        if self.metric is not None:
            return (self.metric,)
        kinds = set().union(*(column.drop_nulls().unique().to_list() for column in columns))
        names = _NAMED if len(kinds) == 2 else ("accuracy", "balanced_accuracy")
        return tuple(as_metric(name) for name in names)

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

    def named(self, role: str) -> str:
        """Return the flags of a command that name the columns of a role."""
        given = self.patterns.get(role)
        if given is None:
            return ""
        return flag(role, *([given] if isinstance(given, str) else given))

    @property
    def flags(self) -> str:
        """The flags of a command that asks about the same metric and class, with the labels."""
        positive = "" if self.pos_label is None else flag("pos-label", self.pos_label)
        label = flag("label", self.roles.label[0]) if self.n_known else ""
        return f"{self.metric_flag}{positive}{label}"

    @property
    def named_items(self) -> str:
        """The flag that names the items, where no two have the same name."""
        name = self.roles.id
        unique = name is not None and self.frame[name].n_unique() == len(self.frame)
        return flag("id", name) if unique else ""

    @property
    def sampled(self) -> str:
        """What a sentence from labels assumes where not every row has one."""
        if self.all_known:
            return ""
        of = f"{self.n_known:,} labelled rows of {len(self.frame):,}"
        return f", if the {of} were drawn at random"

    @property
    def from_labels(self) -> str:
        """What a number rests on: all labels, or some and how they were drawn."""
        return f", from {self.n_known:,} labels" if self.all_known else self.sampled

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
            answer=sentence(self.answer),
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
        The column or the labels that would answer it, or the fault that is in the way.
    faulty : bool
        Whether the columns could answer it, but for a fault in them.
    """

    question: str
    unlock: str
    faulty: bool = False

    @property
    def sentence(self) -> str:
        """The question, and what it takes to answer it."""
        takes = "Mend this first:" if self.faulty else "It takes"
        return f"{self.question} {takes} {self.unlock.rstrip('.')}."

    def verdict(self) -> Verdict:
        """Return the question as a conclusion: it cannot be known from these columns."""
        why = "A fault in the data is in the way." if self.faulty else "The columns do not say."
        return Verdict(
            sentence=f"{self.question} {why}",
            badge="unknown",
            change=self.unlock,
        )
