"""Whether votes alone identify the error rates, and which other explanations fit them as well.

An `Explanation` is another set of labels and error rates under which the votes are as probable: the
favourite is wrong on hard items, voters that copy one another have one vote together, or votes that
stand alone are right.
`identification_failures` lists in words why the error rates of a domain are not identified;
`check_consensus` tests the consensus on gold labels, and `status_of` puts both into one word.
`account_rates` are the error rates under every account where the votes cannot tell; `doubts` says
what is contradicted or not identified, for the first words of a summary.
"""

from karat.consensus.identification._accounts import account_labels, account_rates
from karat.consensus.identification._doubts import doubts
from karat.consensus.identification._explanations import (
    LONE_VOTES,
    Explanation,
    blind_proba,
    clustered_explanation,
    lone_votes_explanation,
    rival_explanation,
    rival_is_close,
)
from karat.consensus.identification._failures import MIXED, identification_failures, pairs_off
from karat.consensus.identification._gold_test import (
    GoldTest,
    check_consensus,
    poisson_binomial_tail,
    status_of,
)

__all__ = [
    "LONE_VOTES",
    "MIXED",
    "Explanation",
    "GoldTest",
    "account_labels",
    "account_rates",
    "blind_proba",
    "check_consensus",
    "clustered_explanation",
    "doubts",
    "identification_failures",
    "lone_votes_explanation",
    "pairs_off",
    "poisson_binomial_tail",
    "rival_explanation",
    "rival_is_close",
    "status_of",
]
