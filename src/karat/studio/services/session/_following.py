"""The page that an answer leads to."""

from dataclasses import dataclass
from typing import Any

from karat.elicit import Procedure
from karat.studio.models import LogEntry
from karat.studio.services import asking
from karat.studio.services.flow import COMPARISONS
from karat.studio.services.session._here import Here
from karat.studio.services.session._procedure import procedure_at
from karat.studio.storage import Store

__all__ = ["Following", "following"]

_ANSWERS = {"A": "first", "B": "second", "tie": "tie", "skip": "skip"}
_OTHER = {"first": "second", "second": "first"}


@dataclass(slots=True, kw_only=True)
class Following:
    """The page that an answer leads to."""

    page: dict[str, Any]
    snapshot: bytes | None = None  # a new one
    evaluation: list[Any] | None = None


def following(store: Store, here: Here, asked: asking.Asked, entry: LogEntry) -> Following:
    """Return the page after an entry, and complete what the entry says."""
    person, page, seq = here.person, here.page, entry.seq + 1
    shown = int(page.get("shown", 0))
    if here.phase in COMPARISONS:
        _complete(entry, page)
    if here.phase == "comparison":
        procedure = procedure_at(store, asked, person, here.state.snapshot_seq)
        asking.tell(procedure, entry.payload["answer"], entry.payload["kept"])
        return _compared(here, asked, procedure, seq, shown)
    if here.phase == "evaluation":
        index = int(page["index"]) + 1
        pairs = person.evaluation or []
        if index < len(pairs):
            after = {**page, **pairs[index], "index": index, "shown": shown + 1}
            return Following(page=after)
    return _entered(here, asked, int(page["step"]) + 1, seq, shown)


def _compared(
    here: Here, asked: asking.Asked, procedure: Procedure, seq: int, shown: int
) -> Following:
    """Return the next comparison, or what comes after all of them."""
    query = asking.next_query(procedure, here.person.seed, seq)
    snapshot = procedure.snapshot()
    if query is None:
        after = _entered(here, asked, int(here.page["step"]) + 1, seq, shown)
        after.snapshot = snapshot
        return after
    page = {"step": here.page["step"], "phase": "comparison", "shown": shown + 1, **query}
    return Following(page=page, snapshot=snapshot)


def _entered(here: Here, asked: asking.Asked, step: int, seq: int, shown: int) -> Following:
    """Return the first page of a step."""
    phase = here.phases[step]
    page: dict[str, Any] = {"step": step, "phase": phase}
    if phase == "comparison":
        procedure = asking.begin(asked, here.person.seed)
        query = asking.next_query(procedure, here.person.seed, seq)
        if query is not None:
            return Following(page={**page, "shown": 1, **query}, snapshot=procedure.snapshot())
        return _entered(here, asked, step + 1, seq, shown)
    if phase == "evaluation":
        pairs = asking.drawn_pairs(asked, here.person.seed)
        if not pairs:
            return _entered(here, asked, step + 1, seq, shown)
        page |= {**pairs[0], "index": 0, "shown": shown + 1}
        return Following(page=page, evaluation=pairs)
    return Following(page=page)


def _complete(entry: LogEntry, page: dict[str, Any]) -> None:
    """Add the question to what is logged, and turn the side shown into the side asked about."""
    told = _ANSWERS[entry.payload["choice"]]
    if page["swapped"]:
        told = _OTHER.get(told, told)
    seconds = entry.seconds
    if entry.client_seconds is not None and entry.seconds is not None:
        # A browser cannot have shown a page for longer than the server has offered it.
        seconds = min(entry.client_seconds, entry.seconds)
    view = {"view": entry.payload["view"], "rates": entry.payload["rates"]}
    sides = {name: page[name] for name in ("first", "second", "kind", "swapped")}
    kept = {"seconds": seconds, "swapped": page["swapped"], **view}
    number = {"number": page["shown"]}
    entry.payload = {**entry.payload, **sides, **number, "answer": told, "kept": kept}
