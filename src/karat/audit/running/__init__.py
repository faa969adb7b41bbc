"""An audit as it runs: events and labels, and the evidence that follows from them.

`Run` holds the items, their strata, what was asked for and what was answered, and nothing that
cannot be saved. `evidence_of` replays the events: which stratum each label came from and with what
chance it was drawn then. `answer_of` turns evidence into the result, `gate_of` into a verdict,
`budget_of` tells beforehand what it takes, and `items_frame` is the table that is asked for.
"""

from karat.audit.running._answer import answer_of
from karat.audit.running._begin import begin_run
from karat.audit.running._budget import budget_of
from karat.audit.running._frames import items_frame
from karat.audit.running._gate import gate_of
from karat.audit.running._replay import evidence_of, predicted_outcomes, skipped
from karat.audit.running._run import Event, Run, ask_items
from karat.audit.running._tell import tell_labels

__all__ = [
    "Event",
    "Run",
    "answer_of",
    "ask_items",
    "begin_run",
    "budget_of",
    "evidence_of",
    "gate_of",
    "items_frame",
    "predicted_outcomes",
    "skipped",
    "tell_labels",
]
