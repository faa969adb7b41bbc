"""Which items to label, and what is then known, whenever one stops.

`Audit` asks for the items whose labels tell most and says what they imply of any metric, with
limits for the labels at hand and limits that hold at every look. `judged_rate` is the rate of a
system that judges scored, `best_of_many` ranks models, `gate` and `assert_at_least` decide.
"""

from karat.audit._audit import Audit
from karat.audit._best_of_many import best_of_many
from karat.audit._gate import assert_at_least, gate
from karat.audit._judged_rate import judged_rate
from karat.audit.result import AuditResult, GateResult

__all__ = [
    "Audit",
    "AuditResult",
    "GateResult",
    "assert_at_least",
    "best_of_many",
    "gate",
    "judged_rate",
]
