"""From columns of a table to a space of confusions and a procedure that asks about it."""

from typing import Any

import numpy as np

from karat._validate import check_choice, check_scores
from karat.cli.frame import InputTable, read_pos_label
from karat.elicit import (
    BinaryLinear,
    BinaryLinearFractional,
    BinarySpace,
    ConfusionSpace,
    DiagonalLinear,
    DiagonalLinearFractional,
    DiagonalMonotone,
    DiagonalSpace,
    Fair,
    FairQuadratic,
    Linear,
    LinearFractional,
    Procedure,
    Quadratic,
    RateSpace,
    Space,
)
from karat.exceptions import ColumnError, OptionError

__all__ = ["FAMILIES", "read_space"]

# For each family of metrics: the procedure for two classes, that for more, and their space.
FAMILIES: dict[str, tuple[type[Procedure], type[Procedure], type[Space]]] = {
    "linear": (BinaryLinear, Linear, ConfusionSpace),
    "ratio": (BinaryLinearFractional, LinearFractional, ConfusionSpace),
    "diagonal": (BinaryLinear, DiagonalLinear, DiagonalSpace),
    "diagonal-ratio": (BinaryLinearFractional, DiagonalLinearFractional, DiagonalSpace),
    "monotone": (BinaryLinear, DiagonalMonotone, DiagonalSpace),
    "quadratic": (Quadratic, Quadratic, RateSpace),
    "fair": (Fair, Fair, RateSpace),
    "fair-quadratic": (FairQuadratic, FairQuadratic, RateSpace),
}
_FAIR = ("fair", "fair-quadratic")


def check_family(family: str, group: str | None) -> None:
    """Refuse an unknown family, and groups that a family cannot use or lacks."""
    check_choice(family, "--family", tuple(FAMILIES))
    if family in _FAIR and group is None:
        raise OptionError(f"--family is {family!r}; expected --group with it, to compare groups")
    if family not in _FAIR and group is not None:
        raise OptionError(f"--group is {group!r}; expected --family {' or '.join(_FAIR)} with it")


def read_space(
    table: InputTable,
    *,
    label: str,
    score: str | None,
    prob: list[str],
    pos_label: str | None,
    group: str | None,
    family: str,
) -> tuple[Space, type[Procedure]]:
    """Return the space and the procedure that fit the columns and the family."""
    check_family(family, group)
    two, more, kind = FAMILIES[family]
    y_true = table.column("--label", label)
    positive = read_pos_label([y_true], pos_label)
    if score is not None and prob:
        raise ColumnError("--score and --prob say the same thing twice; pass one of them")
    if score is None and len(prob) < 2:
        raise ColumnError(
            "--score: name the column of scores of the positive class, or one --prob per class, "
            f"in the order of the sorted labels; there are {table.frame.columns}"
        )
    space: Space
    if kind is RateSpace:
        space = _rate_space(table, y_true, score, prob, positive, group)
    elif score is not None:
        scores = table.column("--score", score)
        space = BinarySpace.from_scores(y_true, scores, pos_label=positive)
    else:
        chosen = BinarySpace if len(prob) == 2 else kind
        space = chosen.from_proba(y_true, table.columns("--prob", prob).to_numpy())
    return space, two if space.n_classes == 2 else more


def _rate_space(
    table: InputTable,
    y_true: Any,
    score: str | None,
    prob: list[str],
    positive: Any,
    group: str | None,
) -> RateSpace:
    """Return the space of error rates, of each group if there are groups."""
    groups = table.optional("--group", group)
    if score is None:
        proba = table.columns("--prob", prob).to_numpy()
        return RateSpace.from_proba(y_true, proba, groups=groups)
    chance = check_scores(table.column("--score", score), f"--score {score}")
    found = y_true.drop_nulls().unique().sort().to_list()
    if len(found) != 2:
        raise ColumnError(
            f"--score is for two classes and {y_true.name!r} holds {found[:5]}; pass one --prob "
            "per class"
        )
    ordered = found if positive in (None, found[1]) else found[::-1]
    proba = np.stack([1.0 - chance, chance], axis=1)
    return RateSpace.from_proba(y_true, proba, groups=groups, classes=ordered)
