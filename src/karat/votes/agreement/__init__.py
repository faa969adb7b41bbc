"""How voters vote together: observed, as a model implies it, and who may copy whom.

`shared_votes` counts the items that pairs of voters have in common. An `Agreement` sets an observed
share beside the implied one: `agreement_of_states` takes it from the parameters of a model,
`agreement_of_posterior` from P(Y | votes) of any label model and independence given the truth.
`copying_forest` finds voters that agree more than their errors allow, `near_copies` those that say
the same so often that together they are one vote, and `unseen_copies` those that may be copies and
share too few items to tell. `backing` says how far the votes for a class are shared.
"""

from karat.votes.agreement._backing import backing
from karat.votes.agreement._copies import FEW, copying_forest, voter_errors
from karat.votes.agreement._implied import LabelerTable, agreement_of_posterior, labelers
from karat.votes.agreement._near_copies import (
    NearCopies,
    kappas,
    near_copies,
    one_vote_each,
    unseen_copies,
)
from karat.votes.agreement._pairs import Agreement, SharedVotes, shared_votes
from karat.votes.agreement._states import agreement_of_states, marginal_confusions, parents_first

__all__ = [
    "FEW",
    "Agreement",
    "LabelerTable",
    "NearCopies",
    "SharedVotes",
    "agreement_of_posterior",
    "agreement_of_states",
    "backing",
    "copying_forest",
    "kappas",
    "labelers",
    "marginal_confusions",
    "near_copies",
    "one_vote_each",
    "parents_first",
    "shared_votes",
    "unseen_copies",
    "voter_errors",
]
