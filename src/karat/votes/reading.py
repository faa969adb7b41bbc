"""The reader of vote tables: wide, long or counted votes become patterns with counts.

Whatever the layout, a null was not asked and −1 abstained; names and dtypes come back as passed.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from karat._callers import caller_level
from karat._result import call_columns, keeps_kind
from karat._sentences import Argument, Option, Remedy
from karat._typing import AnyArray, BoolArray, Column, FloatArray, Frame, IntArray
from karat._validate import (
    check_classes,
    check_null,
    check_number,
    check_same_length,
    check_weighting,
    check_weights,
    collected_alone,
    encode_labels,
    encode_names,
    is_lazy,
    named,
    quoted_text,
    read_column,
    read_columns,
    refuse_option,
    shown,
    union_of_values,
)
from karat.exceptions import (
    ColumnError,
    DataError,
    KaratWarning,
    LabelError,
    LazyFrameError,
    LengthMismatchError,
)
from karat.statistics.patterns import (
    Patterns,
    distinct_rows,
    distinct_votes,
    effective_counts,
    find_patterns,
    recode,
    summed,
)
from karat.votes.table import (
    Keys,
    PassedValues,
    TableOfVotes,
    perhaps_long,
    refuse_identifiers,
    table_of,
)


@keeps_kind
def read_patterns(
    weak_labels: Frame | Patterns,
    *,
    classes: Column | None = None,
    sample_weight: Column | None = None,
    null: str = "not asked",
) -> Patterns:
    """Read votes from a wide table, a long one or counts, and reduce them to patterns.

    The patterns can be passed wherever weak labels are: to label models, to bounds and to
    `karat.consensus.ErrorEstimator`. So a long table can be used with predictions, and parts of
    the data can be counted apart and added.

    Parameters
    ----------
    weak_labels : matrix, frame or Patterns
        Wide: one row per item, one column per labeler; -1 where a labeler abstained, null where it
        was not asked. Long: a frame with a row per vote and columns of items, labelers and votes; a
        pair of item and labeler without a row was not asked. Or patterns that were counted before.
    classes : column (k,), optional
        The classes in the wanted order; by default those found, sorted.
    sample_weight : column, optional
        Weights of at least 0, one per row; in a long table equal for all rows of an item.
    null : {"not asked", "abstain"}, default "not asked"
        What a null is. It is not asked unless said otherwise; -1 is always an abstention.

    Returns
    -------
    Patterns
        Rows of a wide table keep their order; the items of a long one are sorted.

    Notes
    -----
    The columns of a long table are known by their names, without case, spaces, hyphens and
    underscores: items by ``item``, ``task``, ``question``, ``example``, ``document``, ``doc``,
    ``unit``, ``sample`` (also with ``_id``), ``text_id``, ``id``, ``row`` and the like; labelers by
    ``classifier``, ``annotator``, ``judge``, ``rater``, ``worker``, ``coder``, ``labeler``,
    ``grader``, ``model``, ``user`` and the like (also with ``_id`` or ``_name``); votes by
    ``vote``, ``verdict``, ``label``, ``answer``, ``rating``, ``annotation``, ``judgement``,
    ``category``, ``class``, ``response``, ``value``, ``choice`` and the like. Unless they are
    ``item``, ``classifier`` and ``vote``, the table is long only if items have several rows.
    Several columns that fit equally well are refused.

    Examples
    --------
    >>> import pandas as pd
    >>> votes = {"item": [7, 7, 3], "classifier": ["a", "b", "b"], "vote": ["ham", "-1", "spam"]}
    >>> found = read_patterns(pd.DataFrame(votes))
    >>> found.labels()[found.ids].tolist()
    [[None, 'spam'], ['ham', -1]]
    """
    return read_weak_labels(weak_labels, classes, sample_weight=sample_weight, null=null)


# --- Votes as users pass them: a wide table, a long one, or counts of patterns.


def read_ballots(
    votes: Any,
    classes: Column | None = None,
    *,
    labels: AnyArray | None = None,
    threshold: Any = None,
    null: str = "not asked",
) -> Ballots:
    """Read votes; ``labels`` are gold labels, whose values count as classes too."""
    check_null(null)
    also = None if labels is None else {"y_true": labels}
    if isinstance(votes, Patterns):
        _check_counted(votes, null, by_row=False)
        if threshold is not None:
            raise DataError(
                "votes are counts of patterns and ",
                Option("threshold"),
                " cuts probabilities",
            )
        found = _recoded(votes, classes, also)
        if found.squares is not None:
            found = replace(found, counts=effective_counts(found.counts, found.squares))
        return Ballots.of_patterns(found, counted=True)
    table = table_of(votes, "votes")
    if table.is_long:
        return read_long(table, classes, labels, threshold=threshold, null=null)
    with perhaps_long(table):
        return _read_wide(table, classes, also, threshold, null)


def _read_wide(
    table: TableOfVotes,
    classes: Column | None,
    also: dict[str, AnyArray] | None,
    threshold: Any,
    null: str,
) -> Ballots:
    """Read a table with a column per voter."""
    names: list[str] | None = None
    keys, wide = table.keys(), table.wide
    refuse_identifiers(wide, classes if threshold is None else (), "votes")
    voters = None if table.frame is None else PassedValues.of_columns(wide)
    if threshold is not None:
        listed = None if voters is None else voters.tolist()
        wide, names, classes = cut_columns(wide, threshold, classes, listed)
    try:
        found = find_patterns(wide, classes, also=also, name="votes", null=null)
    except ColumnError as error:
        if isinstance(error.given, float):  # a number that is no class, such as a probability
            raise ColumnError(
                error,
                ". Probabilities are cut only when you ask: ",
                Option("threshold"),
            ) from error
        raise
    found = found if names is None else replace(found, names=tuple(names))
    return Ballots.of_patterns(found, voters=voters, keys=keys, called=answer_names(table))


def read_weak_labels(
    weak_labels: Frame | Patterns,
    classes: Column | None = None,
    *,
    sample_weight: Column | None = None,
    also: dict[str, AnyArray] | None = None,
    null: str = "not asked",
    by_row: bool = False,
    beside_rows: bool = False,
) -> Patterns:
    """Read weak labels as dense patterns; the items of a long table are sorted by their names.

    ``by_row`` says that the rows are matched with other rows, or answered one by one, and
    ``beside_rows`` that other columns have one row per item, which a long table has not.
    """
    if isinstance(weak_labels, Patterns):
        weight = check_weights(sample_weight)
        _check_counted(weak_labels, null, by_row=by_row or beside_rows or weight is not None)
        found = _recoded(weak_labels, classes, also)
        if weight is None:
            return found
        check_same_length(weak_labels=found.ids, sample_weight=weight)
        size = len(found.patterns)
        counts, squares = (summed(found.ids, w, size) for w in (weight, weight**2))
        return replace(found, counts=counts, squares=squares)
    lazy = is_lazy(weak_labels)
    weak_labels = collected_alone(weak_labels, "weak_labels", sample_weight, *(also or {}).values())
    table = table_of(weak_labels, "weak_labels", keys=("item",))
    if not table.is_long:
        wide = table.wide
        with perhaps_long(table):
            refuse_identifiers(wide, classes, "weak_labels")
            found = find_patterns(wide, classes, sample_weight=sample_weight, also=also, null=null)
        return replace(found, in_order=not lazy)
    if beside_rows:
        raise ColumnError(
            Argument("weak_labels"),
            " is a long table, one row per vote, and the predictions have one row per item",
            Remedy(
                "pass karat.votes.read_patterns(weak_labels), and the predictions in the "
                "sorted order of its items"
            ),
        )
    labels = None if also is None else union_of_values(also)
    ballots = read_long(table, classes, labels, null=null)
    weight = ballots.per_item(check_weights(sample_weight), "sample_weight")
    return call_columns(ballots.patterns(weight), table.named(name="voter", item="item"))


def _check_counted(found: Patterns, null: str, *, by_row: bool) -> None:
    """Refuse counts of patterns where the single rows are needed."""
    if check_null(null) and (found.patterns == -2).any():
        raise DataError(
            Argument("weak_labels"),
            " are counts of patterns in which nulls are already not asked, so ",
            Option("null", "abstain"),
            " comes too late",
            Remedy("pass it where the rows are counted"),
        )
    if not by_row:
        return
    if not found.in_order:
        raise LazyFrameError(
            Argument("weak_labels"),
            " are patterns of a lazy frame, whose rows come in no fixed order, so "
            "they cannot be matched with other rows; collect the frame once and "
            "count its patterns then",
        )
    if not np.array_equal(found.counts, np.bincount(found.ids, minlength=len(found.counts))):
        raise DataError(
            Argument("weak_labels"),
            " are patterns counted with weights, so the weight of a single row is "
            "not known any more",
            Remedy("pass the rows themselves, with ", Option("sample_weight")),
        )


def _recoded(found: Patterns, classes: Column | None, also: dict[str, AnyArray] | None) -> Patterns:
    """Return counted patterns as codes of the wanted classes."""
    known = found.classes
    if classes is None and not also:
        return found
    order = (
        union_of_values({"votes": known, **(also or {})})
        if classes is None
        else check_classes(classes)
    )
    if np.array_equal(order, known):
        return found  # rows of counts by domain may be equal, and stay apart
    listed = order.tolist()
    missing = [label for label in known.tolist() if label not in listed]
    if missing:
        raise LabelError(
            f"the votes hold {named(missing)}, which is not among the classes {named(listed)}; "
            "name all classes"
        )
    codes = recode(found.patterns, np.array([listed.index(c) for c in known.tolist()]))
    place, first = distinct_votes(codes, len(order))  # another order of classes sorts otherwise
    counts = np.empty_like(found.counts)
    counts[place] = found.counts
    squares = None
    if found.squares is not None:
        squares = np.empty_like(found.squares)
        squares[place] = found.squares
    return replace(
        found,
        patterns=codes[first],
        counts=counts,
        squares=squares,
        ids=place[found.ids],
        classes=order,
    )


def answer_names(table: TableOfVotes) -> dict[str, str]:
    """Return what columns of answers about voters are called."""
    return table.named(item="item", classifier="voter", judge="voter", vote="vote", domain="domain")


def read_long(
    table: TableOfVotes,
    classes: Column | None,
    labels: AnyArray | None,
    *,
    threshold: Any = None,
    null: str = "not asked",
) -> Ballots:
    """Read the columns of items, voters, votes and perhaps domains of a long table."""
    codes, names = {}, {}
    for part in ("voter", "item", "domain"):
        column = table.column(part)
        if column is not None:
            codes[part], found = encode_names(column, table.called[part])
            names[part] = PassedValues.of_column(column, codes[part], len(found))
    vote = table.column("vote")
    if threshold is not None:
        limits = np.array(thresholds(threshold, names["voter"].tolist()))
        values, mask = read_column(vote, table.called["vote"])
        vote = above(values, mask, limits[codes["voter"]], f"column {table.called['vote']!r}")
        classes = two_classes(classes)
    outcome, order = _outcomes(vote, classes, labels, abstains=check_null(null))
    item, items = codes["item"], names["item"]
    if "domain" in codes:
        # Items are identified within their domain, so two domains may number theirs alike.
        pairs = np.stack([codes["domain"], codes["item"]], axis=1)
        item, first = distinct_rows(pairs, int(pairs.max()) + 2)
        items = PassedValues.of_rows(table.column("item"), first)
    asked = outcome >= 0
    start, voter, said = _sorted_votes(
        item[asked], codes["voter"][asked], outcome[asked], items, names["voter"]
    )
    lists, first_list = same_lists(start, voter, said, len(order) + 1)
    return Ballots(
        classes=order,
        voters=names["voter"],
        n_items=len(items),
        items=items,
        start=start,
        voter=voter,
        outcome=said,
        list_of_item=first_list[lists],
        item_of_row=item,
        domain_column=(codes["domain"], names["domain"]) if "domain" in codes else None,
        called=answer_names(table),
    )


def _outcomes(
    vote: Column, classes: Column | None, labels: AnyArray | None, *, abstains: bool
) -> tuple[IntArray, AnyArray]:
    """Return the outcome of each row: a class, their number for an abstention, -1 if not asked."""
    array, mask = read_column(vote, "vote", null=-1)
    absent: BoolArray = np.zeros(len(array), dtype=bool) if mask is None else mask
    no_class = absent | (array == ("-1" if array.dtype.kind == "U" else -1))
    if no_class.all():
        raise LabelError("no row of votes holds a vote for a class; pass at least one")
    filled = np.where(no_class, array[~no_class][0], array)
    columns: dict[str, Column] = {"vote": filled}
    if labels is not None and classes is None:
        columns["y_true"] = labels
    codes, order = encode_labels(columns, classes)
    outcome = codes[0].astype(np.int64)
    outcome[no_class] = len(order)
    if not abstains:
        outcome[absent] = -1
    return outcome, order


def _sorted_votes(
    item: IntArray,
    voter: IntArray,
    outcome: IntArray,
    items: PassedValues,
    voters: PassedValues,
) -> tuple[IntArray, IntArray, IntArray]:
    """Sort the votes by item and voter, and keep one of each pair."""
    order = np.lexsort((voter, item))
    item, voter, outcome = item[order], voter[order], outcome[order]
    repeats = (item[1:] == item[:-1]) & (voter[1:] == voter[:-1])
    if repeats.any():
        clash = np.flatnonzero(repeats & (outcome[1:] != outcome[:-1]))
        if clash.size:
            warnings.warn(
                f"{clash.size:,} repeated vote{'s' * (clash.size > 1)} contradict"
                f"{'s' * (clash.size == 1)} an earlier one, first that of classifier "
                f"{shown(voters.take(voter[clash[:1]])[0])} on item "
                f"{shown(items.take(item[clash[:1]])[0])}; the last one counts. Drop repeats "
                "before the call to choose otherwise",
                KaratWarning,
                stacklevel=caller_level(),
            )
        last = np.append(~repeats, True)  # the sort is stable, so the last vote is the latest
        item, voter, outcome = item[last], voter[last], outcome[last]
    start = np.searchsorted(item, np.arange(len(items) + 1)).astype(np.int64)
    return start, voter.astype(np.int64), outcome


# --- Probabilities cut into votes, when a user asks for it.


def cut_columns(
    votes: Frame, threshold: Any, classes: Column | None, voters: Sequence[Any] | None = None
) -> tuple[FloatArray, list[str], Column]:
    """Return votes 0 and 1 from columns of probabilities, NaN where there is none.

    ``voters`` holds the names of the columns as they were passed, where they may be no text.
    """
    columns, names = read_columns(votes, "votes", each="column per voter")
    limits = thresholds(threshold, names if voters is None else voters)
    matrix = np.full((len(columns[0][0]), len(names)), np.nan)
    for j, (values, mask) in enumerate(columns):
        matrix[:, j] = above(values, mask, limits[j], f"votes column {names[j]!r}")
    return matrix, names, two_classes(classes)


def two_classes(classes: Column | None) -> Column:
    """Return the two classes that a threshold makes."""
    if classes is not None and len(check_classes(classes)) != 2:
        raise DataError(
            Option("threshold"),
            " makes two classes and ",
            Option("classes"),
            f" names {shown(classes)}",
        )
    return [0, 1] if classes is None else classes


def thresholds(threshold: Any, voters: Sequence[Any]) -> list[float]:
    """Return the threshold of each voter; the keys of a mapping are voters, or their text."""
    if isinstance(threshold, Mapping):
        keys = [v if v in threshold else str(v) for v in voters]
        if set(keys) != set(threshold):
            refuse_option(threshold, "threshold", f"one number per voter: {named(voters)}")
        cuts = [threshold[key] for key in keys]
    elif isinstance(threshold, Sequence | np.ndarray) and not isinstance(threshold, str):
        cuts = list(threshold)
        if len(cuts) != len(voters):
            refuse_option(threshold, "threshold", f"one number, or one per voter: {named(voters)}")
    else:
        cuts = [threshold] * len(voters)
    return [check_number(t, "threshold") for t in cuts]


def above(values: AnyArray, mask: BoolArray | None, limit: Any, name: str) -> FloatArray:
    """Return 1 where a probability is at least the limit, 0 below, NaN where there is none."""
    if values.dtype.kind not in "biuf":
        raise ColumnError(
            Argument.of(name),
            f" holds text ({quoted_text(values, mask)}); ",
            Option("threshold"),
            " cuts numbers",
        )
    above = np.where(values == -1, -1.0, values >= limit)  # -1 still means that it abstains
    return above if mask is None else np.where(mask, np.nan, above)


def item_weights(
    sample_weight: Column | None, weighting: str | None, cast: Ballots, domain: IntArray
) -> FloatArray | None:
    """Return what each item counts; counts of patterns bring their own.

    Importances add up to Kish's effective number of items in each domain.
    """
    given = check_weights(sample_weight)
    important = check_weighting(weighting, given)
    weight = cast.per_item(given, "sample_weight")
    if weight is not None and cast.counts is not None:
        raise DataError("votes are counts of patterns; weigh the rows when counting them")
    if weight is None:
        return cast.counts
    return effective_counts(weight, weight**2, domain) if important else weight.astype(np.float64)


# --- Votes as they were cast, with the names and items that were passed.


@dataclass(frozen=True, slots=True)
class Ballots:
    """The votes cast, read from a wide table, a long one or counts of patterns.

    Distinct lists of votes are kept once. List i has the votes ``start[i]:start[i+1]``, sorted by
    voter; an outcome is a class, or the number of classes for an abstention, and a vote that was
    not asked for is not listed. So ten million items cost ten million numbers and not as many
    lists, and a crowd costs no more than the votes it cast.
    """

    classes: AnyArray
    voters: PassedValues
    n_items: int
    items: PassedValues | None  # None: items are rows of a wide table or of counts
    start: IntArray
    voter: IntArray
    outcome: IntArray
    list_of_item: IntArray
    item_of_row: IntArray | None = None  # long table: the item of each row passed
    domain_column: tuple[IntArray, PassedValues] | None = None  # code of each row, domains
    counts: FloatArray | None = None  # items that each row of counts stands for
    called: Mapping[str, str] | None = None  # the columns of the table, by karat's names

    @classmethod
    def of_patterns(
        cls,
        found: Patterns,
        *,
        voters: PassedValues | None = None,
        keys: Keys | None = None,
        counted: bool = False,
        called: Mapping[str, str] | None = None,
    ) -> Self:
        """Return the ballots of dense patterns: one item per row, or with ``counted`` per pattern.

        In the codes of patterns -1 is an abstention and -2 a vote that was not asked for.
        ``voters`` holds the names of the columns as they were passed, by default those of
        ``found``, ``keys`` names and domains of the rows, and ``called`` the names of the columns.
        """
        matrix, k = found.patterns, len(found.classes)
        row, voter = np.nonzero(matrix > -2)
        said = matrix[row, voter]
        return cls(
            classes=found.classes,
            voters=PassedValues(np.array(found.names)) if voters is None else voters,
            n_items=len(matrix) if counted else len(found.ids),
            items=None if keys is None else keys.items,
            start=np.searchsorted(row, np.arange(len(matrix) + 1)).astype(np.int64),
            voter=voter.astype(np.int64),
            outcome=np.where(said < 0, k, said),
            list_of_item=np.arange(len(matrix)) if counted else found.ids,
            domain_column=None if keys is None else keys.domain_column,
            counts=found.counts.astype(np.float64) if counted else None,
            called=called,
        )

    @property
    def abstentions(self) -> bool:
        """Whether anybody abstained."""
        return bool((self.outcome == len(self.classes)).any())

    def drop_abstentions(self) -> Self:
        """Return the votes with each abstention as if it had not been asked for."""
        keep = self.outcome < len(self.classes)
        if keep.all():
            return self
        start = np.concatenate([[0], np.cumsum(keep)])[self.start]
        voter, outcome = self.voter[keep], self.outcome[keep]
        same, first = same_lists(start, voter, outcome, len(self.classes))
        lists = first[same][self.list_of_item]  # lists that differed by an abstention are one now
        return replace(self, start=start, voter=voter, outcome=outcome, list_of_item=lists)

    def per_item(self, values: AnyArray | None, name: str, absent: Any = None) -> AnyArray | None:
        """Return one value per item from a column with one value per row that was passed."""
        if values is None:
            return None
        rows = self.n_items if self.item_of_row is None else len(self.item_of_row)
        if len(values) != rows:
            raise LengthMismatchError(
                Argument("votes"),
                f" has {rows:,} rows and {name} has {len(values):,}",
                Remedy("pass one value per row"),
            )
        if self.item_of_row is None:
            return values
        found = np.full(self.n_items, absent if absent is not None else 0, dtype=values.dtype)
        given = slice(None) if absent is None else values != absent
        items = self.item_of_row[given]
        found[items] = values[given]
        apart = np.flatnonzero(found[items] != values[given])
        if apart.size:
            assert self.items is not None
            (item,) = self.items.take(items[apart[:1]])
            raise DataError(
                Argument.of(name),
                f" has two values for the item {shown(item)}; in a long table give "
                "every row of an item the same one",
            )
        return found

    def weighted_out(self, weight: AnyArray | None) -> bool:
        """Whether no item with a vote has a positive weight."""
        if weight is None:
            return False
        voted = np.diff(self.start)[self.list_of_item] > 0
        return not bool((weight[voted] > 0).any())

    def patterns_of(
        self, items: IntArray, gold: IntArray
    ) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray]:
        """Return the distinct patterns (votes and gold) of some items.

        An item of each pattern, as a position in ``items``; start, voter and outcome of the
        patterns' votes; and the pattern of each item.
        """
        lists = self.list_of_item[items]
        key = np.stack([lists, gold[items]], axis=1)
        pattern, first = distinct_rows(key, int(key.max(initial=0)) + 2)
        start, votes = self._votes_of(lists[first])
        return first, start, self.voter[votes], self.outcome[votes], pattern

    def patterns(self, weight: FloatArray | None = None) -> Patterns:
        """Return the distinct lists as a matrix of codes, sorted, and the pattern of each item."""
        k = len(self.classes)
        lists, inverse = np.unique(self.list_of_item, return_inverse=True)
        start, votes = self._votes_of(lists)
        codes = np.full((len(lists), len(self.voters)), -2)
        said = self.outcome[votes]
        row = np.repeat(np.arange(len(lists)), np.diff(start))
        codes[row, self.voter[votes]] = np.where(said < k, said, -1)
        place, first = distinct_votes(codes, k)
        ids = place[inverse]
        return Patterns(
            patterns=codes[first],
            counts=np.bincount(ids, weights=weight, minlength=len(first)),
            squares=None if weight is None else summed(ids, weight**2, len(first)),
            ids=ids,
            classes=self.classes,
            names=tuple(self.voters.tolist()),
        )

    def _votes_of(self, lists: IntArray) -> tuple[IntArray, IntArray]:
        """Return where the votes of each chosen list start, and which votes they are."""
        lengths = np.diff(self.start)[lists]
        start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        within = np.arange(start[-1]) - np.repeat(start[:-1], lengths)
        return start, np.repeat(self.start[lists], lengths) + within


def same_lists(
    start: IntArray, voter: IntArray, outcome: IntArray, outcomes: int
) -> tuple[IntArray, IntArray]:
    """Return the id of each item's list of votes, and the first item with that id.

    Lists are compared by two random sums of 64 bits; two different lists would share both once in
    2^128 pairs.
    """
    rng = np.random.default_rng(20160619)
    cell = voter * outcomes + outcome
    marks = rng.integers(0, 2**63, size=(2, int(cell.max(initial=0)) + 1), dtype=np.uint64)
    sums = []
    for mark in marks:
        running = np.concatenate([[np.uint64(0)], np.cumsum(mark[cell], dtype=np.uint64)])
        sums.append(running[start[1:]] - running[start[:-1]])
    order = np.lexsort(sums)
    a, b = sums[0][order], sums[1][order]
    fresh = np.append(True, (a[1:] != a[:-1]) | (b[1:] != b[:-1]))
    ids = np.empty(len(order), dtype=np.int64)
    ids[order] = np.cumsum(fresh) - 1
    return ids, order[fresh]
