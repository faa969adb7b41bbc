"""Compile every loop of this package, so that no call has to."""

import numpy as np

from karat.bounds.transport._transport import transport_duals, transport_plans

__all__ = ["warm"]


def warm() -> None:
    """Solve one small transport problem each way."""
    even = np.full((1, 3), 1 / 3)
    transport_duals(np.eye(3), even, even, 0.0)
    transport_plans(np.eye(3), even, even)
