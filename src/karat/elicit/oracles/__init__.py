"""Whoever answers a question: a metric with the slips of a person, or a person at a terminal.

An oracle is called with a `Query` and returns an answer; `MetricOracle` simulates someone whose
metric is known, `TerminalOracle` shows both confusions as counts and reads what is typed. The
counts are worked out by ``by_group``, ``whole_counts`` and ``comparison_text``.
"""

from karat.elicit.oracles._comparison_text import by_group, comparison_text, whole_counts
from karat.elicit.oracles._metric_oracle import MetricOracle
from karat.elicit.oracles._terminal_oracle import TerminalOracle

__all__ = ["MetricOracle", "TerminalOracle", "by_group", "comparison_text", "whole_counts"]
