"""The predictions that questions are made of, and their bytes.

It needs NumPy only: the process that reads an uploaded file loads little else.
"""

import json
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.exceptions import DataError


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StudyData:
    """True labels, what a model said, and groups.

    Attributes
    ----------
    codes : array (n,)
        True labels, as places among ``classes``.
    values : array (n,) or (n, k)
        Scores of the second class, or probabilities of all classes.
    classes : tuple
        The labels; of two, the second is the positive one.
    members : array (n,) or None
        Groups, as places among ``groups``.
    groups : tuple
        Names of the groups.
    """

    codes: IntArray
    values: FloatArray
    classes: tuple[Any, ...]
    members: IntArray | None = None
    groups: tuple[Any, ...] = ()


def pack_data(data: StudyData) -> bytes:
    """Return the data as bytes that hold numbers and no code."""
    file = BytesIO()
    names = json.dumps({"classes": data.classes, "groups": data.groups})
    arrays = {"codes": data.codes.astype(np.int32), "values": data.values.astype(np.float64)}
    if data.members is not None:
        arrays["members"] = data.members.astype(np.int32)
    np.savez_compressed(file, names=np.frombuffer(names.encode(), np.uint8), **arrays)  # type: ignore[arg-type]
    return file.getvalue()


def unpack_data(packed: bytes) -> StudyData:
    """Return the data that `pack_data` packed."""
    try:
        with np.load(BytesIO(packed), allow_pickle=False) as file:
            names = json.loads(file["names"].tobytes())
            return StudyData(
                codes=file["codes"],
                values=file["values"],
                classes=tuple(names["classes"]),
                members=file.get("members"),
                groups=tuple(names["groups"]),
            )
    except (OSError, ValueError, KeyError, EOFError) as error:
        raise DataError(f"the data of the study cannot be read: {error}") from error
