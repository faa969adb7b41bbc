"""karat judges: how good judges are, from votes, scores, pairs or beside people."""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from karat._code import Coded, call_code, script, values
from karat.cli import _flags as flags
from karat.cli import _judge_flags as own
from karat.cli._count import counted_judges, refuse_flags
from karat.cli._judge_flags import (
    LongNames,
    cannot_tell,
    limits_text,
    matching,
    parse_families,
    with_panel,
)
from karat.cli._pairs import PairFlags, pairs_answer
from karat.cli._people import PeopleFlags, people_answer
from karat.cli._run import Answer, Grid, Page, run, section
from karat.cli._table import InputTable, read_null, read_table
from karat.cli._voters import Reading, Todo, Votes, read_votes_of, report, status_rows, sure_of
from karat.consensus import ErrorEstimator, ScoreErrors, ScoreEstimator
from karat.exceptions import OptionError
from karat.sources.stored import is_counts
from karat.votes.long_names import NUMBER_NAMES, fitting

# Flags that a further question takes beside the columns; the others are for votes alone.
_TAKES = {
    "--order": {
        "--same",
        "--panel",
        "--cost",
        "--system",
        "--label-next",
        "--todo",
        "--labels",
        "--label-probability",
        "--errors",
        "--dependence",
    },
    "--people": {"--epsilon"},
    "--scores": {"--labels"},
}
# What cannot be answered from counts.
_NEEDS_ROWS = (
    "--label-next",
    "--todo",
    "--same",
    "--threshold",
    "--label-probability",
    "--null",
    "--panel",
    "--cost",
)


def judges(
    file: flags.File,
    judge: flags.Voters = None,
    label: flags.KnownLabel = None,
    group: flags.Group = None,
    item: flags.Id = None,
    voter: own.VoterColumn = None,
    vote: own.VoteColumn = None,
    labels: own.LabelsChosen = None,
    label_probability: own.LabelProbability = None,
    same: own.Same = None,
    label_next: own.LabelNext = None,
    todo: own.TodoFile = None,
    null: flags.Null = "not-asked",
    threshold: own.Threshold = None,
    structure: own.Structure = "independent",
    errors: own.Errors = None,
    dependence: own.Dependence = "auto",
    order: own.Order = None,
    system: own.System = None,
    people: own.People = None,
    epsilon: own.Epsilon = None,
    alignment: own.Alignment = "accuracy",
    scores: own.Scored = False,
    panel: own.Panel = False,
    cost: own.Cost = None,
    confidence: flags.Confidence = 0.95,
    rows: flags.Rows = None,
    output: flags.Output = None,
    as_json: flags.AsJson = False,
) -> None:
    """Estimate how often each judge, annotator or classifier errs, from their votes.

    Example:  karat judges verdicts.csv --judge 'judge_*' --output judges.html

    A wide file has a column per voter: all columns that no flag names, or those of
    --judge. A long file has a row per vote: columns of items, voters and votes, known by
    names such as item, annotator, label or task_id, worker, answer, or named by --id,
    --voter and --vote. Domains are those of --group, else those of the column domain.
    With --order the votes are verdicts on pairs shown in two orders; with --people
    each judge is compared with people; with --scores the votes are numbers.
    """
    given = {
        "--same": same,
        "--label-next": label_next,
        "--todo": todo,
        "--threshold": threshold,
        "--panel": panel or None,
        "--cost": cost,
        "--labels": labels,
        "--epsilon": epsilon,
        "--label-probability": label_probability,
        "--system": system,
        "--errors": errors,
        "--dependence": None if dependence == "auto" else dependence,
        "--structure": None if structure == "independent" else structure,
        "--null": None if null == "not-asked" else null,
    }
    asked = _question({"--order": order, "--people": people, "--scores": scores}, given)
    items, names = Todo(label_next, todo), LongNames(item, voter, vote)
    items.check()
    also = [label_probability] if label_probability else []
    common: dict[str, Any] = {"dependence": dependence, "confidence": confidence, "rng": 0}

    def work() -> Answer:
        model = {"structure": structure, "errors": errors or "class-conditional"}
        if not asked and is_counts(file):
            columns = {
                "--judge": judge,
                "--label": label,
                "--group": group,
                "--id": item,
                "--voter": voter,
                "--vote": vote,
                "--rows": rows,
            }
            refuse_flags(columns | {flag: given[flag] for flag in _NEEDS_ROWS})
            counted, voters, lines = counted_judges(file, model | common, labels)
            return report(file.name, counted, voters, lines, items, None)
        table = read_table(file, rows)
        ids = [item] if item else fitting("item", table.frame.columns)
        table = table.with_text_ids(*ids).with_codes(group)
        if asked == "--order":
            pairs = PairFlags(
                order or (),
                names,
                label,
                group,
                system or (),
                panel,
                cost or (),
                same or (),
                items,
                labels,
                label_probability,
            )
            return pairs_answer(table, pairs, {"errors": errors or "symmetric"} | common)
        if asked == "--people":
            beside = PeopleFlags(
                people or (), judge or (), names, epsilon, alignment, [label, group]
            )
            return people_answer(table, beside, confidence)
        if asked == "--scores":
            scored = ScoreFlags(judge or (), names, label, group, labels)
            return scores_answer(table, scored, confidence)
        reading = Reading(judge or (), label, group, item, voter, vote, also, threshold is not None)
        votes = VoteFlags(
            reading,
            items,
            null,
            labels,
            label_probability,
            threshold,
            same or (),
            panel,
            cost or (),
        )
        return votes_answer(table, votes, model | common)

    run(work, output=output, as_json=as_json, reads=[file], writes={"--todo": todo})


def _question(asked: dict[str, Any], given: dict[str, Any]) -> str:
    """Return the flag of the question that is asked, empty for that of votes; refuse two."""
    chosen = [flag for flag, on in asked.items() if on]
    if len(chosen) > 1:
        raise OptionError(f"{chosen[0]} and {chosen[1]} ask different questions; expected one")
    passed = {flag for flag, value in given.items() if value is not None}
    if chosen:
        others = sorted(passed - _TAKES[chosen[0]])
        if others:
            raise OptionError(f"{others[0]} does not go with {chosen[0]}; expected one of them")
        return chosen[0]
    for flag, meaning in (
        ("--system", "names who wrote the answers of pairs; expected --order"),
        ("--epsilon", "is how far a person may be ahead of a judge; expected --people"),
    ):
        if flag in passed:
            raise OptionError(f"{flag} {meaning} with it")
    return ""


# --- Scores as votes, as a command answers them.


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
    columns = None if judge else names.found(table, taken={label, group}, first=NUMBER_NAMES)
    if columns is None:
        taken = {label, group, names.item_of(table)}
        numbers = [
            n for n in table.frame.columns if n not in taken and table.frame[n].dtype.is_numeric()
        ]
        chosen = matching(table, "--judge", judge) if judge else numbers
        scores = Coded(table.frame.select(chosen), f"frame[{chosen}]")
    else:
        called = {"item": columns.item, "judge": columns.voter, "score": columns.vote}
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
    order = sorted(range(len(r.value)), key=lambda i: (r.domain[i], r.value[i]))
    level = f"{100 * r.confidence:g} % limits"
    told, several = r.identified.tolist(), len(r.domains) > 1
    rows = tuple(
        (
            *((str(r.domains[r.domain[i]]),) if several else ()),
            str(r.classifiers[r.classifier[i]]),
            f"{r.value[i]:.3f}",
            cannot_tell("scores", told, r.domain[i]) + limits_text(r.lower[i], r.upper[i]),
            f"{r.area.value[i]:.3f}",
            cannot_tell("scores", told, r.domain[i])
            + limits_text(r.area.lower[i], r.area.upper[i]),
            r.status[r.domain[i]],
        )
        for i in order
    )
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


# --- Votes, as a command answers them: read, fitted, and the items to label drawn.

_SHARING = ("coupled", "hierarchical")


class VoteFlags(NamedTuple):
    """What the flags say of votes, beside which columns hold them."""

    reading: Reading
    todo: Todo
    null: str
    labels: str | None = None
    label_probability: str | None = None
    threshold: float | None = None
    same: Sequence[str] = ()
    panel: bool = False
    cost: Sequence[str] = ()


def votes_answer(table: InputTable, flags: VoteFlags, options: dict[str, Any]) -> Answer:
    """Return error rates from votes; ``options`` are those of the estimator."""
    meaning, group = read_null(flags.null), flags.reading.group
    found = read_votes_of(table, flags.reading)
    apart = group is None and "domain" not in found.votes.value.columns
    if options["structure"] in _SHARING and apart:
        raise OptionError(
            f"--structure is {options['structure']!r}; expected --group with it, which names the "
            "column of the domains that share"
        )
    truth, chosen = _gold(table, flags)
    voted = found.columns[2:3] if found.long else found.columns
    matched = table.matched([*voted, truth])
    if matched is not table:
        table, found = matched, read_votes_of(matched, flags.reading)
    fitted = {
        "domains": None if found.long else table.coded("--group", group),
        "y_true": table.coded("--label", truth),
        "labels": chosen,
        "label_probability": table.coded("--label-probability", flags.label_probability),
        "same": parse_families(flags.same, _voters(found)),
        "threshold": flags.threshold,
        "null": meaning,
    }
    passed = {k: v for k, v in values(fitted).items() if k != "labels" or v is not None}
    estimator = ErrorEstimator(**options).fit(found.votes.value, **passed)
    code = _code(table.code, options, found.votes, fitted, flags.todo)
    drawn = flags.todo.draw(estimator, found.item if found.long else None)
    answer = report(table.path.name, estimator, found.columns, code, flags.todo, drawn)
    if not flags.panel:
        return answer
    return with_panel(answer, estimator, flags.cost, options["confidence"])


def _gold(table: InputTable, flags: VoteFlags) -> tuple[str | None, str | None]:
    """Return the column of true labels, and how they were chosen.

    People who correct a log choose what they correct, so those labels are no random sample.
    """
    label = flags.reading.label
    if label is None and table.log and table.frame["gold"].count():
        return "gold", flags.labels or "picked"
    return label, flags.labels or ("probability" if flags.label_probability else None)


def _code(
    read: str, options: dict[str, Any], votes: Coded, fitted: dict[str, Any], todo: Todo
) -> str:
    build = call_code("ErrorEstimator", **options)
    return script(
        ("import polars as pl", "from karat.consensus import ErrorEstimator"),
        read,
        f"estimator = {call_code(f'{build}.fit', votes, **fitted)}",
        "estimator.error_rates_",
        todo.code,
    )


def _voters(found: Votes) -> list[Any]:
    frame = found.votes.value
    if found.long:
        return list(frame["classifier"].unique().sort().to_list())
    return found.columns
