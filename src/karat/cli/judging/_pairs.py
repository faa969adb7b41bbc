"""Pairs in two orders, as a command answers them."""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from karat.cli.frame import (
    Answer,
    Coded,
    Grid,
    InputTable,
    Page,
    call_code,
    script,
    section,
    values,
)
from karat.cli.judging._columns import LongNames, limits_text, matching, parse_families
from karat.cli.judging._panel import panel_of, panel_section, panel_text
from karat.consensus import JudgePanel, PairErrors, PairEstimator, SystemRanking, rank_systems
from karat.exceptions import ColumnError, OptionError

__all__ = ["PairFlags", "pairs_answer"]


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


def pairs_answer(table: InputTable, flags: PairFlags, confidence: float) -> Answer:
    """Return bias and error rates of judges on pairs, and on request systems and panel."""
    verdicts, swapped = _verdicts(table, flags)
    options: dict[str, Any] = {"confidence": confidence, "rng": 0}
    fitted = {
        "y_true": table.coded("--label", flags.label),
        "domains": table.coded("--group", flags.group),
        "same": parse_families(flags.same, _judges(verdicts)),
    }
    beside = [] if swapped is None else [swapped]
    estimator = PairEstimator(**options).fit(
        verdicts.value,
        *(one.value for one in beside),
        **values(fitted),
    )
    blind = estimator
    if flags.system and flags.label is not None:  # gold helps a ranking only if judges are blind
        without = values(fitted | {"y_true": None})
        blind = PairEstimator(**options).fit(
            verdicts.value, *(one.value for one in beside), **without
        )
    ranking = _systems(table, flags, blind, confidence)
    panels = panel_of(estimator, flags.cost, confidence) if flags.panel else []
    build = call_code("PairEstimator", **options)
    code = script(
        ("import polars as pl", "from karat.consensus import PairEstimator"),
        table.code,
        f"estimator = {call_code(f'{build}.fit', verdicts, *beside, **fitted)}",
        "estimator.error_rates_",
    )
    return _answer(table.path.name, estimator, ranking, panels, code)


def _verdicts(table: InputTable, flags: PairFlags) -> tuple[Coded, Coded | None]:
    """Return the verdicts: one long table, or two wide ones."""
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
        return (
            Coded(table.frame.select(first), f"frame[{first}]"),
            Coded(table.frame.select(second).rename(same), f"frame[{second}].rename({same})"),
        )
    for name in order:
        table.column("--order", name)
    columns = flags.names.found(table, vote=len(order) == 1)
    if columns is None:
        raise ColumnError(
            f"--order: a long file has columns of items, judges and verdicts; name them with --id, "
            f"--voter and --vote. There are {table.frame.columns}"
        )
    called = {"item": columns["item"], "judge": columns["who"]}
    if len(order) == 1:
        called |= {"order": order[0], "verdict": columns["what"]}
    else:
        called |= {"verdict_order1": order[0], "verdict_order2": order[1]}
    picked = ", ".join(f"{name}={column!r}" for name, column in called.items())
    frame = table.frame.select([table.frame[c].alias(name) for name, c in called.items()])
    return Coded(frame, f"frame.select({picked})"), None


def _judges(verdicts: Coded) -> list[str]:
    """Return the names of the judges of a long table, or of a wide one."""
    frame = verdicts.value
    found = (
        frame["judge"].unique(maintain_order=True) if "judge" in frame.columns else frame.columns
    )
    return [str(name) for name in found]


def _systems(
    table: InputTable, flags: PairFlags, estimator: PairEstimator, confidence: float
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
    if estimator.items_ is not None:
        found = flags.names.found(table, vote=False)
        assert found is not None  # the verdicts were read by it
        items = table.frame[found["item"]].to_list()
        columns = [dict(zip(items, column.to_list(), strict=True)) for column in columns]
    gold = columns[2] if len(columns) > 2 else None
    return rank_systems(estimator, *columns[:2], y_true=gold, confidence=confidence, rng=0)


def _grid(r: PairErrors) -> Grid:
    order = sorted(range(len(r.mean)), key=lambda i: (r.domain[i], r.mean[i]))
    level = f"{100 * r.confidence:g} % limits"
    rows = tuple(
        (
            str(r.domains[r.domain[i]]), str(r.judges[r.judge[i]]), f"{r.mean[i]:.3f}",
            limits_text(r.lower[i], r.upper[i]), f"{r.bias.bias[r.judge[i]]:+.3f}",
            limits_text(r.bias.lower[r.judge[i]], r.bias.upper[r.judge[i]], signed=True),
            f"{r.cost[i]:.3f}",
        )
        for i in order
    )  # fmt: skip
    names = ("domain", "judge", "error rate", level, "position bias", level, "cost of one order")
    return Grid(names, rows)


def _answer(
    name: str,
    estimator: PairEstimator,
    ranking: SystemRanking | None,
    panels: Sequence[JudgePanel],
    code: str,
) -> Answer:
    r = estimator.result_
    data: dict[str, Any] = {"summary": r.summary(), "result": r, "position_bias": r.bias}
    text: list[str | Grid] = [r.summary(), r.bias.summary(), _grid(r)]
    if ranking is not None:
        data["systems"] = ranking
        text.append(ranking.summary())
    if panels:
        data["panels"] = list(panels)
        text += panel_text(panels)
    return Answer(data=data, text=text, page=partial(_page, name, estimator, ranking, panels, code))


def _page(
    name: str,
    estimator: PairEstimator,
    ranking: SystemRanking | None,
    panels: Sequence[JudgePanel],
    code: str,
) -> Page:
    r = estimator.result_
    sections = [
        section(
            "How often does each judge prefer the worse answer?",
            r.summary(),
            result=r,
            picture="Error rate of each judge with the bias out, and in one order only.",
            grid=_grid(r),
            assumptions=(
                "A pair and its mirror image are alike to a judge, but for the position.",
                f"The votes leave the rates {', '.join(sorted(set(r.status)))}.",
            ),
            code=code,
        ),
        section(
            "Who follows the position of an answer?",
            r.bias.summary(),
            result=r.bias,
            picture="Position bias of each judge with its limits.",
            code="estimator.position_bias_",
        ),
    ]
    if ranking is not None:
        sections.append(
            section(
                "Which systems answer better?",
                ranking.summary(),
                result=ranking,
                picture="Strength of each system, by tier.",
                code="rank_systems(estimator, first, second)",
            )
        )
    sections += [panel_section(panel) for panel in panels]
    return Page(
        f"{name}: judges on pairs in two orders",
        "Every pair was shown in both orders: what the position does to each judge, and how often "
        "each errs without it.",
        sections,
    )
