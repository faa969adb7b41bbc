"""A guess at the roles of columns, to be shown before it is used."""

from collections.abc import Sequence
from typing import Any

from karat.evaluation.roles._roles import Roles

__all__ = ["guess_roles"]

# Names as people give them, in the order in which they are looked for; a prefix ends in "_".
_NAMES: dict[str, tuple[str, ...]] = {
    "id": ("id", "item", "item_id", "row", "uid", "key"),
    "group": ("group", "domain", "subset", "segment"),
    "label": ("label", "y_true", "y", "truth", "gold", "target", "gold_label", "label_", "y_true_"),
    "pred": ("pred", "prediction", "y_pred", "predicted", "pred_", "prediction_", "y_pred_"),
    "score": ("score", "y_score", "score_", "y_score_"),
    "prob": ("prob", "proba", "probability", "prob_", "proba_", "p_", "y_prob_"),
    "weak": ("lf_", "weak_", "wl_", "rule_"),
    "judge": ("judge_", "llm_", "annotator_", "worker_", "rater_"),
}
_ONE = ("id", "group")


def guess_roles(columns: Sequence[str]) -> Roles:
    """Return what the names of columns suggest; a column gets the first part that fits.

    Names alone decide: a column of numbers may be a score, an id or a label.
    """
    taken: set[str] = set()
    found: dict[str, Any] = {}
    for role, names in _NAMES.items():
        hits = [
            column
            for column in columns
            if column not in taken and _fits(column.lower().replace(" ", "_"), names)
        ]
        hits = hits[:1] if role in _ONE else hits
        taken.update(hits)
        found[role] = (hits[0] if hits else None) if role in _ONE else tuple(hits)
    if len(found["label"]) > 1 and not found["prob"]:
        # Several labels are one item's only where probabilities stand beside them.
        found["label"] = found["label"][:1]
    return Roles(**found)


def _fits(column: str, names: tuple[str, ...]) -> bool:
    return any(column.startswith(n) if n.endswith("_") else column == n for n in names)
