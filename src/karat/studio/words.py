"""Sentences of the library in the words of a study's pages: the fields of its forms."""

from karat._sentences import Argument, Option, Row, Words, in_words

# The arguments that fields of forms are handed on to, by the words that stand beside the fields.
_FIELDS = {
    "y_true": "True label",
    "y_pred": "Prediction",
    "label": "True label",
    "y_score": "Score of the positive class",
    "score": "Score of the positive class",
    "pos_label": "Positive class",
    "positive": "Positive class",
    "proba": "Probabilities of the classes",
    "groups": "Group",
    "family": "Family of metrics",
    "n_evaluation": "Evaluation pairs",
    "agreement": "Expected agreement at which to stop",
    "precision": "Upper over lower limit at which to stop",
    "worst_rate": "Worst error rate that is shown",
    "max_queries": "Most comparisons",
    "n_people": "Bots",
    "ratio": "An error about the last class is this many times as bad",
    "flip": "Share of slips",
    "out_of": "Counts out of (G2)",
    "view": "Figure (G4)",
}


def in_fields(text: str) -> str:
    """Return a sentence with the fields of a form where the library names its arguments.

    >>> from karat._sentences import Sentence
    >>> in_fields(Sentence(Argument("y_score"), Row(3), " is empty; or choose ", Option("groups")))
    'the field “Score of the positive class” row 4 is empty; or choose the field “Group”'
    """
    return in_words(text, Fields())


class Fields(Words):
    """The words of a study's pages: its fields, and the rows of the file from 1."""

    python = False

    def argument(self, mark: Argument) -> str:
        """Return the field that gives an argument."""
        of = "" if mark.column is None else f" column {mark.column!r}"
        return f"{_field(mark.name)}{of}"

    def option(self, mark: Option) -> str:
        """Return the field to fill in, and what with."""
        return _field(mark.name) + ("" if mark.value is None else f" with {mark.value}")

    def row(self, mark: Row) -> str:
        """Return the row as the file counts it."""
        return f"{mark.before}row {mark.index + 1}{mark.then}"


def _field(name: str) -> str:
    known = _FIELDS.get(name)
    return name.replace("_", " ") if known is None else f"the field “{known}”"
