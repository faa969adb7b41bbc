"""Votes, as a command answers them: read, fitted, and the items to label drawn."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from karat.cli.frame import Answer, Coded, InputTable, call_code, read_null, script, values
from karat.cli.judging._columns import parse_families
from karat.cli.judging._panel import with_panel
from karat.cli.voters import Reading, Todo, Votes, read_votes_of, report
from karat.consensus import ErrorEstimator
from karat.exceptions import OptionError

__all__ = ["VoteFlags", "votes_answer"]

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
    drawn = flags.todo.draw(estimator)
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
