"""Which certificate ``auto`` and ``approximate`` stand for: by sizes and weight, never by scores.

What is chosen before a score is seen has no price: the limits hold as if it had been named.
"""

from typing import NamedTuple

from karat.ranking.certificates._nested import starts_at_zero
from karat.ranking.certificates._pairs import all_of_the_curve
from karat.ranking.placements import Placements
from karat.ranking.weights import TwoWayBand, Weight

__all__ = ["Choice", "chosen_certificate"]

_ENOUGH = 80  # rows of the rarer class from which on DeLong's limits hold
_NEGATIVES_PER_POSITIVE = 0.2  # in the band, from which on ``nested`` is narrower than ``beta``

_MANY = 10**8  # rows of a class, above which ``beta`` needs tens of thousands of ranks


class Choice(NamedTuple):
    """A certificate, and why it was taken where it was not named."""

    certificate: str
    why: str = ""


def chosen_certificate(
    kind: str, placed: Placements, weight: Weight | TwoWayBand, ties: str, *, cells: bool = False
) -> Choice:
    """Return the certificate that a name stands for; with ``cells``, for scores in cells."""
    if kind == "auto" and cells and not all_of_the_curve(weight):
        return Choice("dkw", "the order of the scores inside their cells is not known")
    if kind == "auto":
        return _certain(placed, weight, ties)
    if kind == "approximate":
        return _approximate(placed, weight, ties)
    return Choice(kind)


def _certain(placed: Placements, weight: Weight | TwoWayBand, ties: str) -> Choice:
    n1, n0 = placed.n_positive, placed.n_negative
    if all_of_the_curve(weight):
        return Choice("hinge", "pairs of rows give the narrowest certain limits of the AUC")
    if ties == "strict":
        return Choice("dkw", "ties='strict' has certain limits by 'dkw' alone")
    if not placed.counts_rows:
        return Choice("dkw", "importance weights leave no whole numbers of rows")
    if starts_at_zero(weight) and weight.area * n0 >= _NEGATIVES_PER_POSITIVE * n1:
        return Choice("nested", f"{weight.area * n0:,.4g} negatives are expected in the band")
    if max(n1, n0) > _MANY:
        return Choice("dkw", f"'beta' takes long above {_MANY:,} rows of a class")
    return Choice("beta", "its bands are narrow where rates are small")


def _approximate(placed: Placements, weight: Weight | TwoWayBand, ties: str) -> Choice:
    few = min(placed.n_positive, placed.n_negative) < _ENOUGH
    if few and ties != "strict" and all_of_the_curve(weight):
        return Choice("smoothed", f"the rarer class has fewer than {_ENOUGH} rows")
    if few:
        return Choice("delong", "'smoothed' is for the AUC alone")
    return Choice("delong", f"both classes have {_ENOUGH} rows or more")
