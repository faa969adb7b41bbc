"""Sentences of the library in the words of the command that runs: flags, columns, data rows."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from karat._sentences import Argument, Option, Row, Words, in_words

# Flags that are called otherwise than the argument to which they are handed on.
_FLAGS = {
    "y_true": "--label",
    "y_pred": "--pred",
    "y_score": "--score",
    "y_prob": "--prob",
    "proba": "--prob",
    "weak_labels": "--weak",
    "votes": "--judge",
    "groups": "--group",
    "domains": "--group",
    "clusters": "--cluster",
    "sample_weight": "--weight",
}
_CALLED = {"n_people": "--people"}  # what is no column
# Flags that are called as the argument is.
_OPTIONS = {
    "at_least",
    "class_prior",
    "confidence",
    "flip",
    "label_probability",
    "limits",
    "long",
    "max_fpr",
    "metric",
    "null",
    "pos_label",
    "ratio",
    "replace",
    "threshold",
    "weighting",
    "worst_rate",
    *("label", "pred", "score", "prob", "weak", "judge", "group", "id", "weight"),
}
# These look at labelled rows alone, so that the library's numbers of rows are not those of a file.
_LONGEST = 100  # characters of a value that is shown
_LABELLED = {"score", "gate", "optimize", "calibration", "evaluate"}

_words: ContextVar[Sequence[str]] = ContextVar("_words", default=())


@contextmanager
def command_line(words: Sequence[str]) -> Iterator[None]:
    """Note the words of the command that runs, by which sentences name its columns."""
    token = _words.set(tuple(words))
    try:
        yield
    finally:
        _words.reset(token)


def in_flags(text: str) -> str:
    """Return a sentence with flags and columns where the library names its arguments.

    >>> from karat._sentences import Sentence
    >>> said = Sentence(Argument("y_score"), Row(3), " is missing; or pass ", Option("null"))
    >>> with command_line(["auc", "mails.csv", "--label", "truth", "--score", "p"]):
    ...     in_flags(said)
    '--score p data row 4 is missing; or pass --null'
    """
    return in_words(text, Flags(_words.get()))


class Flags(Words):
    """The words of a command: its flags, the columns they name, and the rows of its file."""

    python = False

    def __init__(self, typed: Sequence[str] = ()) -> None:
        self.typed = typed

    def argument(self, mark: Argument) -> str:
        """Return the flag, and the column that was passed by it if it is one."""
        flag = _flag(mark.name)
        if flag == mark.name:
            return flag
        given = [str(mark.column)] if mark.column is not None else self._given(flag)
        one = len(given) == 1 and not set(given[0]) & set("*?[,")
        return f"{flag} {given[0]}" if one and flag in _FLAGS.values() else flag

    def option(self, mark: Option) -> str:
        """Return the flag, with a value as a shell takes it."""
        flag = _flag(mark.name)
        text = "" if mark.value is None else str(mark.value)
        short = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
        return flag if mark.value is None else f"{flag} {shlex.quote(short)}"

    def row(self, mark: Row) -> str:
        """Return the data row, counted from 1, where the rows counted are those of the file."""
        if self.typed and self.typed[0] in _LABELLED:
            return mark.then if mark.unplaced is None else mark.unplaced
        return f"{mark.before}data row {mark.index + 1}{mark.then}"

    def _given(self, flag: str) -> list[str]:
        """Return what was passed by a flag."""
        after = [*self.typed[1:], ""]
        given = [value for word, value in zip(self.typed, after, strict=False) if word == flag]
        joined = [word.partition("=") for word in self.typed]
        return given + [value for word, equals, value in joined if word == flag and equals]


def _flag(name: str) -> str:
    """Return the flag of an argument; what is no name of one, such as "the file", as it is."""
    if name in _OPTIONS:
        return f"--{name.replace('_', '-')}"
    return (_FLAGS | _CALLED).get(name, name.replace("_", " ") if name.isidentifier() else name)
