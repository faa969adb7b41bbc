"""Whether probabilities of several labels can be trusted jointly."""

from karat.calibration._canonical import canonical_calibration_error
from karat.calibration._certificate import calibration_certificate
from karat.calibration._copula_calibrator import CalibratorScore, CopulaCalibrator, LabelPairs
from karat.calibration._marginal import (
    marginal_calibration_error,
    marginal_calibration_error_from_counts,
)
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
