"""The least number of answers that any procedure needs (Hiranandani 2021, Lemma 3.2, Thm. 6.2).

One answer is one bit: n answers tell 2^n metrics apart. If metrics are drawn uniformly from a
sphere and a share of them is to be found within an angle, then the caps of that angle around the
2^n metrics that can come out must hold this share of the sphere. The thesis counts balls and leaves
a constant open; the area of a cap is known, so that here it is a number.
"""

import numpy as np
from scipy.special import betainc

__all__ = ["bits_of_a_sphere", "bits_of_an_arc"]


def bits_of_a_sphere(dim: int, angle: float, *, share: float = 0.5, orthant: bool = False) -> float:
    """Return the least number of answers that find a share of metrics within an angle.

    Metrics are uniform on the unit sphere of ``dim`` dimensions, or on its positive orthant.
    """
    # The part of a sphere within an angle of at most 90 degrees of a point: ½ I_{sin²}((d−1)/2, ½).
    cap = 0.5 * betainc((dim - 1) / 2, 0.5, np.sin(min(angle, np.pi / 2)) ** 2)
    return float(np.log2(share / cap) - (dim if orthant else 0))


def bits_of_an_arc(length: float, error: float, *, share: float = 1.0) -> float:
    """Return the same for angles that are uniform on an interval, found within ``error``."""
    return float(np.log2(share * length / (2.0 * error)))
