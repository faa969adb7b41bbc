"""Tests of a label model: figures from votes and true labels, and sentences made of them.

`check_patterns` is `karat.weak.check_label_model` on patterns that are already read. It gathers
the evidence (agreement of pairs of labelers, accuracy under the model, class prior, and
`gold_test`, an exact test with true labels), and words each failure as a reason; a labeler that
may copy another is named where a test has failed.
"""

from karat.weak.checks._check_patterns import check_patterns
from karat.weak.checks._gold_test import GoldRows, GoldTest, gold_test

__all__ = ["GoldRows", "GoldTest", "check_patterns", "gold_test"]
