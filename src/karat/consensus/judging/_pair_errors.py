"""Error rates of judges on pairs, with the position bias taken out."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from karat._typing import AnyArray, FloatArray, IntArray
from karat.consensus.answers import to_frame
from karat.consensus.pair_result import PairErrors, PositionBias
from karat.consensus.pairs import PairVerdicts, balanced_limits, net_votes
from karat.consensus.result import ErrorRates
from karat.limits.kernels import wilson_limits

__all__ = ["pair_errors", "pair_table"]


def pair_errors(
    read: PairVerdicts,
    bias: PositionBias,
    r: ErrorRates,
    voting: IntArray,
    inside: Sequence[AnyArray],
    weight: FloatArray,
    style: tuple[tuple[Any, ...], ...],
    level: float,
) -> PairErrors:
    """Return error rates with the bias out, from those of votes where both orders agree.

    ``voting`` holds the judges that voted, ``inside`` the pairs of each domain.
    """
    votes, delta = net_votes(read.score), (1 - level) / 2
    judge, domain = voting[r.classifier], r.domain
    seen = np.array(
        [weight[inside[d]] @ (votes[inside[d], j] > -2) for d, j in zip(domain, judge, strict=True)]
    )
    split = np.array(
        [
            weight[inside[d]] @ (votes[inside[d], j] == -1)
            for d, j in zip(domain, judge, strict=True)
        ]
    )
    share = (split / np.maximum(seen, 1e-12), *wilson_limits(split, seen, delta))
    mean, lower, upper = balanced_limits((r.mean, r.lower, r.upper), share)
    half = bias.bias[judge] / 2
    low, high = bias.lower[judge] / 2, bias.upper[judge] / 2
    least = np.where((low < 0) & (high > 0), 0.0, np.minimum(np.abs(low), np.abs(high)))
    return PairErrors(
        domains=tuple(r.domains),
        judges=tuple(read.judges.tolist()),
        domain=domain,
        judge=judge,
        mean=mean,
        lower=lower,
        upper=upper,
        right_first=np.clip(mean - half, 0, 1),
        right_second=np.clip(mean + half, 0, 1),
        cost=np.abs(half),
        cost_lower=least,
        cost_upper=np.maximum(np.abs(low), np.abs(high)),
        agreed=r.mean,
        agreed_lower=r.lower,
        agreed_upper=r.upper,
        bias=bias,
        style=style,
        status=r.status,
        reasons=r.reasons,
        evidence=r.evidence,
        classes=read.classes,
        confidence=level,
    )


def pair_table(read: PairVerdicts, r: PairErrors, backend: Any) -> Any:
    """Return one row per domain and judge, best first within a domain."""
    order = np.lexsort((r.mean, r.domain))
    fields = (
        "mean", "lower", "upper", "right_first", "right_second", "cost", "cost_lower", "cost_upper",
    )  # fmt: skip
    columns: dict[str, Any] = {
        "domain": [r.domains[d] for d in r.domain[order]],
        "judge": read.judges.take(r.judge[order]),
    }
    columns |= {name: np.array(getattr(r, name)[order]) for name in fields}
    columns |= {
        "bias": np.array(r.bias.bias[r.judge[order]]),
        "bias_lower": np.array(r.bias.lower[r.judge[order]]),
        "bias_upper": np.array(r.bias.upper[r.judge[order]]),
    }
    return to_frame(columns, backend)
