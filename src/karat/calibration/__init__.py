"""Whether probabilities of several labels can be trusted jointly."""

from karat.calibration._calibration_certificate import calibration_certificate
from karat.calibration._calibrator_score import CalibratorScore
from karat.calibration._canonical_calibration_error import canonical_calibration_error
from karat.calibration._copula_calibrator import CopulaCalibrator
from karat.calibration._marginal_calibration_error import marginal_calibration_error
from karat.calibration._marginal_calibration_error_from_counts import (
    marginal_calibration_error_from_counts,
)
from karat.calibration.pairs_result import LabelPairs
from karat.calibration.result import (
    CalibrationCertificate,
    CanonicalCalibration,
    MarginalCalibration,
)

__all__ = [
    "CalibrationCertificate",
    "CalibratorScore",
    "CanonicalCalibration",
    "CopulaCalibrator",
    "LabelPairs",
    "MarginalCalibration",
    "calibration_certificate",
    "canonical_calibration_error",
    "marginal_calibration_error",
    "marginal_calibration_error_from_counts",
]
