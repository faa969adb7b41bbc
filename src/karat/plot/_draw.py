"""Draw any result: its picture is looked up by the name of its class.

So a result is drawn without loading the packages of other results.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from karat._result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The picture of each kind of result, by the module of `karat.plot.pictures` that holds it.
_PICTURES = {
    "_audit": {
        "AuditResult": "draw_audit",
        "LabelBudget": "draw_budget",
        "GateResult": "draw_gate",
        "JudgedRate": "draw_judged",
        "ModelTiers": "draw_tiers",
    },
    "_bounds": {
        "PerformanceBounds": "draw_interval",
        "DifferenceBounds": "draw_interval",
        "ExpectationBounds": "draw_interval",
        "BoundsCurve": "draw_curve",
        "ModelRanking": "draw_ranking",
        "WeakLabelValue": "draw_value",
        "RobustnessCurve": "draw_robustness",
    },
    "_calibration": {
        "CanonicalCalibration": "draw_canonical",
        "LabelPairs": "draw_pairs",
        "MarginalCalibration": "draw_reliability",
        "CalibrationCertificate": "draw_certificate",
        "CalibratorScore": "draw_calibrator",
    },
    "_consensus": {
        "ErrorRates": "draw_forest",
        "Explanations": "draw_explanations",
        "VoterAgreement": "draw_agreement",
        "RankingRobustness": "draw_ranking_robustness",
        "ModelComparison": "draw_comparison",
        "CoClustering": "draw_co_clustering",
    },
    "_counts": {
        "Confusion": "draw_table",
        "Rates": "draw_table",
        "Patterns": "draw_patterns",
        "PatternCounts": "draw_pattern_counts",
        "RocCounts": "draw_roc",
        "VoteCounts": "draw_votes",
        "JointRocCounts": "draw_joint",
    },
    "_elicit": {
        "ElicitationResult": "draw_elicited",
        "AgreementHistory": "draw_progress",
        "AskedQuestions": "draw_asked",
        "SharedMetric": "draw_shared",
        "TradeOff": "draw_lambda",
        "WeightTable": "draw_weight_table",
        "FairnessFrontier": "draw_frontier",
        "AgreementOnPairs": "draw_pairs_agreed",
        "CheckScores": "draw_check_scores",
        "IndifferenceTest": "draw_indifference",
    },
    "_judges": {
        "AnnotatorTest": "draw_annotators",
        "PositionBias": "draw_position",
        "PairErrors": "draw_pair_errors",
        "SystemRanking": "draw_systems",
        "ScoreErrors": "draw_scores",
        "JudgePanel": "draw_panel",
    },
    "_limits": {
        "Limits": "draw_limits",
        "PredictionPoweredLimits": "draw_prediction_powered",
        "AnytimeLimits": "draw_anytime",
        "MetricEstimate": "draw_estimate",
        "MetricGap": "draw_gap",
    },
    "_optimize": {
        "OptimizationHistory": "draw_history",
        "Optimum": "draw_optimum",
        "ClassWeights": "draw_class_weights",
        "DecisionRegions": "draw_regions",
    },
    "_ranking": {
        "WeightedAUC": "draw_area",
        "RankingComparison": "draw_areas",
        "RankingDifference": "draw_difference",
        "RankingMeasure": "draw_measure",
        "RocPoint": "draw_point",
        "UniformMargin": "draw_margin",
    },
    "_weak": {
        "LabelModelCheck": "draw_check",
        "VoteDiagnostics": "draw_diagnostics",
    },
}
_PLACES = {
    kind: (module, picture)
    for module, pictures in _PICTURES.items()
    for kind, picture in pictures.items()
}


def draw(result: Result, ax: Axes | None = None) -> Axes:
    """Draw a result of karat on ``ax`` (a new figure by default) and return the axes.

    ``result.plot()`` is the same.
    """
    for kind in type(result).__mro__:
        if kind.__name__ in _PLACES and kind.__module__.split(".")[0] == "karat":
            module, picture = _PLACES[kind.__name__]
            return getattr(import_module(f"karat.plot.pictures.{module}"), picture)(result, ax)  # type: ignore[no-any-return]
    raise TypeError(f"there is no picture of a {type(result).__name__}; pass a result of karat")
