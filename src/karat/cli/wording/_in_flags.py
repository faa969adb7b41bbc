"""Sentences of the library in the words of a command."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["command_line", "in_flags", "options_in_flags"]

_FLAGS = {
    "y_true": "--label", "y_pred": "--pred", "y_score": "--score", "y_prob": "--prob",
    "weak_labels": "--weak", "votes": "--judge", "groups": "--group", "domains": "--group",
    "clusters": "--cluster", "sample_weight": "--weight",
    "label_probability": "--label-probability",
}  # fmt: skip
_OPTIONS = (
    "pos_label", "confidence", "null", "metric", "threshold", "class_prior", "certificate",
    "at_least", "weighting",
)  # fmt: skip
_ROLES = ("label", "pred", "score", "prob", "weak", "judge", "group", "id", "weight")
# These look at labelled rows alone, so that the library's numbers of rows are not those of a file.
_LABELLED = {"score", "gate", "optimize", "calibration", "evaluate"}
# Words that are also words of a sentence are arguments only where a fault of theirs is told.
_COLUMN = r"(?: column ('[^']*'))?"
_ROW = r"( row \d+ is missing \(\d+ missing[^)]*\)|,? row \d+| holds text \(row \d+: )?"
_NAME = re.compile(
    rf"(?<![\w.'-])(y_\w+|weak_labels|sample_weight|label_probability){_COLUMN}{_ROW}(?![\w=('-])"
    rf"|(?<![\w.'-])(votes|groups|domains|clusters){_COLUMN}(?= (?:row|holds|has \d)){_ROW}"
)
# What helps in Python and not at a terminal, and what is said instead.
_INSTEAD = (
    (re.compile(r"[.;] If the others just do not occur here.*$"), "; add rows of another class"),
    (
        re.compile(r"[.;,] (?:Name them with classes=|or y_true == one of them|and classes= ).*$"),
        "",
    ),
    (re.compile(r", or pass classes= if (?:it is|they are) \S.*$"), ""),
    (re.compile(r", or pass format=$"), ""),
    # A flag that is not given is None in Python.
    (re.compile(r", ('[^']*') or None$"), r" or \1"),
    (re.compile(r"(?<=expected )('[^']*') or None$"), r"\1"),
    (re.compile(r"^classes holds"), "the labels are of"),
    *((re.compile(rf"^{o} (?=is )"), f"--{o.replace('_', '-')} ") for o in _OPTIONS),
    (re.compile(rf"\b({'|'.join(_ROLES)})=['\"]([^'\"]*)['\"]"), r"--\1 \2"),
)

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

    >>> with command_line(["auc", "mails.csv", "--label", "truth", "--score", "p"]):
    ...     in_flags("y_score row 3 is missing or NaN (1 such rows in all)")
    '--score p data row 4 is missing or NaN (1 such rows in all)'
    """
    words = _words.get()
    if not words:
        return text
    for phrase, instead in _INSTEAD:
        text = phrase.sub(instead, text)
    text = _NAME.sub(
        lambda m: _flagged(m[1] or m[4], m[2] or m[5], m[3] or m[6] or "", words), text
    )
    return options_in_flags(text)


def options_in_flags(text: str) -> str:
    """Return an answer with flags where the library names an argument to pass.

    >>> options_in_flags("pass some labels as y_true=, or pos_label='spam'")
    "pass some labels as --label, or --pos-label 'spam'"
    >>> options_in_flags("pass class_prior=, or some labels")
    'pass --class-prior, or some labels'
    """
    for name, flag in _FLAGS.items():
        text = re.sub(rf"\b{name}=(?=[\s.,;)]|$)", flag, text)
    for name in _OPTIONS:
        flag = f"--{name.replace('_', '-')}"
        text = re.sub(rf"\b{name}=(?=[\s.,;)]|$)", flag, text)
        text = re.sub(rf"\b{name}=", f"{flag} ", text)
    return text


def _flagged(name: str, column: str | None, row: str, words: Sequence[str]) -> str:
    flag = _FLAGS.get(name)
    if flag is None:
        return f"{name}{row}"
    given = [after for word, after in zip(words, [*words[1:], ""], strict=True) if word == flag]
    given += [word.partition("=")[2] for word in words if word.startswith(f"{flag}=")]
    if column is not None:
        given = [column[1:-1]]
    one = len(given) == 1 and not set(given[0]) & set("*?[,")
    return f"{flag} {given[0]}{_placed(row, words)}" if one else f"{flag}{_placed(row, words)}"


def _placed(row: str, words: Sequence[str]) -> str:
    """Return where a fault is: data rows count from 1, and labelled ones are not rows of a file."""
    if words[0] not in _LABELLED:
        return re.sub(r",? ?(\(?)row (\d+)", lambda m: f" {m[1]}data row {int(m[2]) + 1}", row)
    if missing := re.search(r"\((\d+) missing", row):
        return f" is empty in {missing[1]} rows"
    return " holds text (such as " if "holds text" in row else ""
