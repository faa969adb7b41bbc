"""Values that a flag names as text and a column holds in a type of its own."""

import warnings
from collections.abc import Iterable
from typing import Any

from karat._validate import check_choice, odd_text, refuse_option
from karat.exceptions import DataError, KaratWarning

__all__ = ["check_cells", "read_class_prior", "read_classes", "read_null", "read_pos_label"]

_SHOWN = 6


def check_cells(flag: str, name: str, column: Any) -> None:
    """Quote the cell of a column of numbers that is none; where labels stand, say so and go on."""
    numbers = flag in ("--score", "--prob", "--weight", "--label-probability")
    if not column.dtype.is_(_text()) or not (numbers or flag in ("--label", "--pred")):
        return
    empty = column.is_null()
    values = column.fill_null("").to_numpy()
    odd = odd_text(values, empty.to_numpy())
    if odd is None:
        return
    row, cell = odd + 1, column[odd]
    if numbers:
        expected = "probabilities" if flag == "--prob" else "numbers"
        raise DataError(f"{flag} {name}: data row {row} holds {cell!r}; expected {expected}")
    others = column.drop_nulls()
    if 2 * others.cast(float, strict=False).is_finite().sum() > len(others):
        warnings.warn(
            f"{flag} {name}: data row {row} holds {cell!r} and most rows hold numbers; it counts "
            "as a class of its own",
            KaratWarning,
            stacklevel=2,
        )


def _text() -> Any:
    import polars as pl

    return pl.String


def read_pos_label(columns: Iterable[Any], text: str | None) -> Any:
    """Return the label that ``--pos-label`` names, in the type of the columns that hold labels."""
    if text is None:
        return None
    known = {label: None for column in columns for label in column.drop_nulls().unique().sort()}
    for label in known:
        if _is_called(label, text):
            return label
    return refuse_option(text, "--pos-label", f"one of the labels {_listed(known)}")


def _is_called(label: Any, text: str) -> bool:
    if text == str(label) or (isinstance(label, bool) and text == str(label).lower()):
        return True
    return isinstance(label, float) and text == f"{label:g}"


def _listed(labels: Iterable[Any]) -> str:
    known = list(labels)
    return ", ".join(map(str, known[:_SHOWN])) + ", …" * (len(known) > _SHOWN)


def read_class_prior(
    columns: Iterable[Any], text: str | None
) -> tuple[list[Any] | None, list[float] | None]:
    """Return the classes and P(Y) that ``--class-prior`` gives as ``ham=0.8,spam=0.2``."""
    if text is None:
        return None, None
    found = {label for column in columns for label in column.drop_nulls().unique()}
    labels = sorted(label for label in found if str(label) not in ("-1", "-1.0"))
    example = ",".join(f"{label}={1 / len(labels):.2g}" for label in labels[:_SHOWN])
    expected = f"a probability for each of the labels {_listed(labels)}, such as {example}"
    shares: dict[Any, float] = {}
    for part in text.split(","):
        name, _, number = part.rpartition("=")
        label = [label for label in labels if _is_called(label, name.strip())]
        try:
            shares[label[0]] = float(number)
        except (IndexError, ValueError):
            refuse_option(text, "--class-prior", expected)
    if len(shares) < len(labels):
        refuse_option(text, "--class-prior", expected)
    return labels, [shares[label] for label in labels]


def read_classes(columns: Iterable[Any], text: str | None) -> list[Any] | None:
    """Return the classes that ``--classes`` lists, in the type of the columns that hold labels.

    A class that no column holds is taken in the type of the others.
    """
    if text is None:
        return None
    known = {label for column in columns for label in column.drop_nulls().unique().to_list()}
    kinds = {type(label) for label in known}
    found = []
    for name in (part.strip() for part in text.split(",")):
        held = [label for label in known if _is_called(label, name)]
        try:
            found.append(held[0] if held else next(iter(kinds or {str}))(name))
        except ValueError:
            refuse_option(text, "--classes", f"labels as the columns hold them: {_listed(known)}")
    if len(set(found)) < 2 or len(set(found)) < len(found):
        refuse_option(text, "--classes", "two classes or more, each once, such as ham,spam")
    return found


def read_null(text: str) -> str:
    """Return the library's ``null=`` for a flag, in which words are joined by a hyphen."""
    return check_choice(text.replace(" ", "-"), "--null", ("not-asked", "abstain")).replace(
        "-", " "
    )
