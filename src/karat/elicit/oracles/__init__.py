"""Whoever answers a question: a metric with the slips of a person, or a person at a terminal.

An oracle is called with a `Query` and returns an answer; `MetricOracle` simulates someone whose
metric is known, `RandomOracle` someone who does not look, and `TerminalOracle` shows both
confusions as counts and reads what is typed. The counts are told apart by ``counts_by_group`` and
written by ``comparison_text``; ``leave_at_once`` lets Ctrl-C end the reading of an answer.
"""

from karat.elicit.oracles._comparison_text import comparison_text, counts_by_group
from karat.elicit.oracles._leave_at_once import leave_at_once
from karat.elicit.oracles._metric_oracle import MetricOracle
from karat.elicit.oracles._random_oracle import RandomOracle
from karat.elicit.oracles._terminal_oracle import TerminalOracle

__all__ = [
    "MetricOracle",
    "RandomOracle",
    "TerminalOracle",
    "comparison_text",
    "counts_by_group",
    "leave_at_once",
]
