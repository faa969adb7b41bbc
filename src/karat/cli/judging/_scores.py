"""Scores as votes, as a command answers them."""

from functools import partial
from typing import Any

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
from karat.cli.judging._columns import LongNames, limits_text, matching
from karat.consensus import ScoreErrors, ScoreEstimator

__all__ = ["scores_answer"]


def scores_answer(
    table: InputTable,
    judge: list[str],
    names: LongNames,
    label: str | None,
    group: str | None,
    confidence: float,
) -> Answer:
    """Return error rates and calibration of voters who give numbers."""
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
    return Answer(
        data={"summary": r.summary(), "result": r},
        text=[r.summary(), _grid(r)],
        page=partial(_page, table.path.name, r, code),
    )


def _grid(r: ScoreErrors) -> Grid:
    order = sorted(range(len(r.mean)), key=lambda i: (r.domain[i], r.mean[i]))
    level = f"{100 * r.confidence:g} % limits"
    rows = tuple(
        (
            str(r.domains[r.domain[i]]), str(r.classifiers[r.classifier[i]]), f"{r.mean[i]:.3f}",
            limits_text(r.lower[i], r.upper[i]), f"{r.area[i]:.3f}",
            limits_text(r.area_lower[i], r.area_upper[i]),
            "yes" if r.identified[r.domain[i]] else "no",
        )
        for i in order
    )  # fmt: skip
    return Grid(
        ("domain", "voter", "error rate", level, "area", level, "identified by the scores"), rows
    )


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
