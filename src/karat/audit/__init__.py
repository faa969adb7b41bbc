"""Which items to label, and what is then known, whenever one stops.

`Audit` asks for the items whose labels tell most and says what they imply of any metric, with
limits for the labels at hand and limits that hold at every look.
"""

from karat.audit._audit import Audit
from karat.audit.result import AuditGroup, AuditResult, AuditStratum

__all__ = ["Audit", "AuditGroup", "AuditResult", "AuditStratum"]
