"""Which columns of a file are votes, ratings, verdicts on pairs, and answers of people.

A file is wide (a column per voter) or long (a row per vote). What a flag names wins; else the names
of the columns say what they are.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from karat._code import Coded
from karat._files import replaced
from karat._validate import check_choice, named
from karat.cli._run import for_people, table_writer
from karat.cli._table import InputTable
from karat.consensus import ErrorEstimator, PairEstimator, cheapest_panel
from karat.consensus.judged import JudgePanel
from karat.exceptions import ColumnError, KaratWarning, OptionError
from karat.sources import Counts
from karat.votes.names import (
    BOTH_ORDERS,
    NUMBER_NAMES,
    TRUTH_NAMES,
    LongColumns,
    find_long,
    fitting,
    long_help,
)

LONG_FLAGS = {"item": "--id", "voter": "--voter", "vote": "--vote"}
_IDS = ("item", "id", "item_id")  # columns that name items even if a name has several rows
_MANY = 50  # distinct values beyond which a column is no column of classes


@dataclass(frozen=True, slots=True)
class Reading:
    """What the flags say of the columns."""

    judge: Sequence[str] = ()
    label: str | None = None
    group: str | None = None
    item: str | None = None
    voter: str | None = None
    vote: str | None = None
    also: Sequence[str | None] = ()  # columns that other flags name
    threshold: bool = False

    @property
    def taken(self) -> set[str | None]:
        """Columns that other flags name: no votes stand there."""
        return {self.label, self.group, *self.also}

    def item_of(self, table: InputTable) -> str | None:
        """Return the column that names the items of a wide file: that of ``--id``, or by name."""
        if self.item is not None:
            table.column("--id", self.item)
            return self.item
        taken = self.taken | set(self.judge)
        known = [name for name in fitting("item", table.frame.columns) if name not in taken]
        rows = len(table.frame)
        return next((n for n in known if n in _IDS or table.frame[n].n_unique() == rows), None)

    def found(self, table: InputTable, **how: Any) -> LongColumns | None:
        """Return the columns of a long file, None if it is none; ``how`` is for `find_long`."""
        given = {"item": self.item, "voter": self.voter, "vote": self.vote}
        for part, name in given.items():
            table.optional(LONG_FLAGS[part], name)
        how = {"taken": self.taken} | how
        return find_long(table.frame, given=given, flags=LONG_FLAGS, name=table.path.name, **how)


def named_items(table: InputTable, flags: Reading) -> InputTable:
    """Return the table whose ids are text as they stand there, and its groups too."""
    ids = [flags.item] if flags.item else fitting("item", table.frame.columns)
    return table.with_text_ids(*ids).with_codes(flags.group)


class Votes(NamedTuple):
    """The votes with their code, the columns read, and what items and voters are called there."""

    votes: Coded
    long: bool
    columns: list[str]
    item: str | None
    voter: str = ""

    @property
    def voters(self) -> list[Any]:
        """The names of the voters."""
        if self.long:
            return list(self.votes.value[self.voter].unique().sort().to_list())
        return self.columns


def counted_votes(path: Path) -> tuple[list[str], Coded]:
    """Return the lines that load the votes of a file of counts, and the votes."""
    votes = Counts.load(path).votes
    if votes is None:
        raise ColumnError(f"{path.name} holds no votes; count them with karat count --judge …")
    return [f"votes = Counts.load({str(path)!r}).votes"], Coded(votes, "votes")


def matched_votes(table: InputTable, flags: Reading, gold: Gold) -> tuple[InputTable, Votes, Gold]:
    """Return the table with one spelling for each class, its votes, and its true labels."""
    found, gold = read_votes_of(table, flags), gold.of_log(table)
    voted = found.columns[2:3] if found.long else found.columns
    matched = table.matched([*voted, gold.label])
    if matched is table:
        return table, found, gold
    return matched, read_votes_of(matched, flags), gold


def read_votes_of(table: InputTable, flags: Reading) -> Votes:
    """Return the votes of a file, wide or long."""
    if (flags.voter is None) != (flags.vote is None):
        raise OptionError("--voter and --vote come together: both name a column of a long file")
    for part in ("item", "voter", "vote"):
        table.optional(LONG_FLAGS[part], getattr(flags, part))
    found = None if flags.judge and flags.voter is None else flags.found(table)
    if found is None and flags.voter is not None:
        names = table.frame.columns
        raise ColumnError(f"--id: name the column of the items; there are {named(names)}")
    return _wide(table, flags) if found is None else _long(table, flags, found)


def _long(table: InputTable, flags: Reading, found: LongColumns) -> Votes:
    """Select the columns of a long file, under its names if the library finds them by these."""
    called = {"item": found.item, "classifier": found.voter, "vote": found.vote}
    if flags.group is not None:
        # The flag wins over a column that is called 'domain'.
        called["domain"] = flags.group
    elif found.domain is not None:
        called["domain"] = found.domain
    for name, column in called.items():
        table.column({"item": "--id", "classifier": "--voter"}.get(name, f"--{name}"), column)
    columns = list(called.values())
    own = {column: column for column in columns[:3]} | (
        {"domain": called["domain"]} if "domain" in called else {}
    )
    kept = picked(table, own)
    if len(own) == len(called) and find_long(kept.value) == LongColumns(*own):
        if list(own) == columns:
            kept = kept._replace(code=f"frame[{columns}]")
        return Votes(kept, True, columns, found.item, found.voter)
    return Votes(picked(table, called), True, columns, found.item, "classifier")


def _wide(table: InputTable, flags: Reading) -> Votes:
    """Select a column per voter, and the column that names the items."""
    item = flags.item_of(table)
    taken = {*flags.taken, item}
    if flags.judge:
        columns = table.matching("--judge", flags.judge, taken=taken)
    else:
        columns = _votes_among(table, [n for n in table.frame.columns if n not in taken], flags)
    if len(columns) < 2 and not flags.judge:
        raise ColumnError(
            f"--judge: name the columns of the voters of a wide file; in this file "
            f"{long_help(table.frame.columns, LONG_FLAGS)}"
        )
    frame, code = table.columns("--judge", columns), f"frame[{columns}]"
    if item is not None:
        frame = frame.with_columns(table.frame[item].alias("item"))
        code = f"{code}.with_columns(item=frame[{item!r}])"
    return Votes(Coded(frame, code), False, columns, item)


def _votes_among(table: InputTable, names: Sequence[str], flags: Reading) -> list[str]:
    """Return the columns that can be votes; those left out are named in a warning."""
    kinds = {name: _classes(table.frame[name], flags.threshold) for name in names}
    votes = [name for name in names if kinds[name] is not None]
    if not flags.threshold:
        votes = [name for name in votes if _has_company(name, kinds)]
    left = [name for name in names if name not in votes]
    if left and len(votes) > 1:
        warnings.warn(
            f"the column{'s' * (len(left) > 1)} {', '.join(left)} hold{'s' * (len(left) == 1)} no "
            "votes like those of the others and counted as no voter; name voters with --judge, the "
            "items with --id, domains with --group, true labels with --label, ratings with --score",
            KaratWarning,
            stacklevel=2,
        )
    for name in votes:
        if name.lower() in TRUTH_NAMES:
            warnings.warn(
                f"the column {name} counted as a voter; if it holds true labels, pass --label "
                f"{name}",
                KaratWarning,
                stacklevel=2,
            )
    return votes


def _has_company(name: str, kinds: dict[str, set[str] | None]) -> bool:
    """Return whether another column votes for one of the classes of this one."""
    mine = kinds[name] or set()
    others = [kind or set() for other, kind in kinds.items() if other != name]
    return not mine or any(mine & kind for kind in others)


def _classes(column: Any, threshold: bool) -> set[str] | None:
    """Return the classes that a column votes for, None if its values can be no votes."""
    import polars as pl

    cast = column.drop_nulls()
    if column.dtype.is_float():
        cast = cast.drop_nans()
        if threshold:
            inside = len(cast) > 0 and bool(cast.is_between(-1, 1).all())
            return set() if inside else None
        if not (cast == cast.round(0)).all():
            return None
        cast = cast.cast(pl.Int64)
    if column.dtype.is_nested() or column.dtype.is_temporal():
        return None
    distinct = cast.unique()
    if len(distinct) > max(2, min(_MANY, len(cast) / 2)):
        return None
    return {str(value).strip().casefold() for value in distinct.to_list() if str(value) != "-1"}


# --- Verdicts on pairs.


def picked(table: InputTable, called: dict[str, str]) -> Coded:
    """Return columns of a long file under the names that the library has for them."""
    frame = table.frame.select([table.frame[c].alias(name) for name, c in called.items()])
    same = [repr(c) for name, c in called.items() if name == c]
    parts = same + [f"{name}={c!r}" for name, c in called.items() if name != c]
    return Coded(frame, f"frame.select({', '.join(parts)})")


class Verdicts(NamedTuple):
    """The verdicts: one long table, or two wide ones; and the column of the pairs' names."""

    first: Coded
    swapped: Coded | None
    item: str | None


def verdicts_of(
    table: InputTable, flags: Reading, swapped: Sequence[str], order: str | None
) -> Verdicts:
    """Return the verdicts of a file, wide or long, with those on swapped answers."""
    if flags.judge and swapped:
        return _wide_pairs(table, flags, swapped)
    both = [flags.vote, *swapped] if swapped else []
    if order is None and not swapped:
        here = table.frame.columns
        order = "order" if "order" in here else None
        named = next((two for two in BOTH_ORDERS if order is None and set(two) <= {*here}), None)
        both = list(named or ())
    if len(both) > 2 or None in both or (order is None) == (not both):
        raise OptionError(
            "judges have to be asked in both orders: name the column of verdicts on swapped "
            "answers with --swapped, one for each --judge or for --vote, or the column that says "
            "the order with --order"
        )
    if flags.judge:
        raise OptionError(
            f"--judge names columns of a wide file, with --swapped for those of the other order; "
            f"with {'--swapped' if both else f'the column {order!r} of orders'} the file is long, "
            "and every judge in it is read"
        )
    for name in both or [order]:
        table.column("--swapped" if both else "--order", str(name))
    columns = replace(flags, vote=None if both else flags.vote).found(
        table,
        parts=("item", "voter") if both else ("item", "voter", "vote"),
        taken={*flags.taken, *both, order},
        beside=() if both else (order,),
        sure=True,
    )
    if columns is None:
        raise ColumnError(
            "a long file of pairs has columns of items, judges and verdicts; here "
            f"{long_help(table.frame.columns, LONG_FLAGS)}"
        )
    called = {"item": columns.item, "judge": columns.voter}
    if both:
        called |= {"verdict_order1": str(both[0]), "verdict_order2": str(both[1])}
    else:
        called |= {"order": str(order), "verdict": columns.vote}
    return Verdicts(picked(table, called), None, columns.item)


def _wide_pairs(table: InputTable, flags: Reading, swapped: Sequence[str]) -> Verdicts:
    first = table.matching("--judge", flags.judge, taken=flags.taken)
    second = table.matching("--swapped", swapped, taken=flags.taken)
    if len(first) != len(second):
        raise ColumnError(
            f"--judge {', '.join(flags.judge)} chooses {len(first)} columns and --swapped "
            f"{', '.join(swapped)} {len(second)}; expected a column per judge in either order"
        )
    same = dict(zip(second, first, strict=True))
    item = flags.item_of(table)
    if item in first or (item is not None and flags.item is None and _repeats(table.frame[item])):
        item = None  # nobody said that this column names the pairs
    one = Coded(table.frame.select(first), f"frame[{first}]")
    two = Coded(table.frame.select(second).rename(same), f"frame[{second}].rename({same})")
    return Verdicts(_with_names(one, table, item), _with_names(two, table, item), item)


def _with_names(verdicts: Coded, table: InputTable, item: str | None) -> Coded:
    """Return verdicts with the names of their pairs, if the file has them."""
    if item is None:
        return verdicts
    frame = verdicts.value.with_columns(table.frame[item].alias("item"))
    return Coded(frame, f"{verdicts.code}.with_columns(item=frame[{item!r}])")


def _repeats(names: Any) -> bool:
    return bool(names.n_unique() < len(names))


def judges_of(verdicts: Coded) -> list[str]:
    """Return the names of the judges of a long table, or of a wide one."""
    frame = verdicts.value
    if "judge" in frame.columns:
        return [str(name) for name in frame["judge"].unique(maintain_order=True)]
    return [name for name in frame.columns if name != "item"]


# --- Ratings.


def ratings_of(table: InputTable, flags: Reading, score: Sequence[str]) -> Coded:
    """Return the columns of ratings of a wide file, or the one of a long file with its parts."""
    chosen = table.matching("--score", score, taken={*flags.taken, flags.item_of(table)})
    found = None
    if len(chosen) == 1:
        found = replace(flags, vote=chosen[0]).found(table, first=NUMBER_NAMES)
    if found is None:
        return Coded(table.columns("--score", chosen), f"frame[{chosen}]")
    return picked(table, {"item": found.item, "judge": found.voter, "score": found.vote})


# --- Judges beside people.


class Beside(NamedTuple):
    """A judge, what it answered, and what the people did."""

    judge: str
    answers: Coded
    people: Coded


def judges_beside(
    table: InputTable, flags: Reading, person: Sequence[str], *, rated: bool
) -> list[Beside]:
    """Return each judge of a file, wide or long, beside the people; ``rated``: with numbers."""
    if flags.judge and set(flags.judge) <= set(table.frame.columns):
        return _columns_beside(table, flags, person, rated)
    found = flags.found(table)
    if found is None:
        return _columns_beside(table, flags, person, rated)
    return _rows_beside(table, flags, person, found)


def _columns_beside(
    table: InputTable, flags: Reading, person: Sequence[str], rated: bool
) -> list[Beside]:
    people = table.matching("--person", person)
    if flags.judge:
        judges = table.matching("--judge", flags.judge, taken=flags.taken)
    else:
        judges = _others(table, flags, people, rated)
    both = [name for name in judges if name in people]
    if both:
        raise OptionError(f"--judge and --person both name {both[0]!r}; expected one of them")
    names = Coded(table.frame.select(people), f"frame[{people}]")
    return [Beside(name, Coded(table.frame[name], f"frame[{name!r}]"), names) for name in judges]


def _others(table: InputTable, flags: Reading, people: Sequence[str], rated: bool) -> list[str]:
    """Return the columns that answer as the people do: numbers to be rated, or the same labels.

    Those left out are named in a warning.
    """
    taken = {*people, flags.item_of(table), *flags.taken}
    rest = [name for name in table.frame.columns if name not in taken]
    known = {name: set(_answers(table.frame[name])) for name in (*people, *rest)}
    if rated:
        judges = [name for name in rest if table.frame[name].dtype.is_numeric()]
    else:
        answers = set().union(*(known[name] for name in people))
        few = max(2 * len(answers), 2)
        judges = [n for n in rest if known[n] & answers and table.frame[n].n_unique() <= few]
    judges = [name for name in judges if name.lower() not in TRUTH_NAMES]
    if not judges:
        raise ColumnError(
            "--person: no other column answers as the people do; name the judges with --judge. "
            f"There are {table.frame.columns}"
        )
    left = [name for name in rest if name not in judges]
    if left:
        warnings.warn(
            f"the column{'s' * (len(left) > 1)} {', '.join(left)} hold{'s' * (len(left) == 1)} no "
            "answers of a judge as far as can be told, and counted as no judge; name judges with "
            "--judge",
            KaratWarning,
            stacklevel=2,
        )
    return judges


def _answers(column: Any) -> list[str]:
    return [str(value) for value in column.drop_nulls().unique()]


def _rows_beside(
    table: InputTable, flags: Reading, person: Sequence[str], columns: LongColumns
) -> list[Beside]:
    """Return each judge's rows beside those of the people."""
    import polars as pl

    called = {"item": columns.item, "annotator": columns.voter, "answer": columns.vote}
    base = picked(table, called)
    frame = base.value.with_columns(pl.col("annotator").cast(pl.String))
    voters = frame["annotator"].unique(maintain_order=True).to_list()

    people = _people_called("--person", person, voters)
    if len(people) < 2:
        raise OptionError(
            f"--person names {people[0]!r} alone; the test leaves one person out and compares with "
            "the others, so it needs at least two people"
        )
    rest = [v for v in voters if v not in people]
    judges = _people_called("--judge", flags.judge, voters) if flags.judge else rest
    if not judges:
        raise ColumnError("--person names everybody in the file; nobody is left to test")

    def rows(names: list[str]) -> Coded:
        inside = frame.filter(pl.col("annotator").is_in(names))
        return Coded(inside, f'{base.code}.filter(pl.col("annotator").is_in({names}))')

    return [Beside(name, rows([name]), rows(people)) for name in judges if name not in people]


def _people_called(flag: str, given: Sequence[str], voters: Sequence[str]) -> list[str]:
    """Return the voters of a long file that names and patterns choose; each has to choose one."""
    each = [p for one in given for p in ([one] if one in voters else one.split(","))]
    found: list[str] = []
    for pattern in each:
        hits = [v for v in voters if v == pattern or fnmatchcase(v, pattern)]
        if not hits:
            raise ColumnError(
                f"{flag} {pattern}: nobody in the file is called that; there are {named(voters)}"
            )
        found += [v for v in hits if v not in found]
    return found


# --- What flags say of voters.


@dataclass(frozen=True, slots=True)
class Gold:
    """What the flags say of true labels, and of what voters are about."""

    label: str | None = None
    group: str | None = None
    labels: str | None = None
    label_probability: str | None = None
    same: Sequence[str] = ()

    def of_log(self, table: InputTable) -> Gold:
        """Return the labels that an evaluation log holds, where the flags name none.

        People who correct a log choose what they correct, so those labels are no random sample.
        """
        if self.label is None and table.log and table.frame["gold"].count():
            return replace(self, label="gold", labels=self.labels or "picked")
        return self

    def options(
        self, table: InputTable, voters: Sequence[Any] = (), *, long: bool = False
    ) -> dict[str, Any]:
        """Return the arguments of a fit; a ``long`` table has the domains in its votes."""
        chosen = self.labels or ("probability" if self.label_probability else None)
        return {
            "domains": None if long else table.coded("--group", self.group),
            "y_true": table.coded("--label", self.label),
            "labels": chosen,
            "label_probability": table.coded("--label-probability", self.label_probability),
            "same": parse_families(self.same, voters),
        }


def read_error_model(text: str | None) -> str | None:
    """Return the library's ``errors=`` for a flag; None leaves it to the estimator."""
    return check_choice(text, "--error-model", ("class-conditional", "symmetric"), none=True)


def parse_families(given: Sequence[str], voters: Sequence[Any]) -> dict[str, list[Any]] | None:
    """Return families of voters that count once from ``name=a,b`` or ``name=pattern*``."""
    if not given:
        return None
    families: dict[str, list[Any]] = {}
    for text in given:
        name, equals, members = text.partition("=")
        if not equals or not members:
            raise OptionError(f"--same is {text!r}; expected name=a,b,c or name=pattern*")
        chosen = []
        for part in members.split(","):
            hits = [v for v in voters if str(v) == part or fnmatchcase(str(v), part)]
            if not hits:
                raise OptionError(f"--same {text}: no voter is {part!r}; there are {voters[:20]}")
            chosen += hits
        families[name] = chosen
    return families


def parse_costs(given: Sequence[str], voters: Sequence[Any]) -> dict[str, float] | None:
    """Return what each judge costs from ``name=number``; the others cost 1."""
    if not given:
        return None
    costs = {str(v): 1.0 for v in voters}
    for text in given:
        name, equals, number = text.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            equals = ""
        if not equals or name not in costs:
            raise OptionError(
                f"--cost is {text!r}; expected judge=number, for a judge among {list(costs)[:20]}"
            )
        costs[name] = value
    return costs


def panel_of(
    estimator: ErrorEstimator | PairEstimator, costs: Sequence[str], confidence: float
) -> list[JudgePanel]:
    """Return the cheapest panel of each domain."""
    fitted = estimator.estimator_ if isinstance(estimator, PairEstimator) else estimator
    price = parse_costs(costs, fitted.classifiers_)
    return [
        cheapest_panel(estimator, cost=price, domain=name, confidence=confidence)
        for name in fitted.result_.domains
    ]


class Todo(NamedTuple):
    """How many items to draw, None for none, and where to write them."""

    n: int | None = None
    path: Path | None = None

    def check(self) -> None:
        """Refuse a file without items, and a file of no known format, before the work."""
        if self.path is not None:
            if self.n is None:
                raise OptionError(
                    "--todo is a file for the items of --label-next; expected both flags"
                )
            table_writer("--todo", self.path)

    def draw(self, estimator: ErrorEstimator | PairEstimator, item: str | None = None) -> Any:
        """Return the items of a fit to label next, and write them; None if none are asked for.

        They are called ``item``, as in the file of votes.
        """
        if self.n is None:
            return None
        drawn = estimator.label_next(self.n)
        if item is not None:
            drawn = drawn.rename({drawn.columns[1]: item})
        if self.path is not None:
            writer = table_writer("--todo", self.path)
            with replaced(self.path) as path:
                writer(for_people(drawn, writer), path)
        return drawn

    @property
    def code(self) -> str:
        """The line that draws them."""
        return "" if self.n is None else f"estimator.label_next({self.n})"
