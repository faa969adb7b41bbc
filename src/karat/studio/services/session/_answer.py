"""Taking an answer."""

import math
from collections.abc import Mapping, Sequence

from karat.studio.models import LogEntry, State
from karat.studio.services import asking, studies
from karat.studio.services.flow import COMPARISONS, read_form
from karat.studio.services.session._following import Following, following
from karat.studio.services.session._here import Here, standing_at
from karat.studio.services.session._write import Outcome, write
from karat.studio.storage import Store

__all__ = ["answer"]

Form = Mapping[str, Sequence[str]]


def answer(
    store: Store, person_id: str, *, seq: int, nonce: str, form: Form, here: Here | None = None
) -> Outcome:
    """Take what a person sent, commit it, and make the next page.

    ``here`` is where the person was a moment ago, if that was looked up already.

    What comes next is computed before the transaction, so that nobody waits for anybody else's
    question; the transaction then takes both, if the person is still at the same page.
    """
    here = standing_at(store, person_id, seq=seq, nonce=nonce, here=here)
    if here is None:
        return Outcome(status="stale")
    asked = studies.asked_of(store, here.study)
    keys = asking.quiz_of(asked, here.phase).keys if here.phase in asking.QUIZ_PHASES else ()
    fields = asking.guess_fields(asked) if here.phase == "guess" else ()
    read = read_form(here.phase, form, config=here.config, keys=keys, fields=fields)
    if read.errors:
        return Outcome(status="invalid", errors=read.errors)
    now = store.clock()
    client = _client_seconds(form)
    entry = LogEntry(
        person_id=person_id,
        seq=seq,
        nonce=nonce,
        phase=here.phase,
        payload=read.payload,
        seconds=max(now - here.state.created_at, 0.0),
        client_seconds=client,
        created_at=now,
    )
    after = following(store, here, asked, entry)
    return _commit(store, here, entry, after)


def _commit(store: Store, here: Here, entry: LogEntry, after: Following) -> Outcome:
    seq = entry.seq + 1
    new = State(
        person_id=entry.person_id,
        seq=seq,
        page=after.page,
        snapshot_seq=seq if after.snapshot is not None else here.state.snapshot_seq,
        back=entry.seq if here.phase in COMPARISONS else None,
        created_at=entry.created_at,
    )
    return write(store, entry, new, after)


def _client_seconds(form: Form) -> float | None:
    """Return how long the browser showed the page, if it says so."""
    try:
        value = float((form.get("client_ms") or [""])[0]) / 1000.0
    except ValueError:
        return None
    return value if math.isfinite(value) and 0.0 <= value < 1e7 else None
