"""A table of any size: its columns, their roles, and its counts."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from karat._frames import Passed, keeps_kind
from karat._typing import Column
from karat._validate import check_choice, check_count, refuse_option
from karat.exceptions import ColumnError
from karat.sources.columns import ROLES, ChosenRoles, Roles, choose_roles
from karat.sources.counting import (
    RowWeight,
    confusion_of,
    grouped,
    pattern_counts_of,
    roc_counts_of,
    vote_counts_of,
)
from karat.sources.engines import FOLDS, collect, engine_errors, engine_of
from karat.sources.logs import LogFacts, judged_votes
from karat.sources.result import Counts, count_all
from karat.statistics import Confusion, PatternCounts, RocCounts, VoteCounts

__all__ = ["Source"]


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

    @property
    def engine(self) -> str:
        """The engine that reads the rows, such as ``polars``, ``duckdb`` or ``pyspark``."""
        return engine_of(self.frame)

    @property
    def names(self) -> list[str]:
        """The names of all columns."""
        return list(self.frame.collect_schema().names())

    @property
    def columns(self) -> Any:
        """The columns that have a role (of a log, or if none has, all) as a Polars frame, once.

        Rows of a lazy table come in another order each time it is run; those of one frame do not.
        """
        if not self._collected:
            known = () if self.log is not None else self.chosen.values()
            wanted = list(dict.fromkeys(c for columns in known for c in columns))
            with engine_errors(self.engine):
                self._collected.append(collect(self.frame.select(*(wanted or self.names))))
        return self._collected[0]

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
    ) -> "Source":
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
            For `karat.bounds.performance_bounds_from_counts`. Two of them can be added.
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
            For `karat.ranking.weighted_auc_from_counts`.
        """
        self.chosen.refuse("cluster", "clusters need the rows themselves; pass data.columns")
        column = self.chosen.maybe("group") if by == "group" else by
        if by is not None and (column is None or column not in self.names):
            raise ColumnError(f"by is {by!r}; expected 'group' with that role, or a column")
        if cells is not None and (column is not None or "weight" in self.chosen):
            refuse_option(cells, "cells", "None with by= or weights")
        parts: dict[Any, RocCounts] = roc_counts_of(
            self.frame, self.chosen.one("label", None), self.chosen.one("score", score), by=column,
            weight=self._weight(), pos_label=pos_label, classes=classes,
            cells=None if cells is None else check_count(cells, "cells"),
        )  # fmt: skip
        return parts[None] if column is None else parts

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
