"""Several models from counts of positives and negatives."""

import math
import warnings
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from karat._callers import caller_level
from karat._frames import keeps_kind
from karat._validate import check_choice, named, refuse_option
from karat.exceptions import DataError, KaratWarning
from karat.limits.kernels import normal_quantile
from karat.ranking._weighted_auc_from_counts import weighted_auc_from_counts
from karat.ranking.area_results import AreaOptions, check_area_options
from karat.ranking.areas import paired_errors
from karat.ranking.comparison_result import RankingComparison, RankingDifference
from karat.ranking.result import WeightedAUC
from karat.ranking.weights import AnyWeight, Uniform, Weight, scale_of
from karat.statistics import JointRocCounts, RocCounts

__all__ = ["compare_auc_from_counts"]

_CERTIFICATES = ("auto", "hinge", "kl", "nested", "dkw", "beta", "delong")
_ROUGH = 1.1  # errors that cells leave so far apart are worth a word


@keeps_kind
def compare_auc_from_counts(
    counts: Mapping[Any, RocCounts],
    *,
    weight: AnyWeight = Uniform(),  # noqa: B008  (frozen)
    certificate: str = "auto",
    confidence: float = 0.95,
    normalize: str = "raw",
    joint: Sequence[JointRocCounts] = (),
) -> RankingComparison:
    """Compare the areas of several models from the counts of each.

    Areas and limits are those of `compare_auc` on the rows: certain limits of a difference need
    only what is known of each model. The paired comparison (``certificate="delong"`` and the
    p-values) rests on the errors that models make together, so it needs joint counts of every pair;
    these are counted in cells, which leave the standard error between two numbers, and the greater
    one is taken.

    Parameters
    ----------
    counts : mapping of name to RocCounts
        The counts of each model, on the same rows.
    weight, confidence, normalize
        As in `weighted_auc`.
    certificate : {"auto", "hinge", "kl", "nested", "dkw", "beta", "delong"}
        As in `compare_auc`; scores in cells have ``auto`` and ``dkw``.
    joint : sequence of JointRocCounts, optional
        From `karat.sources.joint_roc_counts`, one per pair of models; for weights that are no
        `TprBand` and no two-way band.

    Returns
    -------
    RankingComparison
        ``models``, ``differences`` and ``best``.

    Examples
    --------
    >>> from karat.statistics import roc_counts
    >>> y = [0, 1] * 200
    >>> counts = {"a": roc_counts(y, y), "b": roc_counts(y, [0, 0, 1, 1] * 100)}
    >>> r = compare_auc_from_counts(counts)
    >>> r.best, r.differences[0].value
    ('a', 0.5)
    """
    check_choice(certificate, "certificate", _CERTIFICATES)
    if not isinstance(counts, Mapping) or len(counts) < 2:
        raise DataError("counts holds no two models; expected a mapping of name to RocCounts")
    _check_same_rows(counts)
    pairs_known = _check_joint(joint, counts)
    options = check_area_options(weight, "interpolate", certificate, confidence, normalize, None)
    shared = options.sharing(len(counts))
    models = {
        name: weighted_auc_from_counts(
            one, weight=weight, certificate=certificate, confidence=shared.confidence,
            normalize=normalize,
        )
        for name, one in counts.items()
    }  # fmt: skip
    differences = []
    pairs = math.comb(len(models), 2)
    for pair in combinations(models, 2):
        first, second = sorted(pair, key=lambda name: -models[name].value)
        a, b = models[first], models[second]
        error = _paired_error(first, second, counts, pairs_known, weight)
        differences.append(_difference((first, a), (second, b), error, options, pairs))
    return RankingComparison(
        models=models, differences=tuple(differences), confidence=options.confidence
    )


def _check_same_rows(counts: Mapping[Any, RocCounts]) -> None:
    """Refuse models whose counts cannot be of the same rows and classes."""
    for name, one in counts.items():
        if not isinstance(one, RocCounts):
            raise DataError(
                f"the counts of {name!r} are a {type(one).__name__}; expected "
                "karat.statistics.roc_counts"
            )
    base, first = next(iter(counts.items()))
    for name, one in counts.items():
        # Weights are added in the order of the scores, so their sums differ in the last digits.
        sums = [(one.totals, first.totals)]
        if one.squares is not None and first.squares is not None:
            sums.append((one.squares, first.squares))
        kind = (one.squares is None) == (first.squares is None)
        if not kind or not all(np.allclose(a, b, rtol=1e-9, atol=0.0) for a, b in sums):
            raise DataError(
                f"the models {named([base, name])} were counted on different rows: "
                f"{first.summary()}; {one.summary()}. Count all of them on the same rows"
            )
        if not np.array_equal(one.classes, first.classes):
            raise DataError(
                f"{base} was counted with the classes {first.classes.tolist()} and {name} with "
                f"{one.classes.tolist()}; count both with the same pos_label"
            )


def _check_joint(
    joint: Sequence[JointRocCounts], counts: Mapping[Any, RocCounts]
) -> Sequence[JointRocCounts]:
    """Refuse joint counts that are none, or not of these models and rows."""
    if isinstance(joint, str | JointRocCounts) or not isinstance(joint, Sequence):
        refuse_option(joint, "joint", "a list of karat.sources.joint_roc_counts")
    for one in joint:
        if not isinstance(one, JointRocCounts):
            refuse_option(one, "joint", "a list of karat.sources.joint_roc_counts")
        if not {*one.names} <= {*counts}:
            raise DataError(
                f"joint counts are of {named(list(one.names))}, and there are counts of "
                f"{named(list(counts))}; expected pairs of these"
            )
        one.check_margins(counts)
    return joint


def _paired_error(
    first: Any,
    second: Any,
    counts: Mapping[Any, RocCounts],
    joint: Sequence[JointRocCounts],
    weight: AnyWeight,
) -> float | None:
    """Return the greatest error of a difference that joint counts allow; None without such."""
    ours = [one for one in joint if {*one.names} == {first, second}]
    if not ours:
        return None
    if not isinstance(weight, Weight):
        refuse_option(weight, "weight", "a Weight over false-positive rates with joint counts")
    (one,) = ours[:1]
    least, most = paired_errors(counts[one.names[0]], counts[one.names[1]], one, weight)
    if most > _ROUGH * least:
        warnings.warn(
            f"the cells leave the standard error of {first} less {second} between {least:.3g} and "
            f"{most:.3g}, of which the greater is taken; count more cells",
            KaratWarning,
            stacklevel=caller_level(),
        )
    return most


def _difference(
    one: tuple[Any, WeightedAUC],
    two: tuple[Any, WeightedAUC],
    error: float | None,
    options: AreaOptions,
    pairs: int,
) -> RankingDifference:
    from scipy.special import ndtr

    (first, a), (second, b) = one, two
    value, lower, upper = a.value - b.value, a.lower - b.upper, a.upper - b.lower
    p_value = None
    if error is None and options.certificate == "delong":
        refuse_option("delong", "certificate", f"joint counts of {first} and {second} with it")
    if error is not None:
        scale = scale_of(options.weight, options.normalize)[0]
        error *= scale
        p_value = float(2 * ndtr(-abs(value) / error)) if error > 0 else float(value == 0)
        if options.certificate == "delong":
            margin = normal_quantile((1 - options.confidence) / (2 * pairs)) * error
            most = scale * options.weight.area
            lower, upper = max(value - margin, -most), min(value + margin, most)
    return RankingDifference(
        first=first, second=second, value=value, lower=lower, upper=upper, p_value=p_value
    )
