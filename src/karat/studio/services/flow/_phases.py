"""Which pages there are, in order."""

from karat.studio.schemas import StudyConfig
from karat.studio.services.asking import QUIZ_PHASES

__all__ = ["COMPARISONS", "phases_of", "progress_of"]

COMPARISONS = ("comparison", "evaluation")  # people are not told which is which
_TYPICAL = 24  # comparisons that people answer, typically, with check pairs
_PER_PAGE = 1.0


def phases_of(config: StudyConfig, guess_order: str) -> list[str]:
    """Return the pages of a person in order, from consent to thanks."""
    options = config.options
    return [
        "consent",
        *(["questionnaire"] if config.questionnaire else []),
        "task",
        "figure",
        *(QUIZ_PHASES if options.quiz else ()),
        *(["guess"] if guess_order == "before" else []),
        "comparison",
        *(["evaluation"] if options.n_evaluation else []),
        *(["guess"] if guess_order == "after" else []),
        *(["post"] if config.post else []),
        "done",
    ]


def progress_of(phases: list[str], step: int, answered: int, n_evaluation: int) -> float:
    """Return the share of the way that is behind someone.

    How many comparisons there will be depends on the answers, so the way ahead is a guess: at
    least a few are always left until the last is answered.
    """
    pages = len(phases) - 1 - sum(phase in COMPARISONS for phase in phases)
    typical = _TYPICAL + n_evaluation
    phase = phases[step]
    before = step - sum(earlier in COMPARISONS for earlier in phases[:step])
    if phase in COMPARISONS:
        done = before * _PER_PAGE + typical * answered / (answered + max(typical - answered, 3))
    else:
        done = before * _PER_PAGE + (typical if "comparison" in phases[:step] else 0)
    return min(1.0, done / (pages * _PER_PAGE + typical)) if phase != "done" else 1.0
