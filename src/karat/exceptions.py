"""Everything karat raises or warns with.

Errors and warnings say their parts as fields too: ``argument``, ``column``, ``row`` (counted from
0), ``given``, ``expected`` and ``remedy``, each None where the sentence has no such part.

>>> from karat.metrics import accuracy
>>> try:
...     accuracy.score(["ham", None, "spam"], ["ham", "spam", "spam"])
... except KaratError as error:
...     error.argument, error.row, error.remedy
('y_true', 1, 'drop these rows or fill them in before the call')

::

    KaratError
    ├── DataError (ValueError)          something in the data passed
    │   ├── EmptyDataError              no rows
    │   ├── ShapeError                  wrong number of dimensions or columns
    │   ├── LengthMismatchError         two inputs with different numbers of rows
    │   ├── LabelError                  missing, unknown or mixed labels; one class only
    │   │   └── PositiveClassError      two labels of which nothing tells the positive one
    │   ├── ProbabilityError            outside [0, 1], or rows that do not sum to 1
    │   ├── ScoreError                  a score that is not a finite number
    │   ├── WeightError                 negative, missing or all-zero weights
    │   ├── ColumnError                 a frame where one column was expected, or a wrong column
    │   │   └── LazyFrameError          a lazy frame whose rows would have to match other rows
    │   └── UndefinedHereError          a metric that the data leave undefined
    ├── OptionError (ValueError)        an option that is none of those a function takes
    ├── MetricError (ValueError)        a metric that does not fit the confusion, or its text
    ├── ProbeError (ValueError)         a metric that fails at a probe, or probes that tell nothing
    ├── ElicitationError (ValueError)   a procedure that cannot be run as asked
    │   ├── AnswerError                 an answer that is none of first, second, tie and skip
    │   └── TranscriptError             a transcript of another space or version, or a changed one
    ├── AuditError (ValueError)         a saved audit that cannot be taken up, or a label it refuses
    ├── MissingDatasetError (LookupError)      a shared dataset that is not there
    └── MissingExtraError (ImportError)        an optional package that is not installed

    KaratWarning (UserWarning)
    ├── LabelsMatchedWarning            labels spelt in several ways that were read as one
    ├── ContradictionWarning            answers of a person that no metric agrees with
    ├── NotIdentifiedWarning            an answer that the data alone do not identify
    ├── SmallSampleWarning              limits that so few rows make useless or too narrow
    └── UndefinedMetricWarning          a ratio with a zero denominator
"""

from karat._sentences import Said

__all__ = [
    "AnswerError",
    "AuditError",
    "ColumnError",
    "ContradictionWarning",
    "DataError",
    "ElicitationError",
    "EmptyDataError",
    "KaratError",
    "KaratWarning",
    "LabelError",
    "LabelsMatchedWarning",
    "LazyFrameError",
    "LengthMismatchError",
    "MetricError",
    "MissingDatasetError",
    "MissingExtraError",
    "NotIdentifiedWarning",
    "OptionError",
    "PositiveClassError",
    "ProbabilityError",
    "ProbeError",
    "ScoreError",
    "ShapeError",
    "SmallSampleWarning",
    "TranscriptError",
    "UndefinedHereError",
    "UndefinedMetricWarning",
    "WeightError",
]


class KaratError(Said):
    """Base of every error that karat raises on purpose.

    Parameters
    ----------
    *parts : str or mark
        The sentence. Marks among its parts give the fields that are not passed.
    argument : str, optional
        The argument in which the fault is, such as ``"y_score"``.
    column : object, optional
        The column of that argument.
    row : int, optional
        The row, counted from 0.
    given : object, optional
        What was passed; as text if it is no plain value.
    expected : str, optional
        What was expected.
    remedy : str, optional
        How to fix it.

    Attributes
    ----------
    sentence : str
        What is said, with its parts, so that a front end says them in its own words.
    """


class DataError(KaratError, ValueError):
    """Something is wrong with the data that was passed."""


class EmptyDataError(DataError):
    """The input has no rows."""


class ShapeError(DataError):
    """The input has the wrong number of dimensions or columns."""


class LengthMismatchError(DataError):
    """Two inputs that belong together have different numbers of rows."""


class LabelError(DataError):
    """A label is missing, unknown or of another type than the rest, or there is one class only."""


class PositiveClassError(LabelError):
    """Two labels of which nothing tells the positive one; ``pos_label=`` says which it is.

    It is never taken from the alphabet. In this order it is what ``pos_label=`` or ``classes=``
    says, the last class that a metric names, the 1 of 0 and 1 or of −1 and 1, True, or the word of
    a short table of pairs, such as yes and no or fraud and genuine.
    """


class ProbabilityError(DataError):
    """A probability is outside [0, 1], or a row of them does not sum to 1."""


class ScoreError(DataError):
    """A score is not a finite number."""


class WeightError(DataError):
    """A sample weight is negative or missing, or all of them are zero."""


class ColumnError(DataError):
    """A frame was passed where one column was expected, or it has a wrong column."""


class LazyFrameError(ColumnError):
    """A lazy frame was passed where the order of its rows matters, and it has none."""


class UndefinedHereError(DataError):
    """The metric has no value on these data, such as precision where nothing is called positive."""


class OptionError(KaratError, ValueError):
    """An option is none of those a function takes: a word, a number, a confidence or a seed."""


class MetricError(KaratError, ValueError):
    """A metric does not fit what it was applied to, or its description cannot be read."""


class ProbeError(KaratError, ValueError):
    """A metric fails at a classifier that asks for it, or the probes cannot tell the weights."""


class ElicitationError(KaratError, ValueError):
    """An elicitation procedure cannot be run as asked."""


class AnswerError(ElicitationError):
    """An answer, or what is to be kept beside it, cannot be taken, or nothing was asked."""


class TranscriptError(ElicitationError):
    """A transcript is of another space, procedure or version, was changed, or cannot be read."""


class AuditError(KaratError, ValueError):
    """A saved audit is of other data or was changed, or labels do not fit its design."""


class MissingDatasetError(KaratError, LookupError):
    """A shared dataset, or the folder that should hold it, is not there."""


class MissingExtraError(KaratError, ImportError):
    """An optional package that this function needs is not installed."""


class KaratWarning(Said, UserWarning):
    """Base of every warning that karat gives; it has the fields of `KaratError`."""


class LabelsMatchedWarning(KaratWarning):
    """Labels that a table spells in several ways were read as one."""


class ContradictionWarning(KaratWarning):
    """The answers of a person contradict each other more than slips explain."""


class NotIdentifiedWarning(KaratWarning):
    """The data alone do not identify the answer: several explanations fit them equally well."""


class SmallSampleWarning(KaratWarning):
    """There are too few rows: limits say nothing, or are narrower than they claim."""


class UndefinedMetricWarning(KaratWarning):
    """A ratio has a zero denominator, so its value is a convention and not a measurement."""
