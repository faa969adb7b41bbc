"""``karat judges``: how good voters are, from their votes in a file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from karat.cli.counted import counted_judges, is_counts, refuse_flags
from karat.cli.frame import (
    Answer,
    Coded,
    InputTable,
    call_code,
    flags,
    read_null,
    read_table,
    replaced,
    run,
    script,
    table_writer,
    values,
)
from karat.cli.judging import (
    LongNames,
    PairFlags,
    PeopleFlags,
    pairs_answer,
    parse_families,
    people_answer,
    scores_answer,
    with_panel,
)
from karat.cli.voters import Reading, Votes, read_votes_of, report
from karat.consensus import ErrorEstimator
from karat.exceptions import OptionError

__all__ = ["judges"]

_SHARING = ("coupled", "hierarchical")


def judges(
    file: flags.File,
    judge: flags.Voters = None,
    label: flags.KnownLabel = None,
    group: flags.Group = None,
    item: Annotated[
        str | None, typer.Option("--id", help="Column that names the items; by default item or id.")
    ] = None,
    voter: Annotated[
        str | None, typer.Option("--voter", help="Column of the voters' names in a long file.")
    ] = None,
    vote: Annotated[
        str | None, typer.Option("--vote", help="Column of the votes in a long file.")
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(
            "--labels",
            help="How labelled items were chosen: random, probability or picked. By default "
            "probability with --label-probability, else random.",
        ),
    ] = None,
    label_probability: Annotated[
        str | None,
        typer.Option(
            "--label-probability", help="Column of the chance with which each label was drawn."
        ),
    ] = None,
    same: Annotated[
        list[str] | None,
        typer.Option(
            "--same",
            help="Voters that count once: name=a,b,c or a pattern, such as gpt=gpt*. Repeat.",
        ),
    ] = None,
    label_next: Annotated[
        int | None, typer.Option("--label-next", help="Draw so many items to label next.")
    ] = None,
    todo: Annotated[
        Path | None,
        typer.Option("--todo", help="Write the items to label to this CSV, Parquet or Arrow file."),
    ] = None,
    null: flags.Null = "not-asked",
    threshold: Annotated[
        float | None, typer.Option(help="Cut probabilities into votes here.")
    ] = None,
    structure: Annotated[
        str, typer.Option(help="How domains share: independent, coupled or hierarchical.")
    ] = "independent",
    errors: Annotated[
        str, typer.Option(help="class-conditional or symmetric.")
    ] = "class-conditional",
    dependence: Annotated[str, typer.Option(help="auto, none, difficulty or pairs.")] = "auto",
    order: Annotated[
        list[str] | None,
        typer.Option(
            "--order",
            help="Pairs in two orders: the column that says the order, or two columns (or "
            "patterns) of verdicts, with the first answer first and with it second.",
        ),
    ] = None,
    system: Annotated[
        list[str] | None,
        typer.Option(
            "--system", help="With --order: columns of who wrote the first and the second answer."
        ),
    ] = None,
    people: Annotated[
        list[str] | None,
        typer.Option(
            "--people",
            help="May a judge replace a person? Columns, or voters, that are people; in a wide "
            "file --judge names the judges.",
        ),
    ] = None,
    epsilon: Annotated[
        float | None, typer.Option(help="With --people: how far a person may be ahead.")
    ] = None,
    alignment: Annotated[
        str, typer.Option(help="With --people: accuracy (labels) or rmse (ratings).")
    ] = "accuracy",
    scores: Annotated[
        bool, typer.Option("--scores", help="Votes are ratings or probabilities, used as they are.")
    ] = False,
    panel: Annotated[
        bool, typer.Option("--panel", help="Name the cheapest judges that decide as all do.")
    ] = False,
    cost: Annotated[
        list[str] | None, typer.Option("--cost", help="With --panel: judge=number. Repeat.")
    ] = None,
    confidence: flags.Confidence = 0.95,
    rows: flags.Rows = None,
    output: flags.Output = None,
    as_json: flags.AsJson = False,
) -> None:
    """Estimate how often each judge, annotator or classifier errs, from their votes.

    A wide file has a column per voter: all columns that no flag names, or those of
    --judge. A long file has the columns item, classifier and vote (or task, worker,
    label; or item, judge, verdict; or those that --id, --voter and --vote name).
    Domains are those of --group, else those of the column domain.
    With --order the votes are verdicts on pairs shown in two orders; with --people
    each judge is compared with people (in a wide file the judges that --judge names);
    with --scores the votes are numbers.
    """
    options: dict[str, Any] = {
        "structure": structure, "errors": errors, "dependence": dependence,
        "confidence": confidence, "rng": 0,
    }  # fmt: skip
    names = LongNames(item, voter, vote)
    pairs = PairFlags(order or (), names, label, group, system or (), panel, cost or (), same or ())
    beside = PeopleFlags(people or (), judge or (), names, epsilon, alignment)
    plain = {"--label-next": label_next, "--threshold": threshold, "--todo": todo, "--same": same}
    asked = _question(pairs, beside, plain, scores=scores)
    if asked:

        def other() -> Answer:
            table = read_table(file, rows)
            if asked == "--scores":
                return scores_answer(table, judge or [], names, label, group, confidence)
            answer = pairs_answer(table, pairs, confidence) if order else None
            return answer or people_answer(table, beside, confidence)

        run(other, output=output, as_json=as_json, reads=[file])
        return
    if todo is not None and label_next is None:
        raise OptionError("--todo is a file for the items of --label-next; expected both flags")
    reading = Reading(
        judge or (), label, group, item, voter, vote,
        [label_probability] if label_probability else [], threshold is not None,
    )  # fmt: skip

    def work() -> Answer:
        writer = None if todo is None else table_writer("--todo", todo)
        if is_counts(file):
            refuse_flags(plain | {"--judge": judge, "--label-probability": label_probability})
            return _of_counts(file, reading, options)
        table = read_table(file, rows)
        truth, chosen = _gold(table, label, labels, label_probability)
        found = read_votes_of(table, reading)
        if structure in _SHARING and not (group or "domain" in found.votes.value.columns):
            raise OptionError(
                f"--structure is {structure!r}; expected --group with it, which names the column "
                "of the domains that share"
            )
        fitted = {
            "domains": None if found.long else table.coded("--group", group),
            "y_true": table.coded("--label", truth),
            "labels": chosen,
            "label_probability": table.coded("--label-probability", label_probability),
            "same": _families(same or [], found),
            "threshold": threshold,
            "null": read_null(null),
        }
        passed = {k: v for k, v in values(fitted).items() if k != "labels" or v is not None}
        estimator = ErrorEstimator(**options).fit(found.votes.value, **passed)
        drawn = None if label_next is None else estimator.label_next(label_next)
        if writer is not None and todo is not None:
            with replaced(todo) as path:
                writer(drawn, path)
        code = _code(table.code, options, found.votes, fitted, label_next)
        answer = report(file.name, estimator, found.columns, code, drawn, str(todo or ""))
        return with_panel(answer, estimator, cost or (), confidence) if panel else answer

    run(work, output=output, as_json=as_json, reads=[file], writes={"--todo": todo})


def _of_counts(file: Path, reading: Reading, options: dict[str, Any]) -> Answer:
    """Return the answer from counts, in which the roles of the columns are fixed."""
    refuse_flags({"--label": reading.label, "--group": reading.group, "--id": reading.item,
                  "--voter": reading.voter, "--vote": reading.vote})  # fmt: skip
    counted, voters, code = counted_judges(file, options)
    return report(file.name, counted, voters, code, None, "")


def _gold(
    table: InputTable, label: str | None, labels: str | None, probability: str | None
) -> tuple[str | None, str | None]:
    """Return the column of true labels, and how they were chosen.

    People who correct a log choose what they correct, so those labels are no random sample.
    """
    if label is None and table.log and table.frame["gold"].count():
        return "gold", labels or "picked"
    return label, labels or ("probability" if probability else None)


def _question(pairs: PairFlags, beside: PeopleFlags, plain: dict[str, Any], *, scores: bool) -> str:
    """Return the flag of the question that is asked, empty for that of votes; refuse two."""
    asked = {"--order": bool(pairs.order), "--people": bool(beside.people), "--scores": scores}
    chosen = [flag for flag, on in asked.items() if on]
    if len(chosen) > 1:
        raise OptionError(f"{chosen[0]} and {chosen[1]} ask different questions; expected one")
    others = [f for f, v in plain.items() if v is not None and not (pairs.order and f == "--same")]
    others += ["--panel"] * (pairs.panel and not pairs.order)
    if chosen and others:
        raise OptionError(f"{others[0]} does not go with {chosen[0]}; expected one of them")
    if pairs.system and not pairs.order:
        raise OptionError("--system names who wrote the answers of pairs; expected --order with it")
    return chosen[0] if chosen else ""


def _code(
    read: str, options: dict[str, Any], votes: Coded, fitted: dict[str, Any], n: int | None
) -> str:
    build = call_code("ErrorEstimator", **options)
    return script(
        ("import polars as pl", "from karat.consensus import ErrorEstimator"),
        read,
        f"estimator = {call_code(f'{build}.fit', votes, **fitted)}",
        "estimator.error_rates_",
        "" if n is None else f"estimator.label_next({n})",
    )


def _families(given: Sequence[str], found: Votes) -> dict[str, list[Any]] | None:
    """Return the families of voters that count once, patterns replaced by names."""
    if not given:
        return None
    frame = found.votes.value
    voters = frame["classifier"].unique().sort().to_list() if found.long else found.columns
    return parse_families(given, voters)
