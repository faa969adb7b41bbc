"""Which column of probabilities belongs to which class or label, by their names."""

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

from karat._callers import caller_level
from karat._code import Coded
from karat._validate import refuse_option
from karat.exceptions import KaratWarning

__all__ = ["Pairing", "pair_columns", "paired_columns"]

_MARKS = "_-.: "  # what may stand between a prefix and a name, as in prob_spam


class Pairing(NamedTuple):
    """What the columns of probabilities are called by the classes or labels that they are of.

    ``names`` is empty where they go by their order; ``positive`` is the class of a single column.
    """

    names: dict[str, str]
    positive: Any = None


def pair_columns(
    labels: Sequence[str], probs: Sequence[str], classes: Sequence[Any], pos_label: Any = None
) -> Pairing:
    """Pair columns of probabilities with labels, or with the classes of one column of labels.

    Names win over the order: ``prob_spam`` is of the class spam. Text classes that no name tells
    apart go by the order of the sorted classes, with a warning.
    """
    if len(labels) > 1:
        found = _matched(probs, [_own(labels)[name] for name in labels])
        own = {part: name for name, part in _own(labels).items()}
        named = {prob: own[part] for prob, part in found.items() if part in own}
        return Pairing(named or dict(zip(probs, labels, strict=False)))
    texts = {str(c): c for c in classes}
    if len(probs) == 1:
        return Pairing({}, _positive(probs[0], texts, list(classes), pos_label))
    found = _matched(probs, list(texts))
    if not found and any(isinstance(c, str) for c in classes) and len(probs) == len(classes):
        pairs = ", ".join(f"{p} is {c!r}" for p, c in zip(probs, classes, strict=True))
        warnings.warn(
            f"no column of probabilities is named after its class, so they go by the order of the "
            f"sorted classes: {pairs}; call them prob_{classes[0]} … to be sure",
            KaratWarning,
            stacklevel=caller_level(),
        )
    return Pairing(found)


def paired_columns(y: Coded, h: Coded, pairing: Pairing) -> tuple[Coded, Coded]:
    """Return frames of labels and probabilities in the forms that the library takes, with code."""
    names = list(y.value.columns)
    renamed = {prob: name for prob, name in pairing.names.items() if prob != name}
    if renamed:
        h = Coded(h.value.rename(renamed), f"{h.code}.rename({renamed!r})")
    elif len(names) == 1 and not pairing.names:
        h = Coded(h.value.to_numpy(), f"{h.code}.to_numpy()")
    if len(names) > 1:
        return y, h
    one = Coded(y.value[names[0]], f"{y.code}[{names[0]!r}]")
    if pairing.positive in (None, one.value.max()):  # the library takes the larger label
        return one, h
    is_it = f"({one.code} == {pairing.positive!r})"
    return Coded((one.value == pairing.positive).cast(int), f"{is_it}.cast(int)"), h


def _positive(prob: str, texts: dict[str, Any], classes: list[Any], pos_label: Any) -> Any:
    """Return the class of a single column: the one that was named, or that the column names."""
    if pos_label is not None:
        if pos_label not in classes:
            refuse_option(pos_label, "pos_label", " or ".join(repr(c) for c in classes))
        return pos_label
    ends = [c for text, c in texts.items() if prob == text or _ends_with(prob, text)]
    return ends[0] if len(ends) == 1 else (classes[-1] if len(classes) == 2 else None)


def _ends_with(name: str, text: str) -> bool:
    return name.endswith(text) and name[: -len(text)][-1:] in _MARKS and len(name) > len(text)


def _own(names: Sequence[str]) -> dict[str, str]:
    """Return each name without what all of them begin with, up to a mark."""
    cut = 0
    while len(names) > 1 and len({name[: cut + 1] for name in names}) == 1 and cut < len(names[0]):
        cut += 1
    shared = names[0][:cut] if len(names) > 1 else ""
    cut = max((shared.rfind(mark) for mark in _MARKS), default=-1) + 1
    return {name: name[cut:] for name in names}


def _matched(probs: Sequence[str], wanted: Sequence[str]) -> dict[str, str]:
    """Return the class or label of each column if all are named after one, else nothing."""
    for parts in ({p: p for p in probs}, _own(probs)):
        if set(wanted) <= set(parts.values()) and len(set(parts.values())) == len(probs):
            return dict(parts)
    return {}
