"""``karat judges``: how good voters are, from their votes in a file."""

from typing import Any

from karat.cli.counted import counted_judges, is_counts, refuse_flags
from karat.cli.frame import Answer, flags, read_table, run
from karat.cli.judging import (
    LongNames,
    PairFlags,
    PeopleFlags,
    ScoreFlags,
    VoteFlags,
    own,
    pairs_answer,
    people_answer,
    scores_answer,
    votes_answer,
)
from karat.cli.voters import ITEMS, Reading, Todo, report
from karat.exceptions import OptionError

__all__ = ["judges"]

# Flags that a further question takes beside the columns; the others are for votes alone.
_TAKES = {
    "--order": {
        "--same", "--panel", "--cost", "--system", "--label-next", "--todo", "--labels",
        "--label-probability", "--errors", "--dependence",
    },
    "--people": {"--epsilon"},
    "--scores": {"--labels"},
}  # fmt: skip
# What cannot be answered from counts.
_NEEDS_ROWS = (
    "--label-next", "--todo", "--same", "--threshold", "--label-probability", "--null", "--panel",
    "--cost",
)  # fmt: skip


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
    --judge. A long file has the columns item, classifier and vote (or task, worker,
    label; or item, judge, verdict; or those that --id, --voter and --vote name).
    Domains are those of --group, else those of the column domain.
    With --order the votes are verdicts on pairs shown in two orders; with --people
    each judge is compared with people; with --scores the votes are numbers.
    """
    given = {
        "--same": same, "--label-next": label_next, "--todo": todo, "--threshold": threshold,
        "--panel": panel or None, "--cost": cost, "--labels": labels, "--epsilon": epsilon,
        "--label-probability": label_probability, "--system": system, "--errors": errors,
        "--dependence": None if dependence == "auto" else dependence,
        "--structure": None if structure == "independent" else structure,
        "--null": None if null == "not-asked" else null,
    }  # fmt: skip
    asked = _question({"--order": order, "--people": people, "--scores": scores}, given)
    items, names = Todo(label_next, todo), LongNames(item, voter, vote)
    items.check()
    also = [label_probability] if label_probability else []
    common: dict[str, Any] = {"dependence": dependence, "confidence": confidence, "rng": 0}

    def work() -> Answer:
        model = {"structure": structure, "errors": errors or "class-conditional"}
        if not asked and is_counts(file):
            columns = {"--judge": judge, "--label": label, "--group": group, "--id": item,
                       "--voter": voter, "--vote": vote, "--rows": rows}  # fmt: skip
            refuse_flags(columns | {flag: given[flag] for flag in _NEEDS_ROWS})
            counted, voters, lines = counted_judges(file, model | common, labels)
            return report(file.name, counted, voters, lines, items, None)
        table = read_table(file, rows).with_text_ids(*([item] if item else ITEMS))
        table = table.with_codes(group)
        if asked == "--order":
            pairs = PairFlags(
                order or (), names, label, group, system or (), panel, cost or (), same or (),
                items, labels, label_probability,
            )  # fmt: skip
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
            reading, items, null, labels, label_probability, threshold, same or (), panel,
            cost or (),
        )  # fmt: skip
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
