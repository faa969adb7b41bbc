"""The compiled Gibbs sweeps, and the named tuples of arrays that they read and write.

`gibbs` and `gibbs_copying` sweep over one domain, `sweeps_coupled` and `sweeps_hierarchical` over
all domains at once; below them are moves on partitions and random numbers. A compiled loop is
imported when it is first asked for, because numba takes long to import: import loops inside the
function that calls them. The named tuples are plain Python.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from karat.consensus.sampling.loops._arrays import (
    CopyArrays,
    PatternArrays,
    PooledBlock,
    PooledPriors,
    PooledState,
    RowLayout,
    SweepBlock,
    SweepScratch,
    row_layout,
    votes_in_order,
)

if TYPE_CHECKING:
    from karat.consensus.sampling.loops._copying_loops import gibbs_copying
    from karat.consensus.sampling.loops._coupled_loops import clusters, sweeps_coupled
    from karat.consensus.sampling.loops._gibbs_loops import gibbs
    from karat.consensus.sampling.loops._hierarchical_loops import (
        local_clusters,
        local_concentration,
        sweeps_hierarchical,
    )
    from karat.consensus.sampling.loops._label_loops import count_rows
    from karat.consensus.sampling.loops._partition_loops import (
        concentration,
        draw_rows,
        gain,
        log_gamma,
        pick,
        reassign,
        split_or_merge,
    )
    from karat.consensus.sampling.loops._random_loops import binomial, gamma

__all__ = [
    "CopyArrays",
    "PatternArrays",
    "PooledBlock",
    "PooledPriors",
    "PooledState",
    "RowLayout",
    "SweepBlock",
    "SweepScratch",
    "binomial",
    "clusters",
    "concentration",
    "count_rows",
    "draw_rows",
    "gain",
    "gamma",
    "gibbs",
    "gibbs_copying",
    "local_clusters",
    "local_concentration",
    "log_gamma",
    "pick",
    "reassign",
    "row_layout",
    "split_or_merge",
    "sweeps_coupled",
    "sweeps_hierarchical",
    "votes_in_order",
]

_FILES = {
    "_copying_loops": ("gibbs_copying",),
    "_coupled_loops": ("clusters", "sweeps_coupled"),
    "_gibbs_loops": ("gibbs",),
    "_hierarchical_loops": ("local_clusters", "local_concentration", "sweeps_hierarchical"),
    "_label_loops": ("count_rows",),
    "_partition_loops": (
        "concentration", "draw_rows", "gain", "log_gamma", "pick", "reassign", "split_or_merge",
    ),
    "_random_loops": ("binomial", "gamma"),
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import the file of a compiled loop on first use (PEP 562)."""
    for file, loops in _FILES.items():
        if name in loops:
            return getattr(import_module(f"{__name__}.{file}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
