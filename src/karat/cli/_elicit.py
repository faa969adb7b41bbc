"""``karat elicit``: find out at the terminal what should be measured."""

import warnings
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from karat.cli.frame import Answer, Grid, Page, console, flags, read_table, replaced, run, section
from karat.cli.interview import SHOWN_CASES, ask, begin, nothing_said, read_space
from karat.elicit import ElicitationResult, Fair, FairQuadratic, Procedure
from karat.elicit.by_name import FAMILIES
from karat.exceptions import ContradictionWarning

__all__ = ["elicit"]


def elicit(
    file: flags.File,
    label: flags.Label,
    score: flags.Score = None,
    prob: flags.Probabilities = None,
    pos_label: flags.PosLabel = None,
    group: flags.Group = None,
    family: Annotated[str, typer.Option(help=f"One of {', '.join(FAMILIES)}.")] = "linear",
    strategy: Annotated[
        str | None, typer.Option(help="active (where nothing is said), bisection or published.")
    ] = None,
    agreement: Annotated[
        float | None,
        typer.Option(
            help="Predicted agreement at which to stop asking (0.95); a greater one than that of a "
            "transcript goes on asking."
        ),
    ] = None,
    precision: Annotated[
        float | None,
        typer.Option(
            help="Ratio of upper to lower limits of what errors cost at which to stop asking (3); "
            "a smaller one than that of a transcript goes on asking."
        ),
    ] = None,
    max_queries: Annotated[
        int | None,
        typer.Option(help="Greatest number of questions; a greater one goes on asking too."),
    ] = None,
    smooth: Annotated[
        bool, typer.Option(help="Ask about the fitted law, which has no steps of chance.")
    ] = True,
    transcript: Annotated[
        Path | None,
        typer.Option(help="Save every answer here; goes on from it if it is there."),
    ] = None,
    save_metric: Annotated[
        Path | None,
        typer.Option(help="Write the metric here, as JSON, unless the answers are flagged."),
    ] = None,
    output: flags.Output = None,
    as_json: flags.AsJson = False,
) -> None:
    """Find out what should be measured, by asking which of two classifiers is better.

    Example:  karat elicit mails.csv --label truth --score p_spam --save-metric mine.json

    Answers that speak against any metric of the family are flagged: no metric is written of them,
    and the exit code is 3 where one was asked for.
    """
    refused: list[Path] = []
    options: dict[str, Any] = {
        "strategy": strategy, "agreement": agreement, "precision": precision,
        "max_queries": max_queries, "out_of": SHOWN_CASES,
    }  # fmt: skip

    def work() -> Answer:
        space, build = read_space(
            read_table(file).with_codes(group), label=label, score=score, prob=prob or [],
            pos_label=pos_label, group=group, family=family,
        )  # fmt: skip
        space = space.smoothed() if smooth else space
        procedure, note = begin(build, space, transcript, options)
        if note:
            console(stderr=as_json).print(note, markup=False)
        ask(procedure, space, transcript, quiet=as_json)
        if (nothing := nothing_said(procedure, transcript)) is not None:
            return Answer(data={"summary": nothing, "result": None}, text=[nothing])
        result = procedure.result
        written = save_metric
        if save_metric is not None and result.status == "flagged":
            refused.append(save_metric)
            _warn_of_flags(save_metric)
            written = None
        elif save_metric is not None:
            with replaced(save_metric) as path:
                path.write_text(result.metric.to_json() + "\n", encoding="utf-8")
        return _answer(file.name, procedure, result, written, transcript)

    run(
        work,
        output=output,
        as_json=as_json,
        reads=[file],
        writes={"--transcript": transcript, "--save-metric": save_metric},
    )
    if refused:
        raise typer.Exit(3)


def _warn_of_flags(path: Path) -> None:
    earlier = f"; what {path} holds is from before" * path.exists()
    warnings.warn(
        f"the answers are flagged, so their metric was not written{earlier}. Ask again with a new "
        "--transcript, or by another --family",
        ContradictionWarning,
        stacklevel=1,
    )


def _answer(
    name: str,
    procedure: Procedure,
    result: ElicitationResult,
    save_metric: Path | None,
    transcript: Path | None,
) -> Answer:
    described = result.description
    weights = Grid(("weight", "estimate", "95 % limits"), tuple(_rows(result)))
    text: list[str | Grid] = [result.summary(), weights, described]
    if save_metric is not None:
        text.append(f"the metric is in {save_metric}")
    if transcript is not None:
        go_on = "" if procedure.finished else ": run again to go on"
        text.append(f"the answers are in {transcript}{go_on}")
    return Answer(
        data={"summary": result.summary(), "result": result},
        text=text,
        page=partial(_page, name, procedure, result, described, weights),
    )


def _rows(result: ElicitationResult) -> list[tuple[str, str, str]]:
    def limits(low: float, high: float) -> str:
        return f"{low:.3g} to {'∞' if np.isinf(high) else f'{high:.3g}'}"

    return [
        (w.name, f"{w.estimate:.3g}", limits(w.lower, w.upper))
        for w in (*result.intervals, *result.ratios)
    ]


def _page(
    name: str, procedure: Procedure, result: ElicitationResult, described: str, weights: Grid
) -> Page:
    sections = [
        section(
            "What should we measure?",
            f"{result.summary()} {described}",
            result=result,
            picture="The weights that fit the answers, with their limits.",
            grid=weights,
            assumptions=(
                "The person compares classifiers by a metric of this family, slips now and then, "
                "and means the same by every answer.",
            ),
            code=(
                f"from karat.elicit import {result.procedure}\n\n"
                f"{result.procedure}.resume(space, 'answers.json').result.metric\n"
            ),
        ),
        *_group_sections(procedure, result),
        section(
            "What was asked?",
            result.questions.summary(),
            result=result.questions,
            picture="The pairs asked about, among what classifiers attain.",
        ),
        section(
            "Would more questions help?",
            result.progress.summary(),
            result=result.progress,
            picture="Predicted agreement after each answer.",
        ),
    ]
    return Page(
        f"{name}: what should be measured",
        "Which of two classifiers is better? From the answers, a metric with its uncertainty.",
        sections,
    )


def _group_sections(procedure: Procedure, result: ElicitationResult) -> list[Any]:
    """Return what there is to say of a metric of groups."""
    if result.trade_off is None or not isinstance(procedure, Fair | FairQuadratic):
        return []
    frontier = procedure.frontier()
    return [
        section(
            "What is a gap between groups worth?",
            result.trade_off.summary(),
            result=result.trade_off,
            picture="The trade-offs that fit the answers.",
        ),
        section(
            "What would it choose?",
            frontier.summary(),
            result=frontier,
            picture="Few errors or small gaps, and lines along which both are equally good.",
        ),
    ]
