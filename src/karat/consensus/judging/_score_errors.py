"""The answer about voters who give scores, gathered from the fits of all domains."""

from typing import Any

import numpy as np

from karat._typing import AnyArray, FloatArray, IntArray
from karat.consensus.answers import to_frame
from karat.consensus.score_result import ScoreErrors
from karat.consensus.scores import ScoreFit, ScoreTable
from karat.votes.reading import PassedValues

__all__ = ["score_errors", "score_tables"]


def score_errors(
    table: ScoreTable,
    classes: AnyArray,
    names: PassedValues,
    fits: list[ScoreFit],
    inside: list[tuple[IntArray, IntArray]],
    weight: FloatArray,
    options: dict[str, Any],
) -> ScoreErrors:
    """Gather the fits of all domains."""
    error, area = (np.concatenate([getattr(f, n) for f in fits], axis=1) for n in ("error", "area"))
    voters = np.concatenate([v for _, v in inside])
    given = [weight[here] @ (table.codes[np.ix_(here, v)] >= 0) for here, v in inside]
    starts, proba = [], []
    for fit, (_, own) in zip(fits, inside, strict=True):
        for at, j in enumerate(own):
            k = int(table.levels[j])
            p = float(fit.share[0]) * fit.chances[at, 1, :k]
            q = (1 - float(fit.share[0])) * fit.chances[at, 0, :k]
            starts.append(np.concatenate([[np.nan], table.edges[j]]))
            proba.append(p / np.maximum(p + q, 1e-300))
    share = np.array([f.share for f in fits])
    return ScoreErrors(
        domains=tuple(names.tolist()),
        classifiers=tuple(table.voters.tolist()),
        classes=classes,
        domain=np.repeat(np.arange(len(fits)), [len(v) for _, v in inside]),
        classifier=voters,
        scores=np.concatenate(given),
        mean=error[0],
        lower=error[1],
        upper=error[2],
        area=area[0],
        area_lower=area[1],
        area_upper=area[2],
        share=share[:, 0],
        share_lower=share[:, 1],
        share_upper=share[:, 2],
        level_from=tuple(starts),
        level_proba=tuple(proba),
        status=tuple(f.status for f in fits),
        identified=np.array([f.status in ("consistent", "confirmed") for f in fits]),
        evidence=tuple("" if f.gold_test is None else str(f.gold_test) for f in fits),
        reasons=tuple(f.reasons for f in fits),
        r_hat=np.array([f.r_hat for f in fits]),
        ess=np.array([f.ess for f in fits]),
        slack=options["slack"],
        confidence=options["confidence"],
    )


def score_tables(
    table: ScoreTable, names: PassedValues, r: ScoreErrors, backend: Any
) -> tuple[Any, Any]:
    """Return the table of error rates, best first, and that of the calibration."""
    rows = np.lexsort((r.mean, r.domain))
    fields = ("mean", "lower", "upper", "area", "area_lower", "area_upper", "scores")
    columns = {name: np.array(getattr(r, name)[rows]) for name in fields}
    who = {
        "domain": names.take(r.domain[rows]),
        "classifier": table.voters.take(r.classifier[rows]),
    }
    rates = who | columns | {"status": np.array(r.status)[r.domain[rows]]}
    entry = np.repeat(np.arange(len(r.mean)), [len(p) for p in r.level_proba])
    calibration = {
        "domain": names.take(r.domain[entry]),
        "classifier": table.voters.take(r.classifier[entry]),
        "from": np.concatenate(r.level_from),
        "proba": np.concatenate(r.level_proba),
    }
    return to_frame(rates, backend), to_frame(calibration, backend)
