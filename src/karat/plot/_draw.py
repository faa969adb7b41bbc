"""Draw any result: the picture is chosen by its type."""

from functools import singledispatch
from typing import TYPE_CHECKING

from karat._result import Result
from karat.audit import AuditResult, GateResult, JudgedRate, LabelBudget, ModelTiers
from karat.bounds import (
    BoundsCurve,
    DifferenceBounds,
    ExpectationBounds,
    ModelRanking,
    PerformanceBounds,
    RobustnessCurve,
    WeakLabelValue,
)
from karat.calibration import (
    CalibrationCertificate,
    CalibratorScore,
    CanonicalCalibration,
    LabelPairs,
    MarginalCalibration,
)
from karat.consensus import (
    AnnotatorTest,
    CoClustering,
    ErrorRates,
    Explanations,
    JudgePanel,
    ModelComparison,
    PairErrors,
    PositionBias,
    RankingRobustness,
    ScoreErrors,
    SystemRanking,
    VoterAgreement,
)
from karat.decisions import Optimum
from karat.elicit import (
    AgreementHistory,
    AgreementOnPairs,
    AskedQuestions,
    CheckScores,
    ElicitationResult,
    FairnessFrontier,
    IndifferenceTest,
    SharedMetric,
    TradeOff,
    WeightTable,
)
from karat.limits import AnytimeLimits, Limits, PoweredLimits
from karat.metrics import MetricEstimate, MetricGap
from karat.optimize import ClassWeights, DecisionRegions, OptimizationHistory
from karat.plot.pictures import (
    draw_agreement,
    draw_annotators,
    draw_anytime,
    draw_area,
    draw_areas,
    draw_asked,
    draw_calibrator,
    draw_canonical,
    draw_certificate,
    draw_check,
    draw_check_scores,
    draw_class_weights,
    draw_co_clustering,
    draw_comparison,
    draw_curve,
    draw_diagnostics,
    draw_difference,
    draw_elicited,
    draw_estimate,
    draw_explanations,
    draw_forest,
    draw_frontier,
    draw_gap,
    draw_history,
    draw_indifference,
    draw_interval,
    draw_joint,
    draw_lambda,
    draw_limits,
    draw_margin,
    draw_measure,
    draw_optimum,
    draw_pair_errors,
    draw_pairs,
    draw_pairs_agreed,
    draw_panel,
    draw_pattern_counts,
    draw_patterns,
    draw_point,
    draw_position,
    draw_powered,
    draw_progress,
    draw_ranking,
    draw_ranking_robustness,
    draw_regions,
    draw_reliability,
    draw_robustness,
    draw_roc,
    draw_scores,
    draw_shared,
    draw_systems,
    draw_table,
    draw_value,
    draw_votes,
    draw_weight_table,
)
from karat.plot.pictures.audits import (
    draw_audit,
    draw_budget,
    draw_gate,
    draw_judged,
    draw_tiers,
)
from karat.ranking import (
    RankingComparison,
    RankingDifference,
    RankingMeasure,
    RocPoint,
    UniformMargin,
    WeightedAUC,
)
from karat.statistics import (
    Confusion,
    JointRocCounts,
    PatternCounts,
    Patterns,
    Rates,
    RocCounts,
    VoteCounts,
)
from karat.weak import LabelModelCheck, VoteDiagnostics

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw"]


@singledispatch
def draw(result: Result, ax: "Axes | None" = None) -> "Axes":
    """Draw a result of karat on ``ax`` (a new figure by default) and return the axes.

    ``result.plot()`` is the same; a new kind of result registers its picture here.
    """
    raise TypeError(f"there is no picture of a {type(result).__name__}; pass a result of karat")


draw.register(Confusion, draw_table)
draw.register(Rates, draw_table)
draw.register(Patterns, draw_patterns)
draw.register(PatternCounts, draw_pattern_counts)
draw.register(RocCounts, draw_roc)
draw.register(VoteCounts, draw_votes)
draw.register(JointRocCounts, draw_joint)
draw.register(Limits, draw_limits)
draw.register(PoweredLimits, draw_powered)
draw.register(AnytimeLimits, draw_anytime)
draw.register(MetricEstimate, draw_estimate)
draw.register(MetricGap, draw_gap)
draw.register(PerformanceBounds, draw_interval)
draw.register(DifferenceBounds, draw_interval)
draw.register(ExpectationBounds, draw_interval)
draw.register(BoundsCurve, draw_curve)
draw.register(ModelRanking, draw_ranking)
draw.register(WeakLabelValue, draw_value)
draw.register(RobustnessCurve, draw_robustness)
draw.register(LabelModelCheck, draw_check)
draw.register(VoteDiagnostics, draw_diagnostics)
draw.register(ErrorRates, draw_forest)
draw.register(Explanations, draw_explanations)
draw.register(VoterAgreement, draw_agreement)
draw.register(RankingRobustness, draw_ranking_robustness)
draw.register(ModelComparison, draw_comparison)
draw.register(CoClustering, draw_co_clustering)
draw.register(AnnotatorTest, draw_annotators)
draw.register(PositionBias, draw_position)
draw.register(PairErrors, draw_pair_errors)
draw.register(SystemRanking, draw_systems)
draw.register(ScoreErrors, draw_scores)
draw.register(JudgePanel, draw_panel)
draw.register(ElicitationResult, draw_elicited)
draw.register(AgreementHistory, draw_progress)
draw.register(AskedQuestions, draw_asked)
draw.register(SharedMetric, draw_shared)
draw.register(TradeOff, draw_lambda)
draw.register(WeightTable, draw_weight_table)
draw.register(FairnessFrontier, draw_frontier)
draw.register(AgreementOnPairs, draw_pairs_agreed)
draw.register(CheckScores, draw_check_scores)
draw.register(IndifferenceTest, draw_indifference)
draw.register(WeightedAUC, draw_area)
draw.register(RankingComparison, draw_areas)
draw.register(RankingDifference, draw_difference)
draw.register(RankingMeasure, draw_measure)
draw.register(RocPoint, draw_point)
draw.register(UniformMargin, draw_margin)
draw.register(CanonicalCalibration, draw_canonical)
draw.register(LabelPairs, draw_pairs)
draw.register(MarginalCalibration, draw_reliability)
draw.register(CalibrationCertificate, draw_certificate)
draw.register(CalibratorScore, draw_calibrator)
draw.register(OptimizationHistory, draw_history)
draw.register(Optimum, draw_optimum)
draw.register(ClassWeights, draw_class_weights)
draw.register(DecisionRegions, draw_regions)
draw.register(AuditResult, draw_audit)
draw.register(LabelBudget, draw_budget)
draw.register(GateResult, draw_gate)
draw.register(JudgedRate, draw_judged)
draw.register(ModelTiers, draw_tiers)
