"""Whether probabilities of several labels can be trusted jointly.

`marginal_calibration_error` looks at each label by itself, `canonical_calibration_error` at all of
them together, and `calibration_certificate` bounds that error from below whatever the law.
`CopulaCalibrator` learns better probabilities. What the functions return is in
`karat.calibration.result`.
"""

from karat.calibration._canonical import canonical_calibration_error
from karat.calibration._certificate import calibration_certificate
from karat.calibration._copula_calibrator import CopulaCalibrator
from karat.calibration._marginal import marginal_calibration_error
from karat.calibration.result import (
    CalibrationCertificate,
    CanonicalCalibration,
    MarginalCalibration,
)

__all__ = [
    "CalibrationCertificate",
    "CanonicalCalibration",
    "CopulaCalibrator",
    "MarginalCalibration",
    "calibration_certificate",
    "canonical_calibration_error",
    "marginal_calibration_error",
]
