"""Areas under the ROC curve from placements: as seen, at their worst inside bands, and by row.

`area`, `strict_area` and `enclosure` are areas of the rows seen, under the rules of ties; `curve`
and `box_area` draw the curve and measure inside a box. A `Band` limits a distribution function
where a share of the rows is at or below a score; the area grows with F₀ and falls with F₁, so the
worst cases inside two bands are areas again (`area_and_limits`, `limits_in_bands`,
`curves_in_bands`). `influence` says what each row adds to an area.
"""

from karat.ranking.areas._area import (
    area,
    area_and_limits,
    band_limits,
    enclosure,
    limits_in_bands,
    strict_area,
)
from karat.ranking.areas._bands import Band, BetaBand, DkwBand, band_of, dkw_margin
from karat.ranking.areas._curve import band_inside, box_area, curve, curves_in_bands
from karat.ranking.areas._influence import influence, variance
from karat.ranking.areas._paired_cells import paired_errors

__all__ = [
    "Band",
    "BetaBand",
    "DkwBand",
    "area",
    "area_and_limits",
    "band_inside",
    "band_limits",
    "band_of",
    "box_area",
    "curve",
    "curves_in_bands",
    "dkw_margin",
    "enclosure",
    "influence",
    "limits_in_bands",
    "paired_errors",
    "strict_area",
    "variance",
]
