"""All questions at once: whatever the columns of a table allow, one answer.

`evaluate` asks every question. The other modules report what one question found, in the lines and
the page of a command: `scores` and `bounded` measure several models beside each other, `rankings`,
`probabilities`, `audits`, `elicited` and `voters` say what the results of other packages mean.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from karat.evaluation._evaluate import evaluate
    from karat.evaluation.result import Evaluation

__all__ = ["Evaluation", "evaluate"]


def __getattr__(name: str) -> Any:
    """Import on first use: one question needs few of the packages that all questions need."""
    if name == "evaluate":
        from karat.evaluation._evaluate import evaluate

        return evaluate
    if name == "Evaluation":
        from karat.evaluation.result import Evaluation

        return Evaluation
    raise AttributeError(f"module 'karat.evaluation' has no attribute {name!r}")
