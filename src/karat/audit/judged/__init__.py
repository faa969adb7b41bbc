"""The rate of a system that imperfect judges scored, from verdicts and a few true labels.

`read_verdicts` turns verdicts into what each judge says of the positive class; `class_limits` is
the rate from labels of balanced sets, by inverting the judges' own error rates (Rogan and Gladen
1978), with the errors of all rates in its limits.
"""

from karat.audit.judged._by_class import class_limits
from karat.audit.judged._verdicts import Verdicts, read_verdicts

__all__ = ["Verdicts", "class_limits", "read_verdicts"]
