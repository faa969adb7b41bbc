"""The tables: studies, people, the log of answers that only grows, and the states it leads to.

A person's state is the log of what they sent plus, for speed, a snapshot of the elicitation; both
are written by the same transaction. Times are seconds since 1970, in UTC.
"""

from karat.studio.models._admin import Admin, Meta
from karat.studio.models._base import Base
from karat.studio.models._log import LogEntry, Note
from karat.studio.models._person import Person
from karat.studio.models._state import Snapshot, State
from karat.studio.models._study import Study

__all__ = ["Admin", "Base", "LogEntry", "Meta", "Note", "Person", "Snapshot", "State", "Study"]
