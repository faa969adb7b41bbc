"""What a question finds: verdicts, tables and pictures, and the words they share."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from karat._code import Coded, call_code
from karat._code import script as block
from karat._result import Frozen, Result, basis_of, one_row
from karat._sentences import Sentence
from karat._typing import BoolArray, IntArray
from karat._validate import order_classes, told_positive
from karat.calibration import CalibrationCertificate, CanonicalCalibration
from karat.evaluation.roles import Roles
from karat.exceptions import PositiveClassError
from karat.metrics import as_metric
from karat.metrics.base import MetricBase
from karat.report.answer import Finding
from karat.report.parts import Verdict
from karat.sources import Counts
from karat.statistics import Confusion

# What a row is of, the number and its limits, under the names that results have for them.
_NAMES = ("group", "class", "model", "name", "classifier", "judge", "label", "system", "person")
_COLUMNS = {
    "value": ("value",),
    "lower": ("lower_limit", "lower"),
    "upper": ("upper_limit", "upper"),
    "n": ("n", "n_labels", "votes"),
}


def estimates_of(finding: Finding) -> list[dict[str, Any]]:
    """Return the estimates of every result of a finding, as rows with the same names.

    What is of all rows stands before its groups. Results without limits, such as the course of a
    search or a decision rule, are no estimates.
    """
    return [
        {"question": finding.key, "result": name} | row
        for name, result in finding.results.items()
        for columns in _tables(result)
        for row in _rows(columns)
    ]


def _tables(result: Result) -> list[dict[str, Any]]:
    """Return the columns of what a result says of all rows, and of its parts."""
    if isinstance(result, CanonicalCalibration):  # as it is said: without the bias of chance
        root = math.nan if result.debiased is None else math.sqrt(max(result.debiased, 0.0))
        numbers = (root, result.lower, result.upper, result.n)
        named = zip(("value", "lower", "upper", "n"), numbers, strict=True)
        return [{name: [number] for name, number in named}]
    if isinstance(result, CalibrationCertificate):  # of all labels together
        return [{"value": [result.value], "lower": [result.lower], "n": [result.n]}]
    columns = result._columns()
    if not any(name in columns for name in (*_COLUMNS["lower"], *_COLUMNS["upper"])):
        return []
    return [one_row(result), columns] if "group" in columns else [columns]


def _rows(columns: dict[str, Any]) -> list[dict[str, Any]]:
    of = next((columns[key] for key in _NAMES if key in columns), None)
    found = {
        column: next((columns[key] for key in keys if key in columns), None)
        for column, keys in _COLUMNS.items()
    }
    return [
        {"of": "" if of is None else str(of[i])}
        | {key: math.nan if v is None or v[i] is None else float(v[i]) for key, v in found.items()}
        for i in range(len(next(iter(columns.values()))))
    ]


# --- What a question is asked of, and what it finds.

_NAMED = ("accuracy", "precision", "recall", "f1")  # shown beside each other for two classes


@dataclass(frozen=True)
class Evidence:
    """The columns of a table by their roles, and what was asked of them.

    Attributes
    ----------
    frame : polars.DataFrame
        The rows.
    counts : array or None
        How many rows of the table each row of ``frame`` stands for; None where it stands for one.
    total : int or None
        Rows of the table, where ``frame`` holds a random sample of them.
    roles : Roles
        Which column plays which part.
    metric : MetricBase or None
        What counts; None where the user named nothing.
    pos_label : object
        The positive class, or None where nobody named it.
    confidence : float
        Probability that limits hold.
    budget : int or None
        How many labels can be had.
    rng : int
        Seed of everything that is drawn.
    metric_code, metric_flag : str
        The metric as an expression, and as a flag of a command.
    votes : TableOfVotes or None
        Votes, a row each, where the table has that form.
    counted : Counts or None
        Counts that were passed in the place of rows; ``frame`` then holds the true labels alone,
        and ``counts`` how many rows have each.
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
    counts: IntArray | None = None
    total: int | None = None
    metric: MetricBase | None = None
    pos_label: Any = None
    confidence: float = 0.95
    budget: int | None = None
    rng: int = 0
    metric_code: str = "'accuracy'"
    metric_flag: str = ""
    votes: Any = None
    counted: Counts | None = None
    log: Any = None
    no_votes: str = ""
    patterns: Mapping[str, Any] = field(default_factory=dict)
    read: str = ""
    file: str = "FILE"

    @cached_property
    def parts(self) -> frozenset[str]:
        """What questions can be asked of: roles that have columns, and what else there is.

        ``labels`` are true labels of some rows, ``rivals`` several columns of predictions,
        ``votes`` those of judges in any layout.
        """
        there = {
            "labels": self.n_known > 0,
            "rivals": len(self.roles.pred) > 1,
            "votes": bool(self.roles.judge or self.no_votes) or self.votes is not None,
            "log": self.log is not None,
            "metric": self.metric is not None,
        }
        roles = {role for role, _ in self.roles.chosen()}
        return frozenset(roles | {part for part, is_there in there.items() if is_there})

    def column(self, name: str) -> Any:
        """Return a column as a series."""
        return self.frame[name]

    @property
    def headline(self) -> MetricBase:
        """What counts first: the metric that was named, or accuracy."""
        return as_metric("accuracy") if self.metric is None else self.metric

    def data(self, name: str, kind: str = "confusions") -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return what a column of predictions or scores is measured from, and what goes beside.

        That are the true labels and the column in the labelled rows, with their groups; or the
        counts of both, of a ``kind``, where these were passed.
        """
        if self.counted is not None:
            return (getattr(self.counted, kind)[name],), {}
        y = self.column(self.roles.label[0]).filter(self.known)
        groups = None if self.groups is None else self.groups.filter(self.known)
        return (y, self.column(name).filter(self.known)), {"groups": groups} | self.repeats

    def data_code(
        self, name: str, kind: str = "confusions"
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the lines that pick the labelled rows, and `data` as expressions."""
        if self.counted is not None:
            return (), (f"counts.{kind}[{name!r}]",)
        label = self.roles.label[0]
        known = f"known = frame.filter(pl.col({label!r}).is_not_null())"
        return (known,), (f"known[{label!r}]", f"known[{name!r}]")

    def metrics(self, name: str) -> tuple[MetricBase, ...]:
        """Return the metrics to show for a column of predictions; one that was named stands alone.

        Where nobody said what counts, two classes have four that people ask for, if it is known
        which of them is positive.
        """
        if self.metric is not None:
            return (self.metric,)
        data, _ = self.data(name)
        if isinstance(data[0], Confusion):
            table = data[0].pooled()
            seen = np.asarray(table.counts.sum(axis=0) + table.counts.sum(axis=1)) > 0
            kinds = set(table.classes[seen].tolist())
        else:
            kinds = set().union(*(column.drop_nulls().unique().to_list() for column in data))
        if len(kinds) == 2 and (self.pos_label is not None or told_positive([*kinds]) is not None):
            return tuple(as_metric(name) for name in _NAMED)
        names = ("accuracy", "balanced_accuracy")
        return tuple(as_metric(name) for name in names)

    @cached_property
    def classes(self) -> tuple[Any, ...]:
        """The distinct labels of the first column of labels, sorted; none where there is none."""
        if not self.roles.label:
            return ()
        return tuple(self.frame[self.roles.label[0]].drop_nulls().unique().sort().to_list())

    @property
    def is_open(self) -> str:
        """What to pass where two classes do not tell which is positive; nothing where they do."""
        if len(self.classes) != 2 or self.pos_label is not None:
            return ""
        try:
            order_classes(np.array(self.classes))
        except PositiveClassError as error:
            return error.sentence
        return ""

    @property
    def positive_said(self) -> str:
        """The positive class and how it is known, as text."""
        if self.pos_label is not None:
            return repr(self.pos_label)
        if self.is_open:
            return f"not known: {self.is_open}"
        ordered = order_classes(np.array(self.classes))
        return repr(ordered.classes[-1].item()) + ", by its name" * ordered.by_word

    @property
    def groups(self) -> Any:
        """The column of groups, or None; counts hold groups within."""
        if self.roles.group is None or self.counted is not None:
            return None
        return self.frame[self.roles.group]

    @cached_property
    def known(self) -> BoolArray:
        """Whether each row has a true label (the first column of labels)."""
        if not self.roles.label:
            return np.zeros(len(self.frame), dtype=bool)
        return np.asarray(~self.frame[self.roles.label[0]].is_null().to_numpy(), dtype=bool)

    @property
    def n(self) -> int:
        """How many rows there are."""
        return len(self.frame) if self.counts is None else int(self.counts.sum())

    @property
    def n_known(self) -> int:
        """How many rows have a true label."""
        return int(self.known.sum() if self.counts is None else self.counts[self.known].sum())

    @property
    def repeats(self) -> dict[str, Any]:
        """What to pass beside columns of the labelled rows, where they stand for many each."""
        if self.counts is None:
            return {}
        return {"sample_weight": self.counts[self.known], "weighting": "frequency"}

    def by_row(self, most: int = 200_000) -> Evidence:
        """Return the rows themselves, a random sample where there are more than ``most``.

        Of rows with a label and rows without, the fewer are kept whole as far as that goes.
        """
        if self.counts is None:
            return self
        rng = np.random.default_rng(self.rng)
        parts = [np.where(part, self.counts, 0) for part in (self.known, ~self.known)]
        fewer, more = sorted(int(part.sum()) for part in parts)
        room = min(fewer, most // 2)
        limits = {fewer: room, more: most - room}
        known, rest = (_drawn(part, limits[int(part.sum())], rng) for part in parts)
        place = rng.permutation(np.repeat(np.arange(len(self.counts)), known + rest))
        total = self.total if self.n <= most else self.n
        return replace(self, frame=self.frame[place], counts=None, total=total)

    @property
    def drawn(self) -> tuple[str, ...]:
        """What is assumed where a random sample of rows stands for the table."""
        if self.total is None:
            return ()
        return (f"A random sample of {self.n:,} of the {self.total:,} rows was looked at.",)

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
        is_named = self.n_known and self.counted is None  # counts do not say what it is called
        label = flag("label", self.roles.label[0]) if is_named else ""
        return f"{self.metric_flag}{positive}{label}"

    @property
    def named_items(self) -> str:
        """The flag that names the items, where no two have the same name."""
        name = self.roles.id
        unique = name in self.frame.columns and self.frame[name].n_unique() == len(self.frame)
        return flag("id", name) if unique and name is not None else ""

    @property
    def sampled(self) -> str:
        """What a sentence from labels assumes where not every row has one."""
        if self.all_known:
            return ""
        of = f"{self.n_known:,} labelled rows of {self.n:,}"
        return f", if the {of} were drawn at random"

    @property
    def from_labels(self) -> str:
        """What a number rests on: all labels, or some and how they were drawn."""
        return f", from {self.n_known:,} labels" if self.all_known else self.sampled

    @property
    def all_known(self) -> bool:
        """Whether every row has a true label."""
        return bool(self.known.all()) and bool(self.roles.label)


def _drawn(counts: IntArray, most: int, rng: np.random.Generator) -> IntArray:
    """Return how many rows of each kind are in a random sample, all where these are few."""
    if counts.sum() <= most:
        return counts
    return rng.multivariate_hypergeometric(counts, most, method="marginals")


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
        end = "" if self.unlock.endswith(".") else "."
        return Sentence(f"{self.question} {takes} ", self.unlock, end)

    def verdict(self) -> Verdict:
        """Return the question as a conclusion: these columns do not answer it."""
        why = "A fault in the data is in the way." if self.faulty else "The columns do not say."
        return Verdict(
            sentence=f"{self.question} {why}",
            badge=basis_of(),
            change=self.unlock,
        )


# --- Numbers and lists in words, and calls as code.

_IMPORTS = {
    "karat.": "import karat",
    "np.": "import numpy as np",
    "pl.": "import polars as pl",
    "Counts.": "from karat.sources import Counts",
    "load_metric(": "from karat.metrics import load_metric",
}


def percent(confidence: float) -> str:
    """Return a confidence as a percentage."""
    return f"{100 * confidence:g} %"


def between(r: Any) -> str:
    """Return a value with its limits."""
    return f"{r.value:.3f} (between {r.lower:.3f} and {r.upper:.3f})"


def of(title: str, name: Any) -> str:
    """Return what is measured of whom, as a sentence begins."""
    return f"{title[:1].upper()}{title[1:]} of {name}"


def several(names: Sequence[Any]) -> str:
    """Return names as an enumeration, the first five of many."""
    shown = [str(name) for name in names[:5]]
    if len(names) > 5:
        return f"{', '.join(shown)} and {len(names) - 5} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def flag(name: str, *values: Any) -> str:
    """Return a flag of a command once for every value, each as a shell takes it."""
    return "".join(f" --{name} {shlex.quote(str(value))}" for value in values)


def code_of(function: str, *arguments: str, **options: Any) -> str:
    """Return a call as code; arguments are expressions, options are values, None is left out."""
    return call_code(function, *(Coded(text, text) for text in arguments), **options)


def script(read: str, imported: str, *lines: str) -> str:
    """Return the lines of a section's code: imports, the line that reads the rows, the calls."""
    whole = "\n".join((read, *lines))
    used = [line for name, line in _IMPORTS.items() if re.search(rf"\b{re.escape(name)}", whole)]
    return block([*used, imported], read, *lines)
