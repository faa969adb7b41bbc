"""What all procedures are made of: asking and telling, saving and resuming, and the result.

`Procedure` is the base of the procedures at the top of the package: it drives one of three
strategies and builds the result. `SlopeProcedure` is the base of those that find a metric from its
slopes at several places, and `GroupProcedure` of those that compare groups.
"""

from karat.elicit.procedure._group_procedure import GroupProcedure
from karat.elicit.procedure._procedure import Procedure
from karat.elicit.procedure._slope_procedure import SlopeProcedure

__all__ = ["GroupProcedure", "Procedure", "SlopeProcedure"]
