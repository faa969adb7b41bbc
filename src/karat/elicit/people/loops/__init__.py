"""Compiled sweeps over people and the law they follow, for weights that a few loops can read.

`Asked` is what everyone was asked, as arrays, and `LawArrays` what is known of the law a priori;
``log_answers`` and ``sweep_chains`` read them. The loops are imported when they are first asked
for, because numba takes long to import: import them inside the function that calls them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from karat.elicit.people.loops._arrays import KINDS, Asked, LawArrays
from karat.elicit.people.loops._warm import warm

if TYPE_CHECKING:
    from karat.elicit.people.loops._answer_loops import log_answers, normal_quantile
    from karat.elicit.people.loops._sweep_loops import sweep_chains

__all__ = ["KINDS", "Asked", "LawArrays", "log_answers", "normal_quantile", "sweep_chains", "warm"]

_FILES = {"_answer_loops": ("log_answers", "normal_quantile"), "_sweep_loops": ("sweep_chains",)}


def __getattr__(name: str) -> Any:
    """Import the file of a compiled loop on first use (PEP 562)."""
    for file, loops in _FILES.items():
        if name in loops:
            return getattr(import_module(f"{__name__}.{file}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
