"""Scan files, frames and tables of an engine; collect columns, or count without reading rows."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from karat._callers import caller_level
from karat._result import Passed, keeps_kind
from karat._sentences import Argument, Expected, Option
from karat._typing import Column
from karat._validate import check_choice, check_count, named, refuse_option
from karat.exceptions import ColumnError, DataError, KaratWarning
from karat.sources.cells import MOST_CELLS, cells_of
from karat.sources.counting import (
    FEW,
    RowWeight,
    confusion_of,
    grouped,
    joint_counts_of,
    pattern_counts_of,
    roc_counts_of,
    vote_counts_of,
)
from karat.sources.engines import FOLDS, check_names, collect, engine_errors, engine_of
from karat.sources.logs import LogFacts, judged_votes, read_log
from karat.sources.opening import (
    is_query,
    list_files,
    open_bytes,
    open_engine_table,
    open_files,
    open_frame,
    open_query,
    open_spark_table,
)
from karat.sources.result import Counts, count_all
from karat.sources.stored import is_counts
from karat.statistics import Confusion, JointRocCounts, PatternCounts, RocCounts, VoteCounts


def _check_counts(name: str, counts: object) -> None:
    """Refuse counts of a score that are no exact counts of rows of both classes."""
    if not isinstance(counts, RocCounts) or counts.cells or counts.squares is not None:
        raise DataError(
            f"the counts of {name!r} are no exact counts of rows; expected source.roc_counts"
        )
    if not counts.totals.all():
        raise DataError(f"the counts of {name!r} hold one class only; expected rows of two")


@keeps_kind
def scan(
    source: Any,
    *,
    format: str | None = None,  # noqa: A002  (what readers of files call it)
    connection: Any = None,
    session: Any = None,
    errors: str = "failures",
) -> Source:
    """Open a table of any kind and size, without reading its rows.

    Parameters
    ----------
    source : path, frame, query or table name
        A file (``.csv``, ``.tsv``, ``.jsonl``, each perhaps with ``.gz``, ``.parquet``,
        ``.arrow``), a folder of such files, a pattern such as ``"scores/*.parquet"``, ``"-"`` for
        the standard input; a frame of pandas, Polars or Arrow, a lazy Polars frame, a DuckDB
        relation or a query (``"select … from 'scores.parquet'"``), a PySpark frame, or with
        ``session`` the name of a table; a table with its engine, ``"duckdb:mails.db#scores"``,
        which is only read, or ``"spark:catalog.scores"`` of the session that runs or of a new one;
        or an evaluation log of inspect, lm-eval, promptfoo, deepeval, MLflow or Label Studio, a
        Snorkel matrix (``.npy``) or a WRENCH file.
    format : str, optional
        What a file is where its name does not say: ``csv``, ``tsv``, ``jsonl``, ``parquet``,
        ``arrow``, or a kind of log: ``inspect``, ``lm-eval``, ``promptfoo``, ``deepeval``,
        ``mlflow``, ``label-studio``, ``snorkel``, ``wrench``.
    connection : duckdb.DuckDBPyConnection, optional
        Where a query is run; by default DuckDB's default connection.
    session : pyspark.sql.SparkSession, optional
        The session whose table ``source`` names.
    errors : {"failures", "ignore"}, default "failures"
        What samples of a log of inspect are that ended in an error and were judged by nobody:
        failures of the system, or left out, so that a system that crashes on hard items looks
        better than it is. `LogFacts` counts them.

    Returns
    -------
    Source
        Its ``roles(...)`` say what the columns are; then it gives columns or counts.

    Examples
    --------
    >>> import polars as pl
    >>> data = scan(pl.DataFrame({"y": ["ham", "spam"], "score": [0.1, 0.8]}))
    >>> data.roles(label="y", score="score").roc_counts().scores.tolist()
    [0.1, 0.8]
    """
    import narwhals as nw

    ignore = check_choice(errors, "errors", ("failures", "ignore")) == "ignore"
    if not isinstance(source, str | Path):
        return Source(
            frame=open_frame(source), name=f"a frame of {type(source).__module__.partition('.')[0]}"
        )
    if not str(source).strip():
        raise DataError(
            Argument("source"),
            f" is {str(source)!r}; expected ",
            Expected("a path, a query or the name of a table"),
        )
    if session is not None:
        return Source(frame=open_spark_table(str(source), session), name=f"the table {source}")
    engine_table = open_engine_table(str(source))
    if engine_table is not None:
        frame, held, plain = engine_table
        return Source(frame=frame, name=f"the table {source}", _held=held, _plain=plain)
    if isinstance(source, str) and is_query(source):
        return Source(frame=open_query(source, connection), name="a query")
    if connection is not None:
        refuse_option(source, "source", "a query such as 'select * from scores' with connection=")
    if str(source) == "-":
        table = open_bytes(sys.stdin.buffer.read(), format, "the standard input")
        return Source(frame=nw.from_native(table), name="the standard input", _plain=True)
    files = list_files(source)
    if len(files) == 1 and is_counts(files[0]):
        raise DataError(
            f"{files[0].name} holds counts, and this needs rows; Counts.load reads them, and "
            "karat.evaluate answers from them"
        )
    log = read_log(files, format, ignore_errors=ignore)
    if log is not None:
        if log.facts.errors:
            said = log.facts.errors_said()
            warnings.warn(f"{_named(files)}: {said}", KaratWarning, stacklevel=caller_level())
        return Source(
            frame=nw.from_native(log.rows.lazy()),
            name=_named(files),
            _plain=True,
            log=log.facts,
            chosen=ChosenRoles({role: (c,) for role, c in log.facts.roles.items()}),
        )
    check_choice(format, "format", ("csv", "tsv", "jsonl", "parquet", "arrow"), none=True)
    return Source(frame=nw.from_native(open_files(files, format)), name=_named(files), _plain=True)


def _named(files: list[Path]) -> str:
    return files[0].name if len(files) == 1 else f"{len(files)} files ({files[0].name} …)"


class ChosenRoles(dict[str, tuple[str, ...]]):
    """The columns of each role; a copy is made to change it."""

    def need(self, role: str) -> tuple[str, ...]:
        """Return the columns of a role that must be there."""
        if not self.get(role):
            raise ColumnError(
                f"no column has the role {role!r}; name it with roles({role}=...). Roles: {self}"
            )
        return self[role]

    def one(self, role: str, name: str | None) -> str:
        """Return the one column of a role, or the one named of several."""
        columns = self.need(role)
        if name is None and len(columns) > 1:
            raise ColumnError(
                f"{len(columns)} columns have the role {role!r}: name one of {named(columns)}"
            )
        if name is not None and name not in columns:
            raise ColumnError(f"{name!r} has not the role {role!r}; {named(columns)} have")
        return columns[0] if name is None else name

    def maybe(self, role: str) -> str | None:
        """Return the first column of a role, None if there is none."""
        return self[role][0] if self.get(role) else None

    def listed(self, most: int = 8) -> str:
        """Return the columns of every role, the first few of many."""
        parts = []
        for role, columns in self.items():
            more = f" and {len(columns) - most} more" if len(columns) > most else ""
            parts.append(f"{role}: {', '.join(columns[:most])}{more}")
        return "; ".join(parts)

    def refuse(self, role: str, why: str) -> None:
        """Refuse a role with which something cannot be counted."""
        if role in self:
            raise ColumnError(f"the column {self[role][0]!r} has the role {role!r}: {why}")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Source:
    """A table of any engine and any size, as `scan` returns it.

    It gives columns, which are collected once and therefore belong to one another row by row, or
    counts, for which the engine reads the rows and only the counts come back.

    Attributes
    ----------
    frame : narwhals.LazyFrame
        The table; ``frame.to_native()`` is that of the engine.
    name : str
        What was scanned, for people.
    chosen : mapping
        The columns of each role.
    log : LogFacts or None
        What was found in a log.

    Examples
    --------
    >>> import polars as pl
    >>> import karat
    >>> table = pl.DataFrame({"y": [0, 1, 1], "a": [0, 1, 0], "lf_1": [0, 1, 1], "lf_2": [0, 1, 0]})
    >>> data = karat.scan(table).roles(label="y", pred="a", weak="lf_*")
    >>> data.confusion().counts.tolist()
    [[1, 0], [1, 1]]
    >>> data.pattern_counts().n
    3.0
    """

    frame: Any
    name: str = "the table"
    chosen: ChosenRoles = field(default_factory=ChosenRoles)
    log: LogFacts | None = None
    _collected: list[Any] = field(default_factory=list)
    _passed: Passed | None = field(default=None, compare=False)
    _important: bool = True
    _plain: bool = False
    _held: Any = None  # what must stay open as long as the table is used

    @property
    def engine(self) -> str:
        """The engine that reads the rows, such as ``polars``, ``duckdb`` or ``pyspark``."""
        return engine_of(self.frame)

    @property
    def names(self) -> list[str]:
        """The names of all columns."""
        with engine_errors(self.engine):
            return list(self.frame.collect_schema().names())

    @property
    def columns(self) -> Any:
        """The columns that have a role (of a log, or if none has, all) as a Polars frame, once.

        Rows of a lazy table come in another order each time it is run; those of one frame do not.
        """
        if not self._collected:
            with engine_errors(self.engine):
                self._collected.append(collect(self.frame.select(*self._wanted())))
        return self._collected[0]

    @property
    def is_small(self) -> bool:
        """Whether there are so few rows that all may be looked at; they are then read, once."""
        import narwhals as nw

        if self._collected:
            return len(self._collected[0]) <= FEW
        if self.engine != "polars":  # rows stay where they are until it is known how many there are
            with engine_errors(self.engine):
                return int(collect(self.frame.select(nw.len().alias("n")))["n"][0]) <= FEW
        with engine_errors(self.engine):
            first = collect(self.frame.select(*self._wanted()).head(FEW + 1))
        if len(first) <= FEW:
            self._collected.append(first)
        return len(first) <= FEW

    def _wanted(self) -> list[str]:
        """Return the columns that have a role; of a log, or if none has one, all."""
        known = () if self.log is not None else self.chosen.values()
        return list(dict.fromkeys(c for columns in known for c in columns)) or self.names

    def distinct_rows(
        self, columns: Sequence[str] | None = None, *, count: str = "number of rows"
    ) -> Any:
        """Return the distinct rows of some columns, and how many rows each stands for.

        They are counted in one scan where the rows are. Labels, predictions, groups and rounded
        scores repeat, so a hundred million rows may have a few thousand distinct ones, and what
        takes ``weighting="frequency"`` answers from these as from the rows.

        Parameters
        ----------
        columns : list of str, optional
            Which columns; by default those that have a role, or all.
        count : str, default "number of rows"
            The name of the column of counts.

        Returns
        -------
        polars.DataFrame

        Examples
        --------
        >>> import polars as pl
        >>> import karat
        >>> table = pl.DataFrame({"y": [0, 1, 1, 1], "pred": [0, 1, 1, 0]})
        >>> rows = karat.scan(table).distinct_rows()
        >>> rows.rows()
        [(0, 0, 1), (1, 0, 1), (1, 1, 2)]
        >>> from karat.metrics import accuracy
        >>> how_often = {"sample_weight": rows["number of rows"], "weighting": "frequency"}
        >>> accuracy.estimate(rows["y"], rows["pred"], **how_often).value
        0.75
        """
        import polars as pl

        names = self._wanted() if columns is None else list(columns)
        cells = cells_of(self.frame, names)
        if cells.is_sample:
            raise DataError(
                f"more than {MOST_CELLS:,} of {cells.n:,} rows of {named(names)} are distinct; "
                "round the scores, take fewer columns, or read the rows"
            )
        return cells.rows.with_columns(pl.Series(count, cells.counts))

    def roles(
        self,
        *,
        label: Roles = None,
        pred: Roles = None,
        score: Roles = None,
        prob: Roles = None,
        weak: Roles = None,
        judge: Roles = None,
        order: Roles = None,
        group: Roles = None,
        cluster: Roles = None,
        weight: Roles = None,
        id: Roles = None,  # noqa: A002  (the name of the role)
        weighting: str | None = None,
    ) -> Source:
        """Say what the columns are; names, lists of names, or patterns such as ``"lf_*"``.

        Parameters
        ----------
        label, pred, score, prob : str or list, optional
            True labels, predicted ones, scores of the positive class, and class probabilities.
        weak, judge, order : str or list, optional
            Weak labelers, voters, and the order in which a pair was shown.
        group, cluster, weight, id : str, optional
            The group or domain of a row, what makes rows dependent, its weight, its identifier.
        weighting : {"importance", "frequency"}, optional
            What weights are: of importances only ratios count; frequencies are numbers of rows.

        Returns
        -------
        Source
            The same table with these roles added to those it has.
        """
        given = (label, pred, score, prob, weak, judge, order, group, cluster, weight, id)
        chosen = choose_roles(self.names, dict(zip(ROLES, given, strict=True)), self.chosen)
        check_names(self.engine, (column for columns in chosen.values() for column in columns))
        kind = check_choice(weighting, "weighting", ("importance", "frequency"), none=True)
        important = self._important if kind is None else kind == "importance"
        return replace(self, chosen=chosen, _important=important, _collected=[])

    def _weight(self) -> RowWeight | None:
        column = self.chosen.maybe("weight")
        return None if column is None else RowWeight(column, self._important)

    @keeps_kind
    def pattern_counts(
        self,
        pred: str | None = None,
        *,
        folds: int | None = None,
        classes: Column | None = None,
        null: str = "not asked",
    ) -> PatternCounts:
        """Count predictions within each pattern of weak labels, in one scan.

        Parameters
        ----------
        pred : str, optional
            Which predictions, where several columns have that role.
        folds : int, optional
            Folds for cross-fitting, by a hash of the ``id`` column and so the same on every engine;
            by default 5 if there is such a column.
        classes, null
            As in `karat.statistics.pattern_counts`.

        Returns
        -------
        PatternCounts
            For `karat.bounds.performance_bounds`. Two of them can be added.
        """
        self.chosen.refuse("weight", "weights are not counted by pattern; pass the rows with them")
        self.chosen.refuse("cluster", "clusters need the rows themselves; pass data.columns")
        which = self.chosen.one("pred", pred)
        weak, group = self.chosen.need("weak"), self.chosen.maybe("group")
        by_id = self.chosen.maybe("id")
        if folds is not None and by_id is None:
            refuse_option(folds, "folds", "an id column with it, roles(id=...)")
        number = 0 if by_id is None else FOLDS if folds is None else check_count(folds, "folds")
        keys = [*weak, which, *([group] if group else [])]
        found = grouped(self.frame, keys, fold_by=by_id, folds=number)
        return pattern_counts_of(found, which, weak, group, classes, null, number)

    @keeps_kind
    def vote_counts(self, *, classes: Column | None = None, null: str = "not asked") -> VoteCounts:
        """Count the votes of the judges, by group and true label if there are any, in one scan.

        Parameters
        ----------
        classes, null
            As in `karat.statistics.patterns`.

        Returns
        -------
        VoteCounts
            For `karat.consensus.ErrorEstimator.fit`. Two of them can be added.
        """
        judges = self.chosen.need("judge" if "judge" in self.chosen else "weak")
        group = self.chosen.maybe("group")
        label = None if "label" not in self.chosen else self.chosen.one("label", None)
        keys = [*judges, *([group] if group else []), *([label] if label else [])]
        found = grouped(self.frame, keys, weight=self._weight())
        return vote_counts_of(found, judges, group, label, classes, null)

    @keeps_kind
    def roc_counts(
        self,
        score: str | None = None,
        *,
        by: str | None = None,
        pos_label: Any = None,
        classes: Column | None = None,
        cells: int | None = None,
    ) -> Any:
        """Count positives and negatives per score, in one scan.

        Parameters
        ----------
        score : str, optional
            Which scores, where several columns have that role.
        by : str, optional
            A column, or ``"group"`` for the one of that role: a mapping by its values is returned.
        pos_label, classes
            As in `karat.statistics.roc_counts`.
        cells : int, optional
            Count in so many equal cells of the scores and not at each. By default that is done,
            with 2**20 cells, only where there are more than ten million distinct scores.

        Returns
        -------
        RocCounts, or dict of them by group
            For `karat.ranking.weighted_auc`.
        """
        self.chosen.refuse("cluster", "clusters need the rows themselves; pass data.columns")
        column = self.chosen.maybe("group") if by == "group" else by
        if by is not None and (column is None or column not in self.names):
            raise ColumnError(
                Argument("by"),
                f" is {by!r}; expected ",
                Expected("'group' with that role, or a column"),
            )
        if cells is not None and (column is not None or "weight" in self.chosen):
            refuse_option(cells, "cells", "None with by= or weights")
        parts: dict[Any, RocCounts] = roc_counts_of(
            self.frame,
            self.chosen.one("label", None),
            self.chosen.one("score", score),
            by=column,
            weight=self._weight(),
            pos_label=pos_label,
            classes=classes,
            cells=None if cells is None else check_count(cells, "cells"),
        )
        return parts[None] if column is None else parts

    @keeps_kind
    def joint_roc_counts(
        self, first: RocCounts, second: RocCounts, *, names: tuple[str, str], cells: int = 64
    ) -> JointRocCounts:
        """Count two scores at once, in cells of about equally many rows, in one scan.

        It is what a paired comparison needs beyond the counts of each score: how two models err
        together.

        Parameters
        ----------
        first, second : RocCounts
            What ``roc_counts`` gave for each score.
        names : tuple of str
            The columns of the two scores.
        cells : int, default 64
            Cells for each class and score; more of them leave less to be bounded.

        Returns
        -------
        JointRocCounts

        Examples
        --------
        >>> import polars as pl
        >>> from karat.sources import scan
        >>> table = pl.DataFrame({"y": [0, 1, 0, 1], "a": [1, 2, 3, 4], "b": [1, 3, 2, 4]})
        >>> data = scan(table).roles(label="y", score=["a", "b"])
        >>> counts = [data.roc_counts(name) for name in ("a", "b")]
        >>> data.joint_roc_counts(*counts, names=("a", "b"), cells=2).n
        4.0
        """
        number = check_count(cells, "cells")
        listed = list(names) if isinstance(names, Sequence) and not isinstance(names, str) else []
        if len(listed) != 2 or listed[0] == listed[1]:
            refuse_option(names, "names", "the columns of two scores, such as ('a', 'b')")
        self.chosen.refuse("weight", "joint counts are of rows; count both scores without weights")
        for name, counts in zip(listed, (first, second), strict=True):
            _check_counts(name, counts)
        if not np.array_equal(first.classes, second.classes):
            raise DataError(
                f"the counts of {listed[0]!r} have the classes {first.classes.tolist()} "
                f"and those of {listed[1]!r} {second.classes.tolist()}; count both with "
                "the same ",
                Argument("pos_label"),
            )
        label = self.chosen.one("label", None)
        columns = [self.chosen.one("score", name) for name in listed]
        joint = joint_counts_of(
            self.frame, label, dict(zip(columns, (first, second), strict=True)), number
        )
        joint.check_margins({columns[0]: first, columns[1]: second})
        return joint

    @keeps_kind
    def confusion(self, pred: str | None = None, *, classes: Column | None = None) -> Confusion:
        """Count truth against prediction, by group if there is one, in one scan.

        Parameters
        ----------
        pred, classes
            As in ``pattern_counts``.

        Returns
        -------
        Confusion
            Two of them can be added.
        """
        label, which = self.chosen.one("label", None), self.chosen.one("pred", pred)
        group = self.chosen.maybe("group")
        keys = [label, which, *([group] if group else [])]
        found = grouped(self.frame, keys, weight=self._weight())
        return confusion_of(found, label, which, group, classes)

    @keeps_kind
    def counts(
        self,
        *,
        null: str = "not asked",
        pos_label: Any = None,
        cells: int | None = None,
        classes: Column | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> Counts:
        """Count all that the roles allow: what ``karat count`` writes. Counts can be added.

        Parameters
        ----------
        null, pos_label
            As in ``vote_counts`` and in ``roc_counts``.
        cells : int, optional
            As in ``roc_counts``; exact counts of scores that all differ are the scores of rows.
        classes : column (k,), optional
            All classes in the wanted order, for a part of the data in which not all of them occur.
        progress : callable, optional
            Called with a sentence that says which scan begins.
        """
        return count_all(self, null, pos_label, cells, classes, progress)

    def votes(self) -> Any:
        """Return the votes of an evaluation log as `karat.consensus.ErrorEstimator` takes them.

        A row per vote: ``item`` (a sample in an epoch of a system), ``classifier`` (the judge),
        ``vote`` and ``domain`` (the question that was judged), with ``gold``, ``score``,
        ``cluster`` (the sample), ``model`` and ``epoch``. Verdicts that failed are left out, and so
        are questions that one judge alone answered. It is a Polars frame.
        """
        if self.log is None or "judge" not in self.names:
            raise ColumnError(f"{self.name} is no log with judges; pass data.columns of a table")
        return judged_votes(collect(self.frame), self.name)

    def summary(self) -> str:
        """Return what was scanned and what its columns are."""
        said = self.chosen.listed()
        log = "" if self.log is None else f" {self.log.summary()}"
        roles = f" ({said})" if said else ", no roles yet"
        return f"{self.name}, {len(self.names)} columns on {self.engine}{roles}.{log}"

    def __repr__(self) -> str:
        return f"<Source: {self.summary()}>"


# --- Which columns are what: roles by names, lists of names and patterns.
#
# `choose_roles` finds the columns of each role. A pattern such as ``lf_*`` takes every column that
# it fits and that no other role names outright; a name that is no column is answered with the
# closest. `ChosenRoles` is the answer, and says what to do where a role is missing.

Roles: TypeAlias = str | Sequence[str] | None
ROLES = (
    "label",
    "pred",
    "score",
    "prob",
    "weak",
    "judge",
    "order",
    "group",
    "cluster",
    "weight",
    "id",
)
_SINGLE = ("group", "cluster", "weight", "id")
# A column can be a prediction and a voter at once, and a domain can be a cluster too; a true label
# or an identifier is nothing else.
_ALONE = ("label", "weight", "id")


def choose_roles(
    names: Sequence[str], given: Mapping[str, Any], before: ChosenRoles
) -> ChosenRoles:
    """Return the columns of each role, those given now in place of those before."""
    asked = {role: _as_list(role, value) for role, value in given.items() if value is not None}
    kept = {role: columns for role, columns in before.items() if role not in asked}
    exact = {
        role: [p for p in patterns if p in names or not _is_pattern(p)]
        for role, patterns in asked.items()
    }
    taken = {
        column: role for role, columns in [*kept.items(), *exact.items()] for column in columns
    }
    chosen = dict(kept)
    for role, patterns in asked.items():
        found: list[str] = []
        for pattern in patterns:
            if pattern in exact[role]:
                found += [_existing(role, pattern, names)]
                continue
            hits = [n for n in names if fnmatchcase(n, pattern) and taken.get(n, role) == role]
            if not hits:
                raise ColumnError(
                    f"{role}={pattern!r}: no column matches; there are {named(names)}"
                )
            found += hits
        twice = [c for i, c in enumerate(found) if c in found[:i] and c in exact[role]]
        if twice and exact[role].count(twice[0]) > 1:
            raise ColumnError(f"{role} names the column {twice[0]!r} twice; name it once")
        chosen[role] = tuple(dict.fromkeys(found))
        if role in _SINGLE and len(chosen[role]) != 1:
            raise ColumnError(f"{role} is {list(chosen[role])}; expected one column")
    _refuse_two_roles(chosen)
    return ChosenRoles({role: chosen[role] for role in ROLES if role in chosen})


def _as_list(role: str, value: Any) -> list[str]:
    listed = isinstance(value, Sequence) and not isinstance(value, str)
    patterns = list(value) if listed else [value]
    wrong = [p for p in patterns if not isinstance(p, str)]
    if wrong or not patterns:
        raise ColumnError(
            f"{role} is {value!r}; expected the name of a column, a pattern or a list of them"
        )
    return patterns


def _is_pattern(text: str) -> bool:
    return any(mark in text for mark in "*?[")


def _existing(role: str, name: str, names: Sequence[str]) -> str:
    if name in names:
        return name
    same = [other for other in names if other.casefold() == name.casefold()]
    close = same or get_close_matches(name, names, n=1)
    meant = f"did you mean {close[0]!r}?" if close else f"there are {named(names)}"
    raise ColumnError(
        Option(role, name), ": there is no such column; ", meant, column=name, given=name
    )


def _refuse_two_roles(chosen: Mapping[str, Sequence[str]]) -> None:
    for alone in _ALONE:
        for role, columns in chosen.items():
            both = set(columns) & set(chosen.get(alone, ()))
            if role != alone and both:
                raise ColumnError(
                    f"the column {sorted(both)[0]!r} is named as {alone} and as {role}; expected "
                    "one role"
                )
