"""Families of metrics by the names that people choose them by, at the terminal and in a study."""

from karat.elicit import (
    BinaryLinear,
    BinaryLinearFractional,
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
GROUPED = ("fair", "fair-quadratic")  # those that compare groups
