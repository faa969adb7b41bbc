"""What is kept beside an answer: seconds, the side shown, a note, anything that JSON can hold."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from karat._validate import shown
from karat.exceptions import AnswerError

__all__ = ["check_kept"]


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
                f"{name} is {shown(value)}, which cannot be kept beside an answer ({error}); "
                "expected what JSON can hold: text, finite numbers, True, False, None, and lists "
                "and dicts of them. The answer was not taken: give it again"
            ) from error
    return copied


def _number(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is none of them")
