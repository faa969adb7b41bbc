"""Whether a judge may stand in for a person: answers read, alignments compared, exact tests.

`read_answers` makes one matrix of what people and one column of what the judge said; `compare`
leaves one person out at a time and says on which items the judge, or the person, is closer to the
others; `student_p_value` and `exact_p_value` test the difference against a margin, and
`benjamini_yekutieli`, `holm` and `rate_limits` turn the tests into one rate with its limits.
"""

from karat.consensus.people._alignment import Comparison, compare
from karat.consensus.people._many import benjamini_yekutieli, holm, rate_limits
from karat.consensus.people._read import Answers, read_answers
from karat.consensus.people._trinomial import exact_p_value, student_p_value

__all__ = [
    "Answers",
    "Comparison",
    "benjamini_yekutieli",
    "compare",
    "exact_p_value",
    "holm",
    "rate_limits",
    "read_answers",
    "student_p_value",
]
