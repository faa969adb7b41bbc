"""From the fits of all domains to what users see.

`FittedVotes` is the part of `ErrorEstimator` that answers after a fit. `summarise` makes the frozen
result and `voter_agreement` the check of one domain; the functions named ``_table`` make frames of
the library that was passed in, with the names of domains, voters and items in the dtype that was
passed. `next_items` lists the items to label next, `powered_rates` uses gold labels, and
`posterior_states` and `inference_data` hand draws to other tools. `counted_arguments` turns counts
of votes into the arguments of a fit.
"""

from karat.consensus.answers._counted import counted_arguments
from karat.consensus.answers._design import check_design
from karat.consensus.answers._exports import inference_data, posterior_states
from karat.consensus.answers._fitted_votes import FittedVotes
from karat.consensus.answers._frames import backend_of, to_frame
from karat.consensus.answers._next_items import draw_strata, in_proportion, next_items
from karat.consensus.answers._powered import (
    Powered,
    blind_consensus,
    cross_predictions,
    powered_error,
    powered_rates,
)
from karat.consensus.answers._summaries import (
    by_item,
    ranking_robustness,
    summarise,
    voter_agreement,
)
from karat.consensus.answers._tables import (
    clusters_table,
    diagnostics_table,
    error_table,
    powered_table,
    prevalence_table,
)
from karat.consensus.answers._warnings import warn_of_inverted_gold, warn_of_limits_of_the_fit

__all__ = [
    "FittedVotes",
    "Powered",
    "backend_of",
    "blind_consensus",
    "by_item",
    "check_design",
    "clusters_table",
    "counted_arguments",
    "cross_predictions",
    "diagnostics_table",
    "draw_strata",
    "error_table",
    "in_proportion",
    "inference_data",
    "next_items",
    "posterior_states",
    "powered_error",
    "powered_rates",
    "powered_table",
    "prevalence_table",
    "ranking_robustness",
    "summarise",
    "to_frame",
    "voter_agreement",
    "warn_of_inverted_gold",
    "warn_of_limits_of_the_fit",
]
