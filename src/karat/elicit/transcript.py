"""One person's run as data: the questions, the answers, and the record they are replayed from.

A `Query` is a question, ``looks_alike`` says whether its sides are shown by the same numbers,
``check_answer`` reads what was answered and ``check_kept`` what is kept beside it. A `Transcript`
holds all questions and answers of a run with the options and the space they were asked with, so
that it can be saved, read back by ``load_transcript`` and resumed by ``Elicitation.resume``.
``pack`` and ``unpack`` write and read the bytes of a snapshot.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from karat._files import first_words, replaced
from karat._result import Frozen
from karat._sentences import Argument, Expected, Given
from karat._typing import AnyArray, FloatArray, IntArray
from karat._validate import check_choice, check_confusions, check_count, shown
from karat.elicit.counts import as_cases, same_counts, whole_counts
from karat.exceptions import AnswerError, ProbabilityError, ShapeError, TranscriptError

_FIELDS = {
    "family": str,
    "options": dict,
    "space": dict,
    "answers": list | tuple,
    "queries": list | tuple,
    "kinds": list | tuple,
    "kept": list | tuple,
}
_FRAME = ("schema", "version", "checksum")
_SAVED = "pass the file as transcript.save wrote it"


def load_transcript(source: Any) -> Transcript:
    """Read a transcript from JSON text, a file or a dict; a `Transcript` comes back as it is.

    A transcript that was cut off, or changed after it was saved, is refused: its checksum does not
    fit. What else a file holds, and whatever was kept beside an answer, comes back as it was.

    Parameters
    ----------
    source : str, path, dict or Transcript
        JSON text begins with a brace; any other text is the name of a file.
    """
    if isinstance(source, Transcript):
        return source
    fields = dict(source) if isinstance(source, dict) else _parsed(source)
    _check_frame(fields)
    _check_fields(fields)
    return Transcript(
        family=fields["family"],
        options=dict(fields["options"]),
        space=dict(fields["space"]),
        answers=tuple(fields["answers"]),
        queries=tuple(_sides(query) for query in fields["queries"]),
        kinds=tuple(fields["kinds"]),
        kept=tuple(dict(kept) for kept in fields["kept"]),
        extra={n: value for n, value in fields.items() if n not in (*_FRAME, *_FIELDS)},
    )


def _check_frame(fields: dict[str, Any]) -> None:
    """Refuse what is no transcript, of another version, or not as it was saved."""
    if fields.get("schema") != SCHEMA:
        raise TranscriptError(
            f"this is no transcript: its schema is {shown(fields.get('schema'))}; expected "
            f"{SCHEMA!r}. {_SAVED[0].upper()}{_SAVED[1:]}"
        )
    if fields.get("version") != SCHEMA_VERSION:
        raise TranscriptError(
            f"the transcript has version {shown(fields.get('version'))} and this karat reads "
            f"version {SCHEMA_VERSION}; use the karat that wrote it, or ask again"
        )
    if "checksum" not in fields:
        raise TranscriptError(
            "the transcript has no checksum, so nobody can say whether it is whole and as it was "
            f"saved; {_SAVED}"
        )
    lacking = [name for name in _FIELDS if name not in fields]
    if lacking:
        raise TranscriptError(f"the transcript lacks {', '.join(lacking)}; {_SAVED}")
    try:
        fits = fields["checksum"] == checksum_of(fields)
    except (TypeError, ValueError, RecursionError) as error:
        raise TranscriptError(
            "the transcript holds what JSON cannot (",
            error,
            f"); {_SAVED}",
        ) from error
    if not fits:
        raise TranscriptError(
            f"the transcript was changed after it was saved: its checksum does not fit; {_SAVED}"
        )


def _check_fields(fields: dict[str, Any]) -> None:
    """Refuse fields of another shape, though someone has signed them."""
    for name, kind in _FIELDS.items():
        if not isinstance(fields[name], kind):
            raise TranscriptError(
                Argument.of(name),
                f" of the transcript is {shown(fields[name])}; expected ",
                Expected("what elicitation.transcript has there"),
            )
    for name, known, one in (("answers", ANSWERS, "answer"), ("kinds", KINDS, "kind")):
        wrong = [value for value in fields[name] if value not in known]
        if wrong:
            raise TranscriptError(f"the transcript holds the {one} {wrong[0]!r}; expected {known}")
    n = len(fields["answers"])
    for name, what in (("queries", "questions"), ("kinds", "kinds"), ("kept", "things kept")):
        if len(fields[name]) != n:
            raise TranscriptError(f"the transcript holds {n} answers to {len(fields[name])} {what}")
    wrong = [kept for kept in fields["kept"] if not isinstance(kept, dict)]
    if wrong:
        raise TranscriptError(f"the transcript keeps {shown(wrong[0])}; expected a dict per answer")


def _sides(query: Any) -> tuple[Any, Any]:
    try:
        first, second = (np.asarray(side, dtype=float).tolist() for side in query)
    except (TypeError, ValueError) as error:
        raise TranscriptError(
            f"a question of the transcript is {shown(query)}; expected two confusions"
        ) from error
    return first, second


def _parsed(source: Any) -> dict[str, Any]:
    if not isinstance(source, str | PathLike):
        raise TranscriptError(
            f"the transcript is {type(source).__name__}; expected JSON text, a file, a dict or a "
            "Transcript"
        )
    text = str(source)
    if not text.strip():
        raise TranscriptError(f"the transcript is an empty text; {_SAVED}, or its name")
    try:
        if not text.lstrip().startswith("{"):
            text = Path(source).read_text(encoding="utf-8")
        fields = json.loads(text)
    except OSError as error:
        raise TranscriptError(
            "the transcript cannot be read: ",
            error,
        ) from error
    except (ValueError, RecursionError) as error:
        raise TranscriptError(
            f"the transcript is no JSON text, or was cut off ({first_words(error)}); copy the file "
            "again, or go back to a copy of it"
        ) from error
    if not isinstance(fields, dict):
        raise TranscriptError(
            f"the transcript is JSON but no object; expected schema, version, …: {_SAVED}"
        )
    return fields


# --- A question and the answers to it.

Answer = Literal["first", "second", "tie", "skip"]
ANSWERS: tuple[str, ...] = get_args(Answer)
# What an answer says of the sign of ``value(first) − value(second)``.
SIGNS = {"first": 1.0, "second": -1.0, "tie": 0.0, "skip": np.nan}
# Why a question is asked: to learn, or to see whether the person reads and means what they say.
KINDS = ("question", "dominated", "repeat")


@dataclass(frozen=True, slots=True, eq=False)
class Query(Frozen):
    """The question which of two classifiers is better (Hiranandani 2021, Definition 2.1).

    Attributes
    ----------
    first, second : array (k, k) or (groups, k, k)
        The two confusions: joint probabilities of (truth, prediction), or of (group, truth,
        prediction).
    kind : {"question", "dominated", "repeat"}, default "question"
        Why it is asked: to learn what the person wants, or as a check: of a pair of which one side
        is worse in every respect, or of a question that was asked before with its sides swapped.
    """

    first: FloatArray
    second: FloatArray
    kind: str = field(default="question", kw_only=True)

    def __post_init__(self) -> None:
        """Check the kind and make the confusions read-only."""
        check_choice(self.kind, "kind", KINDS)
        Frozen.__post_init__(self)

    @property
    def identical(self) -> bool:
        """Whether there is nothing to choose between."""
        return bool(np.allclose(self.first, self.second, rtol=0.0, atol=1e-15))

    @property
    def swapped(self) -> Query:
        """The same question, asked the other way round."""
        return Query(self.second, self.first, kind=self.kind)

    def counts(self, out_of: int = 1000) -> tuple[IntArray, IntArray]:
        """Return both confusions as whole numbers of cases out of ``out_of``, for people to read.

        Every number is the whole one below or above the exact count. Both sides have the same
        total of each true class, each table sums to ``out_of``, and the totals of the predictions
        are rounded no further than single numbers are. Where there are groups, each of them is
        shown for ``out_of`` cases. Differences below one case may get lost: `looks_alike` in
        ``karat.elicit.transcript`` says whether all of them do.

        Parameters
        ----------
        out_of : int, default 1000
            Number of cases that each confusion is shown for, in every group if there are groups.

        Examples
        --------
        >>> import numpy as np
        >>> guess = np.full((2, 2), 0.25)
        >>> first, second = Query(np.array([[0.45, 0.05], [0.124, 0.376]]), guess).counts(100)
        >>> first.tolist(), second.tolist()
        ([[45, 5], [12, 38]], [[25, 25], [25, 25]])
        """
        cases = check_count(out_of, "out_of")
        pairs = zip(*(as_cases(side, cases) for side in _stacked(self)), strict=True)
        rounded = [whole_counts(first, second) for first, second in pairs]
        if self.first.ndim == 2:
            return rounded[0]
        first, second = (np.stack(side) for side in zip(*rounded, strict=True))
        return first, second


def looks_alike(query: Query, out_of: int) -> bool:
    """Whether both sides of a query are shown by the same ``query.counts(out_of)``."""
    return same_counts(*_stacked(query), check_count(out_of, "out_of"))


def _stacked(query: Query) -> tuple[FloatArray, FloatArray]:
    """Return both confusions as (groups, k, k), of one group where there are none."""
    first, second = (check_confusions(side)[0] for side in (query.first, query.second))
    if first.shape != second.shape:
        raise ShapeError(
            f"the sides of the question have the shapes {query.first.shape} and "
            f"{query.second.shape}; expected two confusions of the same classes and groups"
        )
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise ProbabilityError("a group of the question holds no cases, so it cannot be shown")
    return first, second


def check_answer(answer: Any) -> Answer:
    """Return an answer in lower case; refuse what is none of the four answers."""
    text = answer.strip().lower() if isinstance(answer, str) else answer
    for known in get_args(Answer):
        if text == known:
            return known  # type: ignore[no-any-return]
    raise AnswerError(f"the answer is {answer!r}; expected 'first', 'second', 'tie' or 'skip'")


SCHEMA = "karat.elicitation"
SCHEMA_VERSION = 3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Transcript(Frozen):
    """The questions and answers of one person, and all that is needed to ask the questions again.

    Attributes
    ----------
    family : str
        The family of metrics, such as ``linear``.
    options : dict
        Its options, the seed among them.
    space : dict
        Kind, classes and fingerprint of the space.
    answers : tuple of str
        One of first, second, tie and skip for each question.
    queries : tuple of pairs
        The two confusions of each question, as nested lists.
    kinds : tuple of str
        Why each question was asked: ``question``, ``dominated`` or ``repeat`` (see `Query`).
    kept : tuple of dict
        What was kept beside each answer, such as ``{"seconds": 2.3, "side": "left"}``.
    extra : dict
        Whatever else a file held: an elicitation that resumes keeps it, and ``save`` writes it
        again as it was.
    """

    family: str
    options: dict[str, Any]
    space: dict[str, Any]
    answers: tuple[str, ...]
    queries: tuple[tuple[Any, Any], ...]
    kinds: tuple[str, ...] = ()
    kept: tuple[dict[str, Any], ...] = ()
    extra: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Say of every answer what it was given to and that nothing was kept, if nobody did."""
        n = len(self.answers)
        object.__setattr__(self, "kinds", self.kinds or ("question",) * n)
        object.__setattr__(self, "kept", self.kept or tuple({} for _ in range(n)))
        Frozen.__post_init__(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the transcript as plain data: schema, version, its fields and their checksum."""
        fields = Frozen.to_dict(self)
        extra: dict[str, Any] = fields.pop("extra")
        fields = extra | {"schema": SCHEMA, "version": SCHEMA_VERSION} | fields
        return fields | {"checksum": checksum_of(fields)}

    def to_json(self) -> str:
        """Return the transcript as JSON text that `load_transcript` reads back."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the transcript to a file; an interruption leaves the old file whole."""
        with replaced(path) as beside:
            beside.write_text(self.to_json() + "\n", encoding="utf-8")


def checksum_of(fields: Mapping[str, Any]) -> str:
    """Return the SHA-256 of everything but the checksum itself, as canonical JSON.

    Keys are sorted and no space is left, so that a file which another program has indented or
    reordered is still the same.
    """
    rest = {name: value for name, value in fields.items() if name != "checksum"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


# --- What is kept beside an answer: seconds, the side shown, a note, anything that JSON can hold.


def check_kept(kept: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of what is kept beside an answer, as a file would give it back.

    Refuses what JSON cannot hold, so that no answer is taken which could not be saved.
    """
    copied = {}
    for name, value in kept.items():
        try:
            text = json.dumps(value, allow_nan=False, ensure_ascii=False, default=_number)
            text.encode()  # half of a surrogate pair is text that no file can hold
            copied[str(name)] = json.loads(text)
        except (TypeError, ValueError, RecursionError) as error:
            raise AnswerError(
                Argument.of(name),
                " is ",
                Given(value),
                ", which cannot be kept beside an answer (",
                error,
                "); expected ",
                Expected(
                    "what JSON can hold: text, finite numbers, True, False, None, and lists "
                    "and dicts of them"
                ),
                ". The answer was not taken: give it again",
            ) from error
    return copied


def _number(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is none of them")


# --- A header in JSON and arrays of numbers as bytes, with a checksum before them.

_MAGIC = b"KARAT-ELICIT"
_VERSION = 3
_DIGEST = 32
_NUMBERS = ("<f4", "<f8", ">f4", ">f8")  # what arrays may hold: no objects, which would be code


def pack(header: dict[str, Any], arrays: dict[str, AnyArray]) -> bytes:
    """Return a header and arrays as bytes with a checksum."""
    layout = [[name, array.dtype.str, list(array.shape)] for name, array in arrays.items()]
    text = json.dumps(header | {"arrays": layout}, ensure_ascii=False).encode()
    parts = [len(text).to_bytes(4, "little"), text]
    parts += [np.ascontiguousarray(array).tobytes() for array in arrays.values()]
    body = b"".join(parts)
    return _MAGIC + _VERSION.to_bytes(2, "little") + hashlib.sha256(body).digest() + body


def unpack(snapshot: Any) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Return the header and the arrays of a snapshot; refuse bytes that are none."""
    body = _checked_body(snapshot)
    end = 4 + int.from_bytes(body[:4], "little")
    try:
        header = json.loads(body[4:end])
        layout = header.pop("arrays")
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        raise TranscriptError(
            "the header of the snapshot cannot be read, though its checksum fits; pass what "
            "elicitation.snapshot() gave, or resume from the transcript"
        ) from error
    arrays = {}
    for entry in layout if isinstance(layout, list) else [layout]:
        name, kind, shape = _checked_layout(entry)
        dtype, count = np.dtype(kind), int(np.prod(shape, dtype=object))
        if end + count * dtype.itemsize > len(body):
            raise TranscriptError(
                f"the snapshot ends within its array {shown(name)}, though its checksum fits; "
                "resume from the transcript"
            )
        arrays[name] = np.frombuffer(body, dtype, count, end).reshape(shape)
        end += count * dtype.itemsize
    return header, arrays


def _checked_body(snapshot: Any) -> bytes:
    """Return what is behind the checksum, if that fits."""
    start = len(_MAGIC) + 2
    if not isinstance(snapshot, bytes | bytearray | memoryview):
        raise TranscriptError(
            f"the snapshot is {type(snapshot).__name__}; expected the bytes that "
            "elicitation.snapshot() gave"
        )
    data = bytes(snapshot)
    if data[: len(_MAGIC)] != _MAGIC:
        raise TranscriptError(
            "these bytes are no snapshot of an elicitation; pass what elicitation.snapshot() gave"
        )
    version = int.from_bytes(data[len(_MAGIC) : start], "little")
    if version != _VERSION:
        raise TranscriptError(
            f"the snapshot has version {version} and this karat reads version {_VERSION}; resume "
            "from the transcript of the same answers"
        )
    body = data[start + _DIGEST :]
    if hashlib.sha256(body).digest() != data[start : start + _DIGEST]:
        raise TranscriptError(
            "the snapshot is damaged: its checksum does not fit. Resume from an earlier snapshot "
            "or from the transcript"
        )
    return body


def _checked_layout(entry: Any) -> tuple[str, str, list[int]]:
    """Return the name, the kind of number and the shape of an array, if they can be those."""
    if isinstance(entry, list) and len(entry) == 3:
        name, kind, shape = entry
        lengths = isinstance(shape, list) and all(type(n) is int and n >= 0 for n in shape)
        if isinstance(name, str) and kind in _NUMBERS and lengths and len(shape) <= 8:
            return name, kind, shape
    raise TranscriptError(
        f"the snapshot describes an array by {shown(entry)}; expected its name, its kind of number "
        "and its shape as elicitation.snapshot() writes them"
    )
