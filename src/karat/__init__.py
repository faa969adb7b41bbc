"""karat measures classifiers when gold labels are scarce.

Each subpackage answers one question; it is imported when first used.

>>> import karat
>>> karat.metrics.accuracy([[0.5, 0.1], [0.1, 0.3]])
0.8
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from karat import (
        audit,
        bounds,
        calibration,
        cli,
        consensus,
        datasets,
        decisions,
        elicit,
        evaluation,
        exceptions,
        limits,
        metrics,
        optimize,
        plot,
        ranking,
        report,
        sources,
        statistics,
        studio,
        torch,
        votes,
        weak,
    )
    from karat.evaluation import evaluate as evaluate
    from karat.sources import scan as scan

__version__ = "0.1.0"

__all__ = [
    "__version__",
    "audit",
    "bounds",
    "calibration",
    "cli",
    "consensus",
    "datasets",
    "decisions",
    "elicit",
    "evaluation",
    "exceptions",
    "limits",
    "metrics",
    "optimize",
    "plot",
    "ranking",
    "report",
    "sources",
    "statistics",
    "studio",
    "torch",
    "votes",
    "weak",
]

# Functions that stand at the top, and the packages that they come from.
_FUNCTIONS = {"evaluate": "evaluation", "scan": "sources"}


def __getattr__(name: str) -> Any:
    """Import a public subpackage, or a function of one, on first use (PEP 562)."""
    if name in _FUNCTIONS:
        return getattr(import_module(f"karat.{_FUNCTIONS[name]}"), name)
    if name in __all__:
        return import_module(f"karat.{name}")
    raise AttributeError(f"module 'karat' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_FUNCTIONS])
