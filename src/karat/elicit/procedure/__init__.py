"""What all procedures are made of: asking and telling, saving and resuming, and the result.

`Procedure` is the base of the procedures at the top of the package: it drives one of three
strategies and builds the result. `SlopeProcedure` is the base of those that find a metric from its
slopes at several places, and `GroupProcedure` of those that compare groups. ``report`` says what
metrics of a procedure amount to, ``typical_margin`` what differences they see, and
``procedure_named`` finds a procedure by its name.
"""

from karat.elicit.procedure._build_result import Reported, report
from karat.elicit.procedure._build_search import typical_margin
from karat.elicit.procedure._carried import procedure_named
from karat.elicit.procedure._group_procedure import GroupProcedure
from karat.elicit.procedure._procedure import Procedure
from karat.elicit.procedure._slope_procedure import SlopeProcedure

__all__ = [
    "GroupProcedure",
    "Procedure",
    "Reported",
    "SlopeProcedure",
    "procedure_named",
    "report",
    "typical_margin",
]
