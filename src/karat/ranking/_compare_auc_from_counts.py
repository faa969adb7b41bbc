"""Several models from counts of positives and negatives."""

from collections.abc import Mapping
from itertools import combinations
from typing import Any

from karat._validate import check_choice, named
from karat.exceptions import DataError
from karat.ranking._weighted_auc_from_counts import weighted_auc_from_counts
from karat.ranking.area_results import check_area_options
from karat.ranking.comparison_result import RankingComparison, RankingDifference
from karat.ranking.weights import AnyWeight, Uniform
from karat.statistics import RocCounts

__all__ = ["compare_auc_from_counts"]

_CERTIFICATES = ("auto", "hinge", "kl", "nested", "dkw", "beta")


def compare_auc_from_counts(
    counts: Mapping[Any, RocCounts],
    *,
    weight: AnyWeight = Uniform(),  # noqa: B008  (frozen)
    certificate: str = "auto",
    confidence: float = 0.95,
    normalize: str = "raw",
) -> RankingComparison:
    """Compare the areas of several models from the counts of each.

    Areas and limits are those of `compare_auc` on the rows: certain limits of a difference need
    only what is known of each model. The paired comparison (``certificate="delong"`` and the
    p-values) needs the rows, because it rests on the errors that models make together.

    Parameters
    ----------
    counts : mapping of name to RocCounts
        The counts of each model, on the same rows.
    weight, confidence, normalize
        As in `weighted_auc`.
    certificate : {"auto", "hinge", "kl", "nested", "dkw", "beta"}
        As in `weighted_auc`; scores in cells have ``auto`` and ``dkw``.

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
    sizes = {
        name: (float(c.positives.sum()), float(c.negatives.sum()))
        for name, c in counts.items()
        if isinstance(c, RocCounts)
    }
    if len(set(sizes.values())) > 1:
        raise DataError(
            f"the models {named(list(sizes))} were counted on different rows: {sizes}; count all "
            "of them on the same rows"
        )
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
    for pair in combinations(models, 2):
        first, second = sorted(pair, key=lambda name: -models[name].value)
        a, b = models[first], models[second]
        differences.append(
            RankingDifference(
                first=first, second=second, value=a.value - b.value, lower=a.lower - b.upper,
                upper=a.upper - b.lower, p_value=None,
            )
        )  # fmt: skip
    return RankingComparison(
        models=models, differences=tuple(differences), confidence=options.confidence
    )
