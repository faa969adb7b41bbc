"""Chains of Gibbs draws, in threads that stop together.

`dispersed_chains` samples the model of one domain from dispersed starts, `pooled_chains` a model in
which all domains share error rates (coupled or hierarchical); `run_chains` and `run_pooled` run
chains from given starts. The sweeps themselves are compiled, in `karat.consensus.sampling.loops`;
`warm` compiles all of them. `in_threads` is what every parallel work of this package goes through,
so that an interrupt ends it.
"""

from karat.consensus.sampling._chain import Draws, run_chain, run_chains
from karat.consensus.sampling._chains import continued, dispersed_chains, modes_of
from karat.consensus.sampling._pooled_chain import run_pooled_chain
from karat.consensus.sampling._pooled_chains import PooledDraws, pooled_chains, run_pooled
from karat.consensus.sampling._pooled_domains import (
    PooledDomains,
    Structure,
    build_pooled,
    log_prior,
    rows_of,
)
from karat.consensus.sampling._pooled_starts import pooled_start
from karat.consensus.sampling._progress import Progress
from karat.consensus.sampling._threads import Stop, in_threads, sweeps_in_block
from karat.consensus.sampling._warm import warm

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
