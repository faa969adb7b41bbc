"""Scores as votes, as a command answers them."""

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
from karat.cli.judging._columns import LongNames, cannot_tell, limits_text, matching
from karat.cli.voters import status_rows, sure_of
from karat.consensus import ScoreErrors, ScoreEstimator

__all__ = ["ScoreFlags", "scores_answer"]


class ScoreFlags(NamedTuple):
    """What the flags say of scores."""

    judge: Sequence[str]
    names: LongNames
    label: str | None = None
    group: str | None = None
    labels: str | None = None


def scores_answer(table: InputTable, flags: ScoreFlags, confidence: float) -> Answer:
    """Return error rates and calibration of voters who give numbers."""
    judge, names, label, group, labels = flags
    columns = None if judge else names.found(table, vote=True)
    if columns is None:
        taken = {label, group, names.item, "item", "id", "item_id"}
        numbers = [
            n for n in table.frame.columns if n not in taken and table.frame[n].dtype.is_numeric()
        ]
        chosen = matching(table, "--judge", judge) if judge else numbers
        scores = Coded(table.frame.select(chosen), f"frame[{chosen}]")
    else:
        called = {"item": columns["item"], "judge": columns["who"], "score": columns["what"]}
        picked = ", ".join(f"{name}={column!r}" for name, column in called.items())
        frame = table.frame.select([table.frame[c].alias(name) for name, c in called.items()])
        scores = Coded(frame, f"frame.select({picked})")
    options: dict[str, Any] = {"confidence": confidence, "rng": 0}
    fitted = {
        "domains": table.coded("--group", group),
        "y_true": table.coded("--label", label),
        "labels": labels or "random",
    }
    estimator = ScoreEstimator(**options).fit(scores.value, **values(fitted))
    build = call_code("ScoreEstimator", **options)
    code = script(
        ("import polars as pl", "from karat.consensus import ScoreEstimator"),
        table.code,
        f"estimator = {call_code(f'{build}.fit', scores, **fitted)}",
        "estimator.error_rates_",
    )
    r = estimator.result_
    opening = [f"{r.summary()}.", sure_of(r.domains, r.status)]
    return Answer(
        data={"summary": " ".join(opening), "status": status_rows(r), "result": r},
        text=[*opening, _grid(r)],
        page=partial(_page, table.path.name, r, code),
    )


def _grid(r: ScoreErrors) -> Grid:
    order = sorted(range(len(r.mean)), key=lambda i: (r.domain[i], r.mean[i]))
    level = f"{100 * r.confidence:g} % limits"
    told, several = r.identified.tolist(), len(r.domains) > 1
    rows = tuple(
        (
            *((str(r.domains[r.domain[i]]),) if several else ()),
            str(r.classifiers[r.classifier[i]]), f"{r.mean[i]:.3f}",
            cannot_tell("scores", told, r.domain[i]) + limits_text(r.lower[i], r.upper[i]),
            f"{r.area[i]:.3f}",
            cannot_tell("scores", told, r.domain[i])
            + limits_text(r.area_lower[i], r.area_upper[i]),
            r.status[r.domain[i]],
        )
        for i in order
    )  # fmt: skip
    limits = level if any(told) else "scores cannot tell"
    head = ("domain",) * several + ("voter", "error rate", limits, "area", limits, "status")
    return Grid(head, rows)


def _page(name: str, r: ScoreErrors, code: str) -> Page:
    return Page(
        f"{name}: how good are the scores",
        "Error rates from scores as they are: their order counts, and no threshold was chosen.",
        [
            section(
                "How well does each voter tell the classes apart?",
                r.summary(),
                result=r,
                picture="Error rate of each voter's scores with its limits.",
                grid=_grid(r),
                assumptions=(
                    "Voters err independently given the class; pairs of voters are checked.",
                    *(reason for reasons in r.reasons for reason in reasons),
                ),
                code=code,
            )
        ],
    )
