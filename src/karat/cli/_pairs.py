"""Judged pairs at the command line: error rates, position bias, ranked systems."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from karat._code import Coded, call_code, script, values
from karat._result import plain
from karat.cli._judge_flags import (
    LongNames,
    cannot_tell,
    limits_text,
    matching,
    panel_of,
    panel_section,
    panel_text,
    parse_families,
)
from karat.cli._run import Answer, Grid, Page, section
from karat.cli._table import InputTable
from karat.cli._voters import LONG_FLAGS, Todo, labels_grid, status_rows, sure_of, todo_section
from karat.consensus import (
    ErrorEstimator,
    JudgePanel,
    PairErrors,
    PairEstimator,
    SystemRanking,
    rank_systems,
)
from karat.exceptions import ColumnError, OptionError
from karat.votes.long_names import long_help

_GOLD = (
    "With the gold labels, on pairs where both orders give one verdict; valid whatever the model:"
)


def pairs_answer(table: InputTable, flags: PairFlags, options: dict[str, Any]) -> Answer:
    """Return bias and error rates of judges on pairs, and on request systems and panel.

    ``options`` are those of the estimator.
    """
    verdicts, swapped, item = verdicts_of(table, flags)
    confidence = options["confidence"]
    design = {
        "y_true": table.coded("--label", flags.label),
        "labels": flags.labels or ("probability" if flags.label_probability else "random"),
        "label_probability": table.coded("--label-probability", flags.label_probability),
    }
    fitted = design | {
        "domains": table.coded("--group", flags.group),
        "same": parse_families(flags.same, judges_of(verdicts)),
    }
    beside = [] if swapped is None else [swapped]
    estimator = PairEstimator(**options).fit(
        verdicts.value,
        *(one.value for one in beside),
        **values(fitted),
    )
    blind = estimator
    if flags.system and flags.label is not None:  # gold helps a ranking only if judges are blind
        without = values({name: v for name, v in fitted.items() if name not in design})
        blind = PairEstimator(**options).fit(
            verdicts.value, *(one.value for one in beside), **without
        )
    ranking = _systems(table, flags, blind, item, confidence)
    panels = panel_of(estimator, flags.cost, confidence) if flags.panel else []
    build = call_code("PairEstimator", **options)
    code = script(
        ("import polars as pl", "from karat.consensus import PairEstimator"),
        table.code,
        f"estimator = {call_code(f'{build}.fit', verdicts, *beside, **fitted)}",
        "estimator.error_rates_",
        flags.todo.code,
    )
    drawn = flags.todo.draw(estimator, item if swapped is None else None)
    label = flags.todo.sentence(drawn, unknown=not all(estimator.identified_.values()))
    said = _Said(table.path.name, estimator, ranking, panels, code, label, drawn)
    return _answer(said)


class _Said(NamedTuple):
    """What is printed and stands on the page."""

    name: str
    estimator: PairEstimator
    ranking: SystemRanking | None
    panels: Sequence[JudgePanel]
    code: str
    label: str
    drawn: Any

    @property
    def opening(self) -> list[str]:
        """Whom to trust, how sure that is, and what to label."""
        r = self.estimator.result_
        return [f"{r.summary()}.", sure_of(r.domains, r.status), self.label]


def _systems(
    table: InputTable,
    flags: PairFlags,
    estimator: PairEstimator,
    item: str | None,
    confidence: float,
) -> SystemRanking | None:
    """Return the ranking of the systems, if their columns are named."""
    if not flags.system:
        return None
    if len(flags.system) != 2:
        raise OptionError(
            f"--system is {list(flags.system)}; expected two columns: who wrote the first answer, "
            "and who the second"
        )
    columns: list[Any] = [table.column("--system", name) for name in flags.system]
    columns += [table.column("--label", flags.label)] if flags.label is not None else []
    if estimator.items_ is not None and item is not None:
        items = table.frame[item].to_list()
        columns = [dict(zip(items, column.to_list(), strict=True)) for column in columns]
    gold = columns[2] if len(columns) > 2 else None
    return rank_systems(estimator, *columns[:2], y_true=gold, confidence=confidence, rng=0)


def _grid(r: PairErrors) -> Grid:
    order = sorted(range(len(r.value)), key=lambda i: (r.domain[i], r.value[i]))
    level = f"{100 * r.confidence:g} % limits"
    told = [status in ("consistent", "confirmed") for status in r.status]
    several = len(r.domains) > 1
    rows = tuple(
        (
            *((str(r.domains[r.domain[i]]),) if several else ()),
            str(r.judges[r.judge[i]]),
            f"{r.value[i]:.3f}",
            cannot_tell("votes", told, r.domain[i]) + limits_text(r.lower[i], r.upper[i]),
            f"{r.bias.value[r.judge[i]]:+.3f}",
            limits_text(r.bias.lower[r.judge[i]], r.bias.upper[r.judge[i]], signed=True),
            f"{r.cost.value[i]:.3f}",
            r.status[r.domain[i]],
        )
        for i in order
    )
    of_rate = level if any(told) else "votes cannot tell"
    names = ("domain",) * several + (
        "judge",
        "error rate",
        of_rate,
        "position bias",
        level,
        "cost of one order",
        "status",
    )
    return Grid(names, rows)


def _answer(said: _Said) -> Answer:
    r = said.estimator.result_
    data: dict[str, Any] = {
        "summary": " ".join(said.opening),
        "status": status_rows(r),
        "result": r,
        "position_bias": r.bias,
    }
    text: list[str | Grid] = [*said.opening, r.bias.summary(), _grid(r)]
    if said.estimator.estimator_.from_labels_ is not None:
        text += [_GOLD, labels_grid(said.estimator.estimator_)]
    if said.drawn is not None:
        data["label_next"] = plain(said.drawn.to_dict(as_series=False))
    if said.ranking is not None:
        data["systems"] = said.ranking
        text.append(said.ranking.summary())
    if said.panels:
        data["panels"] = list(said.panels)
        text += panel_text(said.panels)
    return Answer(data=data, text=text, page=partial(_page, said))


def _page(said: _Said) -> Page:
    r = said.estimator.result_
    sections = [
        section(
            "Whom to trust, how sure, and what to label?",
            " ".join(said.opening),
            code=said.code,
        ),
        section(
            "How often does each judge prefer the worse answer?",
            "These are the rates with the position bias out: a tie, and a verdict that the order "
            f"changes, count as half an error. {sure_of(r.domains, r.status)}",
            result=r,
            picture="Error rate of each judge with the bias out, and in one order only.",
            grid=_grid(r),
            assumptions=(
                "A pair and its mirror image are alike to a judge, but for the position.",
                f"The votes leave the rates {', '.join(sorted(set(r.status)))}.",
            ),
            code="estimator.error_rates_",
        ),
        *_gold(said.estimator.estimator_),
        section(
            "Who follows the position of an answer?",
            r.bias.summary(),
            result=r.bias,
            picture="Position bias of each judge with its limits.",
            code="estimator.position_bias_",
        ),
    ]
    if said.ranking is not None:
        sections.append(
            section(
                "Which systems answer better?",
                said.ranking.summary(),
                result=said.ranking,
                picture="Strength of each system, by tier.",
                code="rank_systems(estimator, first, second)",
            )
        )
    sections += [panel_section(panel) for panel in said.panels]
    sections += todo_section(said.drawn)
    return Page(
        f"{said.name}: judges on pairs in two orders",
        "Every pair was shown in both orders: what the position does to each judge, and how often "
        "each errs without it.",
        sections,
    )


def _gold(estimator: ErrorEstimator) -> list[Any]:
    if estimator.from_labels_ is None:
        return []
    return [
        section(
            "What do the gold labels say?",
            _GOLD,
            grid=labels_grid(estimator),
            assumptions=("The labelled pairs were drawn at random, or with known probabilities.",),
            code="estimator.estimator_.from_labels_",
        )
    ]


# --- Which columns of a file are verdicts on pairs, in which order.


class PairFlags(NamedTuple):
    """What the flags say of pairs."""

    order: Sequence[str]
    names: LongNames
    label: str | None = None
    group: str | None = None
    system: Sequence[str] = ()
    panel: bool = False
    cost: Sequence[str] = ()
    same: Sequence[str] = ()
    todo: Todo = Todo()
    labels: str | None = None
    label_probability: str | None = None


class Verdicts(NamedTuple):
    """The verdicts: one long table, or two wide ones; and the column of the pairs' names."""

    first: Coded
    swapped: Coded | None
    item: str | None


def verdicts_of(table: InputTable, flags: PairFlags) -> Verdicts:
    """Return the verdicts of a file, wide or long."""
    order = list(flags.order)
    if len(order) > 2:
        raise OptionError(
            f"--order is {order}; expected one column that says the order, or two: the verdicts in "
            "either order"
        )
    wide = len(order) == 2 and any(mark in "".join(order) for mark in "*?[")
    if wide:
        first, second = (matching(table, "--order", [pattern]) for pattern in order)
        if len(first) != len(second):
            raise ColumnError(
                f"--order {order[0]} matches {len(first)} columns and {order[1]} {len(second)}; "
                "expected a column per judge in either order"
            )
        same = dict(zip(second, first, strict=True))
        item = _item(table, flags, first)
        return Verdicts(
            _named(table, item, table.frame.select(first), f"frame[{first}]"),
            _named(
                table,
                item,
                table.frame.select(second).rename(same),
                f"frame[{second}].rename({same})",
            ),
            item,
        )
    for name in order:
        table.column("--order", name)
    parts = ("item", "voter", "vote") if len(order) == 1 else ("item", "voter")
    columns = flags.names.found(
        table,
        parts=parts,
        taken={flags.label, flags.group, *flags.system, *order},
        beside=order if len(order) == 1 else (),
        sure=True,
    )
    if columns is None:
        raise ColumnError(
            "--order: a long file has columns of items, judges and verdicts; here "
            f"{long_help(table.frame.columns, LONG_FLAGS)}"
        )
    called = {"item": columns.item, "judge": columns.voter}
    if len(order) == 1:
        called |= {"order": order[0], "verdict": columns.vote}
    else:
        called |= {"verdict_order1": order[0], "verdict_order2": order[1]}
    picked = ", ".join(f"{name}={column!r}" for name, column in called.items())
    frame = table.frame.select([table.frame[c].alias(name) for name, c in called.items()])
    return Verdicts(Coded(frame, f"frame.select({picked})"), None, columns.item)


def _item(table: InputTable, flags: PairFlags, judges: Sequence[str]) -> str | None:
    """Return the column that names the pairs of a wide file, None if there is none."""
    item = flags.names.item_of(table)
    if item is None or item in judges:
        return None
    names = table.frame[item]
    if flags.names.item is None and names.n_unique() < len(names):
        return None  # nobody said that this column names the pairs
    return item


def _named(table: InputTable, item: str | None, frame: Any, code: str) -> Coded:
    """Return a wide table of verdicts with the names of its pairs, if the file has them."""
    if item is None:
        return Coded(frame, code)
    names = table.frame[item].alias("item")
    return Coded(frame.with_columns(names), f"{code}.with_columns(item=frame[{item!r}])")


def judges_of(verdicts: Coded) -> list[str]:
    """Return the names of the judges of a long table, or of a wide one."""
    frame = verdicts.value
    if "judge" in frame.columns:
        return [str(name) for name in frame["judge"].unique(maintain_order=True)]
    return [name for name in frame.columns if name != "item"]
