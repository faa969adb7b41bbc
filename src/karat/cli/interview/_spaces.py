"""From columns of a table to a space of confusions and a procedure that asks about it."""

from karat._validate import check_choice
from karat.cli.frame import InputTable, check_score_or_prob, read_pos_label, read_probabilities
from karat.elicit import BinarySpace, Procedure, RateSpace, Space
from karat.elicit.by_name import FAMILIES, GROUPED
from karat.exceptions import OptionError

__all__ = ["read_space"]


def check_family(family: str, group: str | None) -> None:
    """Refuse an unknown family, and groups that a family cannot use or lacks."""
    check_choice(family, "--family", tuple(FAMILIES))
    if family in GROUPED and group is None:
        raise OptionError(f"--family is {family!r}; expected --group with it, to compare groups")
    if family not in GROUPED and group is not None:
        raise OptionError(f"--group is {group!r}; expected --family {' or '.join(GROUPED)} with it")


def read_space(
    table: InputTable,
    *,
    label: str,
    score: str | None,
    prob: list[str],
    pos_label: str | None,
    group: str | None,
    family: str,
) -> tuple[Space, type[Procedure]]:
    """Return the space and the procedure that fit the columns and the family."""
    check_family(family, group)
    two, more, kind = FAMILIES[family]
    table = table.labelled(label)
    y_true = table.column("--label", label)
    positive = read_pos_label([y_true], pos_label)
    check_score_or_prob(score, prob)
    if score is None and not prob:
        raise OptionError(
            "--score is None; expected the column of scores of the positive class, or one --prob "
            f"per class in the order of the sorted labels; there are {table.frame.columns}"
        )
    space: Space
    if score is not None and kind is not RateSpace:  # scores that need not be probabilities
        scores = table.column("--score", score)
        space = BinarySpace.from_scores(y_true, scores, pos_label=positive)
        return space, two
    proba, classes = read_probabilities(table, y_true, score, prob, positive)
    if kind is RateSpace:
        groups = table.optional("--group", group)
        space = RateSpace.from_proba(y_true, proba.value, groups=groups, classes=classes)
    else:
        chosen = BinarySpace if len(classes) == 2 else kind
        space = chosen.from_proba(y_true, proba.value, classes=classes)
    return space, two if space.n_classes == 2 else more
