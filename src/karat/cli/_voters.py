"""What ``karat judges`` reads and says.

`read_votes_of` finds which columns are votes and `item_of` the one that names items; `report` is an
answer that opens with whom to trust, how sure that is, and what to label next. `Todo` draws those
items and writes them to a file.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from karat._code import Coded
from karat._files import replaced
from karat._result import plain
from karat.cli._run import Answer, Grid, Page, section, table_writer
from karat.cli._table import InputTable
from karat.consensus import (
    CoClustering,
    ErrorEstimator,
    ErrorRates,
    PairErrors,
    PairEstimator,
    ScoreErrors,
)
from karat.exceptions import ColumnError, KaratWarning, OptionError
from karat.votes.long_names import LongColumns, find_long, fitting, long_help

LONG_FLAGS = {"item": "--id", "voter": "--voter", "vote": "--vote"}
_IDS = ("item", "id", "item_id")  # columns that name items even if a name has several rows
_TRUTHS = ("gold", "label", "truth", "true_label", "y_true", "target", "answer_key")
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
    also: Sequence[str] = ()  # columns that other flags name
    threshold: bool = False


class Votes(NamedTuple):
    """The votes with their code, whether they are long, the columns read, and that of the items."""

    votes: Coded
    long: bool
    columns: list[str]
    item: str | None


def read_votes_of(table: InputTable, flags: Reading) -> Votes:
    """Return the votes of a file, wide or long."""
    if (flags.voter is None) != (flags.vote is None):
        raise OptionError("--voter and --vote come together: both name a column of a long file")
    given = {"item": flags.item, "voter": flags.voter, "vote": flags.vote}
    for part, name in given.items():
        table.optional(LONG_FLAGS[part], name)
    found = None
    if flags.voter is not None or not flags.judge:
        found = find_long(
            table.frame,
            given=given,
            taken={flags.label, flags.group, *flags.also},
            flags=LONG_FLAGS,
            name=table.path.name,
        )
    if found is None and flags.voter is not None:
        names = table.frame.columns
        raise ColumnError(f"--id: name the column of the items; there are {names}")
    return _wide(table, flags) if found is None else _long(table, flags, found)


def item_of(table: InputTable, given: str | None, taken: Collection[str | None] = ()) -> str | None:
    """Return the column that names the items of a wide file: that of ``--id``, or by its name."""
    if given is not None:
        table.column("--id", given)
        return given
    known = [name for name in fitting("item", table.frame.columns) if name not in taken]
    rows = len(table.frame)
    return next((n for n in known if n in _IDS or table.frame[n].n_unique() == rows), None)


def _long(table: InputTable, flags: Reading, found: LongColumns) -> Votes:
    """Select the columns of a long file, under the names of the library."""
    called = {"item": found.item, "classifier": found.voter, "vote": found.vote}
    if flags.group is not None:
        # The flag wins over a column that is called 'domain'.
        called["domain"] = flags.group
    elif found.domain is not None:
        called["domain"] = found.domain
    for name, column in called.items():
        table.column({"item": "--id", "classifier": "--voter"}.get(name, f"--{name}"), column)
    columns = [table.frame[column].alias(name) for name, column in called.items()]
    picked = ", ".join(f"{name}={column!r}" for name, column in called.items())
    if all(name == column for name, column in called.items()):
        code = f"frame[{list(called)}]"
    else:
        code = f"frame.select({picked})"
    return Votes(Coded(table.frame.select(columns), code), True, list(called.values()), found.item)


def _wide(table: InputTable, flags: Reading) -> Votes:
    """Select a column per voter, and the column that names the items."""
    item = item_of(table, flags.item, {*flags.judge, flags.label, flags.group, *flags.also})
    taken = {flags.label, flags.group, item, *flags.also}
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
            "items with --id, domains with --group and true labels with --label",
            KaratWarning,
            stacklevel=2,
        )
    for name in votes:
        if name.lower() in _TRUTHS:
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


# --- The answer of ``karat judges``: whom to trust, how sure that is, and what to label.


def report(
    name: str, estimator: ErrorEstimator, read: list[str], code: str, todo: Todo, drawn: Any
) -> Answer:
    """Return the answer; ``drawn`` are the items to label, None if ``todo`` asks for none."""
    r, clusters = estimator.result_, estimator.co_clustering_
    label = todo.sentence(drawn, unknown=not r.identified.all())
    opening = [*_trust(estimator), sure_of(r.domains, r.status), label]
    data: dict[str, Any] = {"summary": " ".join(opening), "status": _status(r), "result": r}
    text: list[str | Grid] = list(opening)
    if estimator.from_labels_ is not None:
        data["from_labels"] = plain(estimator.from_labels_.to_dict(as_series=False))
        text += [
            "From the gold labels, with the votes as control; use this table first:",
            labels_grid(estimator),
        ]
        text.append("From the votes, with the labels as far as the model uses them:")
    text.append(_rates_grid(r))
    if clusters is not None:
        data["clusters"] = clusters
        text.append(clusters.summary())
    text += [other.summary() for other in r.explanations if not other.identified]
    text += [estimator.robustness_curve(d).summary() for d in r.domains if _told(r, d)]
    if drawn is not None:
        data["label_next"] = plain(drawn.to_dict(as_series=False))
    text.append(f"votes: {', '.join(read)}")
    return Answer(data=data, text=text, page=partial(_page, name, estimator, opening, code, drawn))


def _told(r: ErrorRates, domain: Any) -> bool:
    return bool(r.identified[r.domains.index(domain)])


def status_rows(r: ErrorRates | PairErrors | ScoreErrors) -> list[dict[str, Any]]:
    """Return the status of each domain, with its reasons; names keep their type."""
    return [
        {
            "domain": plain(name),
            "status": r.status[d],
            "reasons": list(r.reasons[d]),
            "gold": r.evidence[d],
        }
        for d, name in enumerate(r.domains)
    ]


def _status(r: ErrorRates) -> list[dict[str, Any]]:
    """Return the same with the copies of each domain."""
    copies = [plain([list(block) for block in found]) for found in r.copies]
    return [row | {"copies": found} for row, found in zip(status_rows(r), copies, strict=True)]


def _where(r: ErrorRates, domain: Any) -> str:
    return "" if len(r.domains) == 1 else f"In {domain}: "


def _trust(estimator: ErrorEstimator) -> list[str]:
    """Return whom to trust, domain by domain: by gold labels where there are some."""
    r = estimator.result_
    if estimator.from_labels_ is None:
        return [f"{r.summary()}."]
    lines = []
    frame = estimator.from_labels_
    for domain in r.domains:
        rows = [row for row in frame.iter_rows(named=True) if row["domain"] == domain]
        rows = [row for row in rows if np.isfinite(row["value"])]
        if not rows:
            lines.append(f"{_where(r, domain)}too few gold labels to say whom to trust.")
            continue
        best = min(rows, key=lambda row: row["value"])
        rivals = sum(row["lower"] <= best["upper"] for row in rows) - 1
        others = len(rows) - 1
        where = _where(r, domain)
        lines.append(
            f"{where}{'trust' if where else 'Trust'} {best['classifier']} most: wrong on "
            f"{100 * best['value']:.1f} % ({100 * r.confidence:g} % limits "
            f"{100 * best['lower']:.1f} to {100 * best['upper']:.1f}, with {best['n_gold']} gold "
            f"labels); {f'{rivals} of the {others} others' if rivals else f'no other of {others}'} "
            "may be as good."
        )
    return lines


def sure_of(domains: Sequence[Any], statuses: Sequence[str]) -> str:
    """Return how sure that is: the status of every domain."""
    words = {
        "not identified": "the votes cannot tell who errs",
        "consistent": "nothing in the votes speaks against it, and votes cannot say more",
        "confirmed": "random gold labels confirm the consensus of the voters",
        "contradicted": "random gold labels contradict the consensus of the voters",
    }
    parts = []
    for status, meaning in words.items():
        here = [str(d) for d, s in zip(domains, statuses, strict=True) if s == status]
        if here:
            where = "" if len(domains) == 1 else f" in {', '.join(here)}"
            parts.append(f"{status}{where} ({meaning})")
    return f"How sure: {'; '.join(parts)}."


def _rates_grid(r: ErrorRates, *, domains: bool = True) -> Grid:
    """Return the rates from votes, sorted; the limits of what votes cannot tell say so."""
    several = domains and len(r.domains) > 1
    head = ("domain",) * several + ("voter", "error rate", _limits(r), "status")
    rows = []
    for i in np.lexsort((r.value, r.domain)):
        d = r.domain[i]
        limits = f"{r.lower[i]:.3f} to {r.upper[i]:.3f}"
        if not r.identified[d] and r.identified.any():
            limits = f"votes cannot tell: {limits}"
        row = (str(r.classifiers[r.classifier[i]]), f"{r.value[i]:.3f}", limits, r.status[d])
        rows.append(((str(r.domains[d]),) if several else ()) + row)
    return Grid(head, tuple(rows))


def _limits(r: ErrorRates) -> str:
    return f"{100 * r.confidence:g} % limits" if r.identified.any() else "votes cannot tell"


def labels_grid(estimator: ErrorEstimator) -> Grid:
    """Return the error rates that gold labels give, helped by the consensus."""
    frame: Any = estimator.from_labels_
    several = len(estimator.result_.domains) > 1
    rows = tuple(
        (
            *((str(row["domain"]),) if several else ()),
            str(row["classifier"]),
            f"{row['value']:.3f}",
            f"{row['lower']:.3f} to {row['upper']:.3f}",
            f"{row['labels_lower']:.3f} to {row['labels_upper']:.3f}",
            str(row["n_gold"]),
        )
        for row in frame.iter_rows(named=True)
    )
    level = f"{100 * estimator.result_.confidence:g} % limits"
    head = ("domain",) * several + ("voter", "error rate", level, "labels alone", "gold votes")
    return Grid(head, rows)


def _page(name: str, estimator: ErrorEstimator, opening: list[str], code: str, drawn: Any) -> Page:
    result = estimator.result_
    sections = [
        section(
            "Whom to trust, how sure, and what to label?",
            " ".join(opening),
            code=code,
        )
    ]
    if estimator.from_labels_ is not None:
        sections.append(_gold(estimator))
    if estimator.co_clustering_ is not None:
        sections.append(_clusters(estimator.co_clustering_))
    for domain in result.domains:
        sections.append(_rates(result.of_domain(domain), domain))
        if _told(result, domain):
            sections.append(_robust(estimator, domain))
    sections += todo_section(drawn)
    gold = bool((result.gold_votes > 0).any())
    return Page(
        f"{name}: how good are the voters",
        f"Error rates from votes{' and gold labels' if gold else ' alone'}. Where several "
        "explanations fit the votes as well, the page says so and shows them side by side.",
        sections,
    )


def _gold(estimator: ErrorEstimator) -> Any:
    return section(
        "What do the gold labels say?",
        "Use this table first: with labels drawn at random or with known probabilities it "
        "is valid whatever the model of the votes; the consensus makes the limits narrower than "
        "the labels alone do.",
        grid=labels_grid(estimator),
        assumptions=("The labelled items were drawn at random, or with the probabilities given.",),
        code="estimator.from_labels_",
    )


def _rates(r: ErrorRates, domain: Any) -> Any:
    only = domain == "all"
    picture = r if r.identified[0] else r.explanations[0]
    return section(
        "How often does each voter err?" if only else f"How often does each voter err in {domain}?",
        picture.summary(),
        result=picture,
        picture="Error rate of each voter, with its limits or under each explanation.",
        grid=_rates_grid(r, domains=False),
        assumptions=(
            "Voters are better than chance on the whole; within a class they err independently, "
            "but for easy and hard items and for voters who copy one another.",
            *(f"{' = '.join(map(str, block))} have one vote together." for block in r.copies[0]),
            *r.reasons[0],
        ),
    )


def _robust(estimator: ErrorEstimator, domain: Any) -> Any:
    curve = estimator.robustness_curve(domain)
    where = "" if domain == "all" else f" in {domain}"
    return section(
        f"What if most voters are fooled together{where}?",
        curve.summary(),
        result=curve,
        picture="Limits of the best voters as more of the items fool most voters together.",
        assumptions=("Votes cannot show an error that all voters share.",),
    )


def _clusters(found: CoClustering) -> Any:
    rows = tuple(
        (str(name), str(cluster), f"{sure:.2f}")
        for name, cluster, sure in zip(found.names, found.labels, found.certainty, strict=True)
    )
    return section(
        "Who shares error rates with whom?",
        found.summary(),
        result=found,
        picture="Probability that two share their error rates, cluster by cluster.",
        grid=Grid(("what", "cluster", "certainty"), rows),
        assumptions=("Clusters come from a Dirichlet process; those that share have one rate.",),
    )


# --- Items to label next: drawn, written to a file, and said.

_NEXT = 30  # labels that a report asks for where none was asked for
_SHOWN = 10


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

        In the file they are called ``item``, as in the file of votes.
        """
        if self.n is None:
            return None
        drawn = estimator.label_next(self.n)
        if self.path is not None:
            writer = table_writer("--todo", self.path)
            with replaced(self.path) as path:
                writer(drawn if item is None else drawn.rename({"item": item}), path)
        return drawn

    @property
    def code(self) -> str:
        """The line that draws them."""
        return "" if self.n is None else f"estimator.label_next({self.n})"

    def sentence(self, drawn: Any, *, unknown: bool) -> str:
        """Return what to label next; ``unknown`` says that votes cannot tell somewhere."""
        if drawn is None:
            why = (
                "where votes cannot tell, nothing else helps"
                if unknown
                else "labels confirm it or do not"
            )
            flags = f"--label-next {_NEXT} --todo todo.csv"
            return f"Label next: {flags} draws items with known probabilities; {why}."
        items = ", ".join(str(item) for item in drawn["item"].head(_SHOWN).to_list())
        more = f" and {len(drawn) - _SHOWN} more" if len(drawn) > _SHOWN else ""
        where = "" if self.path is None else f", in {self.path}"
        return (
            f"Label next ({len(drawn)} items, drawn with known probabilities{where}): "
            f"{items}{more}."
        )


def todo_section(drawn: Any) -> list[Any]:
    """Return the section of a page that lists the items to label, none without items."""
    if drawn is None:
        return []
    several = drawn["domain"].n_unique() > 1
    rows = tuple(
        (*((str(row["domain"]),) if several else ()), str(row["item"]), f"{row['probability']:.4g}")
        for row in drawn.iter_rows(named=True)
    )
    return [
        section(
            "Which items to label next?",
            "Each was drawn with the probability beside it, which --label-probability takes back "
            "together with the labels.",
            grid=Grid(("domain",) * several + ("item", "probability"), rows),
        )
    ]
