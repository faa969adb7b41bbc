"""Chains of Gibbs draws, in threads that stop together.

`dispersed_chains` samples the model of one domain from dispersed starts, `pooled_chains` a model in
which all domains share error rates (coupled or hierarchical); `run_chains` and `run_pooled` run
chains from given starts. The sweeps themselves are compiled, in the files of loops;
`warm` compiles all of them. `in_threads` is what every parallel work of this package goes through,
so that an interrupt ends it.
"""

from karat.consensus.sampling._chains import (
    Draws,
    Progress,
    Stop,
    continued,
    dispersed_chains,
    in_threads,
    modes_of,
    run_chain,
    run_chains,
    sweeps_in_block,
)
from karat.consensus.sampling._pooled import (
    PooledDomains,
    PooledDraws,
    Structure,
    build_pooled,
    log_prior,
    pooled_chains,
    pooled_start,
    rows_of,
    run_pooled,
    run_pooled_chain,
    warm,
)

__all__ = [
    "Draws",
    "PooledDomains",
    "PooledDraws",
    "Progress",
    "Stop",
    "Structure",
    "build_pooled",
    "continued",
    "dispersed_chains",
    "in_threads",
    "log_prior",
    "modes_of",
    "pooled_chains",
    "pooled_start",
    "rows_of",
    "run_chain",
    "run_chains",
    "run_pooled",
    "run_pooled_chain",
    "sweeps_in_block",
    "warm",
]
