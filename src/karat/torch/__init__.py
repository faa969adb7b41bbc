"""Losses for networks; needs PyTorch (the extra ``torch``)."""

from karat._extras import require

require("torch", extra="torch", purpose="karat.torch")

# After the check, so that a missing PyTorch is named together with the extra that brings it.
from karat.torch._copula_calibration_loss import CopulaCalibrationLoss  # noqa: E402
from karat.torch._weighted_auc_loss import WeightedAUCLoss  # noqa: E402

__all__ = ["CopulaCalibrationLoss", "WeightedAUCLoss"]
