"""``karat elicit``: ask a person which of two classifiers is better, and save the metric."""

import warnings
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from karat._files import replaced
from karat._validate import check_choice
from karat.cli import _flags as flags
from karat.cli._asking import SHOWN_CASES, ask, begin, nothing_said
from karat.cli._calls import check_taken, chosen_counts, needed_label
from karat.cli._run import console, run
from karat.cli._table import (
    InputTable,
    check_score_or_prob,
    read_pos_label,
    read_probabilities,
    read_table,
)
from karat.elicit import BinarySpace, RateSpace
from karat.elicit.by_name import FAMILIES, SPACES, space_name
from karat.elicit.spaces import Space
from karat.evaluation.elicited import of_elicitation
from karat.exceptions import ContradictionWarning, OptionError
from karat.metrics.base import MetricBase
from karat.report.answer import Answer
from karat.sources import Counts
from karat.sources.stored import is_counts


def elicit(
    file: flags.File,
    label: flags.KnownLabel = None,
    score: flags.Score = None,
    prob: flags.Probabilities = None,
    pos_label: flags.PosLabel = None,
    group: flags.Group = None,
    family: Annotated[str, typer.Option(help=f"One of {', '.join(FAMILIES)}.")] = "linear",
    space: Annotated[
        str | None,
        typer.Option(
            help=f"What the metric weighs: one of {', '.join(SPACES)} (where nothing is said, what "
            "is usual for the family; groups with --group)."
        ),
    ] = None,
    strategy: Annotated[
        str | None,
        typer.Option(help="active (where nothing is said), bisection, published or corrected."),
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
        typer.Option(help="Write the metric here, as JSON, with its classes and its status."),
    ] = None,
    output: flags.Output = None,
    as_json: flags.AsJson = False,
) -> None:
    """Find out what should be measured, by asking which of two classifiers is better.

    Example:  karat elicit mails.csv --label truth --score p_spam --save-metric mine.json

    Answers that speak against any metric of the family are flagged: their metric is written as
    flagged, commands refuse it, and the exit code is 3.
    """
    flagged: list[Path] = []
    options: dict[str, Any] = {
        "strategy": strategy,
        "agreement": agreement,
        "precision": precision,
        "max_queries": max_queries,
        "out_of": SHOWN_CASES,
    }

    def work() -> Answer:
        if is_counts(file):
            of_rows = {"label": label, "prob": prob, "pos_label": pos_label, "group": group}
            check_taken(of_rows, beside="a file of counts")
            asked_about: Space = counted_space(file, score, family, space)
        else:
            asked_about = read_space(
                read_table(file).with_codes(group),
                label=needed_label(label),
                score=score,
                prob=prob or [],
                pos_label=pos_label,
                group=group,
                family=family,
                space=space,
            )
        asked_about = asked_about.smoothed() if smooth else asked_about
        elicitation, note = begin(asked_about, family, transcript, options)
        if note:
            console(stderr=as_json).print(note, markup=False)
        ask(elicitation, asked_about, transcript, quiet=as_json)
        if (nothing := nothing_said(elicitation, transcript)) is not None:
            return Answer(data={"summary": nothing, "result": None}, text=[nothing])
        result = elicitation.result
        if save_metric is not None:
            with replaced(save_metric) as path:
                path.write_text(_dated(result.metric).to_json() + "\n", encoding="utf-8")
            if result.status == "flagged":
                flagged.append(save_metric)
                _warn_of_flags(save_metric)
        return of_elicitation(
            elicitation,
            file.name,
            saved=None if save_metric is None else str(save_metric),
            kept=None if transcript is None else str(transcript),
        )

    run(
        work,
        output=output,
        as_json=as_json,
        reads=[file],
        writes={"--transcript": transcript, "--save-metric": save_metric},
    )
    if flagged:
        raise typer.Exit(3)


def _dated(metric: MetricBase) -> MetricBase:
    """Return the metric with today as the day of the last answer."""
    if metric.elicited is None:
        return metric
    today = datetime.now(UTC).date().isoformat()
    return metric._with(elicited=replace(metric.elicited, when=today))


def _warn_of_flags(path: Path) -> None:
    warnings.warn(
        f"the answers are flagged: {path} says so, and is refused wherever a metric is read. Ask "
        "again with a new --transcript, or by another --family",
        ContradictionWarning,
        stacklevel=1,
    )


# --- From columns of a table to a space of confusions.


def check_space(family: str, space: str | None, group: str | None) -> str | None:
    """Return the space that was chosen; refuse unknown names, and groups without a column."""
    check_choice(family, "--family", FAMILIES)
    check_choice(space, "--space", tuple(SPACES), none=True)
    if space == "groups" and group is None:
        raise OptionError("--space is 'groups'; expected --group with it, to compare groups")
    if space not in (None, "groups") and group is not None:
        raise OptionError(f"--group is {group!r}; expected --space groups with it, or no --space")
    return "groups" if group is not None else space


def counted_space(path: Path, score: str | None, family: str, space: str | None) -> BinarySpace:
    """Return the space of the thresholds of a score that was counted."""
    name = space_name(family, 2, space=check_space(family, space, None))
    if name != "binary":
        raise OptionError(
            f"--family {family} asks about the space {name!r}, which needs the rows: counts of a "
            "score hold the thresholds of two classes (--space binary)"
        )
    found = chosen_counts(Counts.load(path).roc, score and [score], "--score", path)
    if len(found) > 1:
        raise OptionError(f"--score is None; expected one of {', '.join(found)}")
    (counts,) = found.values()
    return BinarySpace.from_counts(counts)


def read_space(
    table: InputTable,
    *,
    label: str,
    score: str | None,
    prob: list[str],
    pos_label: str | None,
    group: str | None,
    family: str,
    space: str | None,
) -> Space:
    """Return the space that fits the columns and the family."""
    chosen = check_space(family, space, group)
    table = table.matched([label]).labelled(label)
    y_true = table.column("--label", label)
    positive = read_pos_label([y_true], pos_label)
    check_score_or_prob(score, prob)
    if score is None and not prob:
        raise OptionError(
            "--score is None; expected the column of scores of the positive class, or one --prob "
            f"per class in the order of the sorted labels; there are {table.frame.columns}"
        )
    if score is not None and space_name(family, 2, space=chosen) == "binary":
        scores = table.column("--score", score)  # that need not be probabilities
        return BinarySpace.from_scores(y_true, scores, pos_label=positive)
    proba, classes = read_probabilities(table, y_true, score, prob, positive, ordered=True)
    name = space_name(family, len(classes), space=chosen)
    if name == "groups":
        groups = table.optional("--group", group)
        return RateSpace.from_proba(y_true, proba.value, groups=groups, classes=classes)
    return SPACES[name].from_proba(y_true, proba.value, classes=classes)
