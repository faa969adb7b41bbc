"""Evaluation logs that people already have, as long rows of votes.

`read_log` recognises a log by its content: inspect (``.eval`` and ``.json``), lm-eval samples,
promptfoo, deepeval, MLflow traces, Label Studio exports; and the matrices of Snorkel and WRENCH,
which are wide. A verdict that could not be parsed, an error or a NaN is a null and never a wrong
vote; what a person put in place of a judge's verdict is gold; epochs of a sample share an ``item``.
`judged_votes` puts the rows into the form that vote models take.
"""

from karat.sources.logs._read import read_log
from karat.sources.logs._records import Log, LogFacts, judged_votes

__all__ = ["Log", "LogFacts", "judged_votes", "read_log"]
