"""What was learned, in words, with what is not good."""

from collections.abc import Sequence

import numpy as np
from _votes_coverage import Covered
from _votes_judges import Judged, short
from _votes_nell import Deviations

__all__ = ["closing"]

_WANTED, _AMPLE = 0.80, 0.90


def closing(nell: Deviations, covered: Sequence[Covered], judged: Sequence[Judged]) -> str:
    """Return the closing paragraph."""
    return " ".join(["What was learned.", _on_nell(nell), _on_limits(covered), _on_judges(judged)])


def _on_nell(found: Deviations) -> str:
    parts = []
    for cut, methods in found.items():
        mean = {name: float(np.mean(off)) for name, off in methods.items()}
        default = mean.pop("default")
        better = [f"{name} ({off:.4f})" for name, off in mean.items() if off < default - 5e-5]
        beaten = f"beaten by {' and '.join(better)}" if better else "the best of the methods shown"
        parts.append(f"at {cut} the default is off by {default:.4f}, {beaten}")
    return (
        f"On NELL, {'; '.join(parts)}. At the published thresholds a majority vote that counts "
        "ties as negative, which suits rare positives, is off by less than the published model; at "
        "threshold .5 it is not, and nothing in the votes says which tie rule to take."
    )


def _on_limits(rows: Sequence[Covered]) -> str:
    voters = sum(row.voters for row in rows)
    low = [f"{row.name} ({row.share:.2f})" for row in rows if row.share < _WANTED]
    silent = [row.name for row in rows if row.share < _WANTED and not row.flagged]
    idle = [row.name for row in rows if row.flagged and row.share >= _AMPLE]
    share = sum(row.inside for row in rows) / voters
    parts = [
        f"The 95 % limits cover {share:.3f} of the voters pooled, less than they claim",
        f"under {_percent(_WANTED)} are {_list(low)}",
        f"of these, not flagged: {_list(silent)}",
        f"flagged though at least {_percent(_AMPLE)} are covered: {_list(idle)}",
    ]
    plain = [row.plain_inside for row in rows if row.plain_inside is not None]
    if len(plain) == len(rows):
        parts.append(f"limits that take votes to be independent cover {sum(plain) / voters:.3f}")
    return f"{'; '.join(parts)}."


def _on_judges(rows: Sequence[Judged]) -> str:
    marked = [row for row in rows if not row.identified]
    backwards = [row for row in rows if row.spearman < 0]
    wrong = [short(row.subset) for row in rows if row.verdict == "trusted: WRONG"]
    outside = [short(row.subset) for row in marked if row.inside < 0.5 * row.judges]
    return (
        f"Of LLM judges votes alone say little: {len(marked)} of {len(rows)} subsets are marked, "
        f"and on {len(backwards)} the estimated ranking runs backwards. The check is not "
        f"infallible; trusted, with fewer than {_percent(_WANTED)} of the true errors inside: "
        f"{_list(wrong)}. A mark means that the limits too are not to be believed; marked, with "
        f"fewer than half inside: {_list(outside)}. Forty gold labels a subset help where votes "
        "cannot: if the labelled items are a random sample, the powered limits are valid whatever "
        "the judges share, and narrower than those from the labels alone, though not by much where "
        "there are few judges or few items are left without a label. Limits of the rate allow for "
        "other items than these, so that they cover the error on these more often than 95 %; the "
        "sharper test is finite=True."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _list(names: Sequence[str]) -> str:
    if not names:
        return "none"
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
