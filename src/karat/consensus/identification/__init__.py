"""Whether votes alone identify the error rates, and which other explanations fit them as well.

An `Explanation` is another set of labels and error rates under which the votes are as probable: the
favourite is wrong on hard items, or voters that copy one another have one vote together.
`identification_failures` lists in words why the error rates of a domain are not identified.
"""

from karat.consensus.identification._explanations import (
    Explanation,
    blind_proba,
    clustered_explanation,
    rival_explanation,
    rival_is_close,
)
from karat.consensus.identification._failures import identification_failures, pairs_off

__all__ = [
    "Explanation",
    "blind_proba",
    "clustered_explanation",
    "identification_failures",
    "pairs_off",
    "rival_explanation",
    "rival_is_close",
]
