"""One function for each kind of result, which draws it on given or new axes.

A file holds the pictures of one package's results. `karat.plot.draw` chooses among them by the type
of the result; colours, markers and quiet axes come from `karat.plot.style`.
"""

from karat.plot.pictures._answers import (
    draw_check_scores,
    draw_indifference,
    draw_pairs_agreed,
)
from karat.plot.pictures._bounds import (
    draw_curve,
    draw_interval,
    draw_ranking,
    draw_robustness,
    draw_rows,
    draw_value,
)
from karat.plot.pictures._calibration import (
    draw_calibrator,
    draw_canonical,
    draw_certificate,
    draw_pairs,
    draw_reliability,
)
from karat.plot.pictures._consensus import (
    draw_agreement,
    draw_co_clustering,
    draw_comparison,
    draw_explanations,
    draw_forest,
    draw_ranking_robustness,
)
from karat.plot.pictures._counts import (
    draw_joint,
    draw_pattern_counts,
    draw_patterns,
    draw_roc,
    draw_table,
    draw_votes,
)
from karat.plot.pictures._elicit import (
    draw_asked,
    draw_elicited,
    draw_frontier,
    draw_lambda,
    draw_progress,
    draw_shared,
    draw_weight_table,
)
from karat.plot.pictures._judges import (
    draw_annotators,
    draw_pair_errors,
    draw_panel,
    draw_position,
    draw_scores,
    draw_systems,
)
from karat.plot.pictures._limits import (
    draw_anytime,
    draw_estimate,
    draw_gap,
    draw_limits,
    draw_powered,
)
from karat.plot.pictures._optimize import (
    draw_class_weights,
    draw_history,
    draw_optimum,
    draw_regions,
)
from karat.plot.pictures._ranking import (
    draw_area,
    draw_areas,
    draw_difference,
    draw_margin,
    draw_measure,
    draw_point,
)
from karat.plot.pictures._weak import draw_check, draw_diagnostics

__all__ = [
    "draw_agreement",
    "draw_annotators",
    "draw_anytime",
    "draw_area",
    "draw_areas",
    "draw_asked",
    "draw_calibrator",
    "draw_canonical",
    "draw_certificate",
    "draw_check",
    "draw_check_scores",
    "draw_class_weights",
    "draw_co_clustering",
    "draw_comparison",
    "draw_curve",
    "draw_diagnostics",
    "draw_difference",
    "draw_elicited",
    "draw_estimate",
    "draw_explanations",
    "draw_forest",
    "draw_frontier",
    "draw_gap",
    "draw_history",
    "draw_indifference",
    "draw_interval",
    "draw_joint",
    "draw_lambda",
    "draw_limits",
    "draw_margin",
    "draw_measure",
    "draw_optimum",
    "draw_pair_errors",
    "draw_pairs",
    "draw_pairs_agreed",
    "draw_panel",
    "draw_pattern_counts",
    "draw_patterns",
    "draw_point",
    "draw_position",
    "draw_powered",
    "draw_progress",
    "draw_ranking",
    "draw_ranking_robustness",
    "draw_regions",
    "draw_reliability",
    "draw_robustness",
    "draw_roc",
    "draw_rows",
    "draw_scores",
    "draw_shared",
    "draw_systems",
    "draw_table",
    "draw_value",
    "draw_votes",
    "draw_weight_table",
]
