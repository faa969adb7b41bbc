"""Sentences made of parts, so that every front end says them in its own words.

An error of karat is a sentence with marks in it. A mark says what stands there: an argument, an
option to pass, a row, what was given, what was expected, how to fix it. From the marks the error
takes its fields (``error.argument``, ``error.row``, ``error.remedy`` …), and a vocabulary says
them: Python's is `Words`, the command line has flags and the pages of a study form fields. So no
finished sentence is ever searched or changed.

A `Sentence` is a string, the sentence in Python's words, and keeps its parts. Adding strings to
one in an f-string would lose them; a longer sentence is made of a shorter one as a part.

>>> said = Sentence(Argument("y_score"), Row(3), " is ", Given("high"), "; expected ",
...                 Expected("finite numbers"), Remedy("Drop the row", after=". "))
>>> said
"y_score row 3 is 'high'; expected finite numbers. Drop the row"
>>> class Flags(Words):
...     def argument(self, mark):
...         return "--score p"
...     def row(self, mark):
...         return f" data row {mark.index + 1}{mark.then}"
>>> in_words(said, Flags())
"--score p data row 4 is 'high'; expected finite numbers. Drop the row"
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar


class Shown(str):
    """A value as a message is to show it, such as a rounded number."""

    __slots__ = ()


def shown(value: Any) -> str:
    """Return a value as a message shows it: no NumPy wrapper, no endless string, on one line."""
    if isinstance(value, Shown):
        return str(value)
    text = repr(_unwrapped(value))
    text = " ".join(text.split()) if "\n" in text else text  # arrays span several lines
    return text if len(text) <= 60 else f"{text[:57]}..."


def _unwrapped(value: Any) -> Any:
    """Return a number or a text of NumPy as Python's own."""
    single = hasattr(value, "dtype") and getattr(value, "shape", None) == ()
    return value.item() if single and type(value).__module__ == "numpy" else value


class Words:
    """How a front end says the marks of a sentence; these are Python's words."""

    python: ClassVar[bool] = True

    def argument(self, mark: Argument) -> str:
        """Return how an argument is called, and its column."""
        return mark.name if mark.column is None else f"{mark.name} column {mark.column!r}"

    def option(self, mark: Option) -> str:
        """Return how to pass an option."""
        return f"{mark.name}={'' if mark.value is None else shown(mark.value)}"

    def row(self, mark: Row) -> str:
        """Return which row, and what is said of it."""
        return f"{mark.before}row {mark.index}{mark.then}"


@dataclass(frozen=True, slots=True)
class Argument:
    """The argument in which a fault is, and its column if it has several."""

    name: str
    column: Any = None

    @classmethod
    def of(cls, name: str | Argument, column: Any = None) -> Argument:
        """Return an argument by its name, or a column of it."""
        known = cls(name) if isinstance(name, str) else name
        return known if column is None else cls(known.name, column)

    @staticmethod
    def several(names: str | Argument | Iterable[str | Argument]) -> Sentence:
        """Return the names of one argument or of several, with "and" between them.

        >>> Argument.several(["y_true", "y_pred"])
        'y_true and y_pred'
        """
        each = (names,) if isinstance(names, str | Argument) else names
        found: list[Part] = []
        for name in each:
            found += [" and ", Argument.of(name)] if found else [Argument.of(name)]
        return Sentence(*found)

    def said(self, words: Words) -> str:
        """Return the argument in the words of a front end."""
        return words.argument(self)

    def __str__(self) -> str:
        return self.said(PYTHON)


@dataclass(frozen=True, slots=True)
class Option:
    """An option that the reader may pass, with the value to give it."""

    name: str
    value: Any = None

    def said(self, words: Words) -> str:
        """Return the option in the words of a front end."""
        return words.option(self)


@dataclass(frozen=True, slots=True)
class Row:
    """The row in which a fault is, counted from 0, and what is said of it.

    ``unplaced`` is said instead where the reader's rows are not those that were counted, such as
    the labelled rows of a file.
    """

    index: int
    then: str = ""
    unplaced: str | None = None
    before: str = " "

    def __post_init__(self) -> None:
        object.__setattr__(self, "index", int(self.index))

    def said(self, words: Words) -> str:
        """Return the row in the words of a front end."""
        return words.row(self)


@dataclass(frozen=True, slots=True)
class Given:
    """What was passed; a value that is no plain one is kept as it is shown."""

    value: Any

    def __post_init__(self) -> None:
        value = _unwrapped(self.value)
        plain = value is None or type(value) in (bool, int, float, complex, str, bytes)
        object.__setattr__(self, "value", value if plain else Shown(shown(value)))

    def said(self, _: Words) -> str:
        """Return the value as messages show it."""
        return shown(self.value)


class _Parts:
    """Parts in a role of their own, and what stands for them outside Python."""

    __slots__ = ("elsewhere", "parts")

    def __init__(self, *parts: Part, elsewhere: Part | None = None) -> None:
        self.parts = tuple(parts)
        self.elsewhere = elsewhere

    def said(self, words: Words) -> str:
        """Return the parts in the words of a front end."""
        if self.elsewhere is None or words.python:
            return _joined(self.parts, words)
        return _joined((self.elsewhere,), words)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.parts))})"


class Wording(_Parts):
    """Words for Python, and others (none, if empty) where arguments of Python mean nothing."""

    __slots__ = ()


class Expected(_Parts):
    """What was expected."""

    __slots__ = ()


class Remedy(_Parts):
    """How to fix it, with the sign that stands before; a semicolon outside Python.

    If ``elsewhere`` is empty, the remedy is for Python alone.
    """

    __slots__ = ("after",)

    def __init__(self, *parts: Part, after: str = "; ", elsewhere: Part | None = None) -> None:
        super().__init__(*parts, elsewhere=elsewhere)
        self.after = after

    def said(self, words: Words) -> str:
        """Return the remedy with the sign that parts it from what stands before."""
        text = super().said(words)
        here = self.elsewhere is None or words.python
        return f"{self.after if here else '; '}{text}" if text else ""


Mark = Argument | Option | Row | Given | _Parts
Part = str | Mark | BaseException
PYTHON = Words()


class Sentence(str):
    """A sentence in Python's words that keeps the parts it is made of.

    A part may be another sentence, or an error, whose sentence it takes over.
    """

    __slots__ = ("parts",)
    parts: tuple[str | Mark, ...]

    def __new__(cls, *parts: Part) -> Sentence:
        """Return the sentence that parts make."""
        flat = tuple(_flat(parts))
        made = super().__new__(cls, _joined(flat, PYTHON))
        made.parts = flat
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.parts

    @property
    def marks(self) -> list[Mark]:
        """The marks in their order; of words for Python, those that they hold."""
        found: list[Mark] = []
        for part in self.parts:
            inner = Sentence(*part.parts).marks if isinstance(part, Wording) else [part]
            found += [mark for mark in inner if not isinstance(mark, str)]
        return found

    def first(self, *kinds: type) -> Any:
        """Return the first mark of some kinds; None if there is none."""
        return next((mark for mark in self.marks if isinstance(mark, kinds)), None)

    def role(self, kind: type[_Parts]) -> str | None:
        """Return the text of the first part in a role; None if there is none."""
        part = self.first(kind)
        return None if part is None else _joined(part.parts, PYTHON)


def _flat(parts: Iterable[Part]) -> Iterable[str | Mark]:
    for part in parts:
        known = part.sentence if isinstance(part, Said) else part
        if isinstance(known, Sentence):
            yield from known.parts
        else:
            yield str(known) if isinstance(known, BaseException) else known


def _joined(parts: Iterable[Part], words: Words) -> str:
    return "".join(p if isinstance(p, str) else p.said(words) for p in _flat(parts))


def in_words(text: str, words: Words) -> str:
    """Return a sentence in the words of a front end; any other text as it is."""
    return _joined(text.parts, words) if isinstance(text, Sentence) else text


class Said(Exception):  # noqa: N818 -- of errors and of warnings
    """What errors and warnings have in common: a sentence, and its parts as fields.

    Attributes
    ----------
    sentence : Sentence
        What is said, as a string that keeps its parts.
    argument : str or None
        The argument in which the fault is, such as ``"y_score"``.
    column : object
        The column of that argument, if it has several.
    row : int or None
        The row, counted from 0.
    given : object
        What was passed; as text if it is no plain value.
    expected : str or None
        What was expected.
    remedy : str or None
        How to fix it.
    """

    argument: str | None
    column: Any
    row: int | None
    given: Any
    expected: str | None
    remedy: str | None

    def __init__(
        self,
        *parts: Part,
        argument: str | None = None,
        column: Any = None,
        row: int | None = None,
        given: Any = None,
        expected: str | None = None,
        remedy: str | None = None,
    ) -> None:
        said = Sentence(*parts)
        super().__init__(said)
        place, option = said.first(Argument), said.first(Option)
        at, seen = said.first(Row), said.first(Given)
        found = {
            "argument": getattr(place or option, "name", None),
            "column": getattr(place, "column", None),
            "row": getattr(at, "index", None),
            "given": getattr(seen, "value", None),
            "expected": said.role(Expected),
            "remedy": said.role(Remedy),
        }
        passed = (argument, column, row, given, expected, remedy)
        inner = [part for part in parts if isinstance(part, Said)]
        for (name, mark), own in zip(found.items(), passed, strict=True):
            known = (own, mark, *(getattr(one, name) for one in inner))
            setattr(self, name, next((value for value in known if value is not None), None))

    @property
    def sentence(self) -> Sentence:
        """What is said, with its parts."""
        found: Sentence = self.args[0]
        return found
