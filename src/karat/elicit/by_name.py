"""Spaces and families by the names that people choose them by, at the terminal and in a study."""

from karat._validate import check_choice
from karat.elicit._elicitation import FAMILIES
from karat.elicit._rate_space import RateSpace
from karat.elicit.spaces import BinarySpace, ConfusionSpace, DiagonalSpace, Space

__all__ = ["FAMILIES", "SPACES", "space_name"]

# "groups" is a `RateSpace` whose groups are compared.
SPACES: dict[str, type[Space]] = {
    "binary": BinarySpace,
    "confusion": ConfusionSpace,
    "diagonal": DiagonalSpace,
    "rate": RateSpace,
    "groups": RateSpace,
}
_OF_RATES = ("quadratic", "polynomial")  # families of error rates alone


def space_name(family: str, n_classes: int, *, space: str | None = None) -> str:
    """Return the name of the space for a family and a number of classes.

    ``space`` is what was chosen, if anything was. Of two classes the recalls are what a
    `BinarySpace` has, so that ``diagonal`` is ``binary`` there.
    """
    check_choice(family, "family", FAMILIES)
    check_choice(space, "space", tuple(SPACES), none=True)
    if space == "diagonal" and n_classes == 2:
        return "binary"
    if space is not None:
        return space
    if family in _OF_RATES:
        return "rate"
    if n_classes == 2:
        return "binary"
    return "diagonal" if family == "monotone" else "confusion"
