"""All questions at once: whatever the columns of a table allow, one answer."""

from karat.evaluation._evaluate import evaluate
from karat.evaluation.result import Evaluation

__all__ = ["Evaluation", "evaluate"]
