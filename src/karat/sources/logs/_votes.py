"""The votes of a log in the form that vote models take."""

import warnings
from typing import Any

from karat._callers import caller_level
from karat.exceptions import EmptyDataError, KaratWarning

__all__ = ["judged_votes"]

_KEPT = ("gold", "score", "cluster", "model", "epoch")


def judged_votes(rows: Any, name: str) -> Any:
    """Return one row per vote; questions that one judge alone answers are left out, with a word."""
    import polars as pl

    cast = rows.filter(pl.col("vote").is_not_null())
    if not len(cast):
        raise EmptyDataError(
            f"{name} holds no verdicts of pass or fail; ratings are in its column score"
        )
    voters = cast.group_by("domain").agg(pl.col("judge").n_unique().alias("n"))
    alone = voters.filter(pl.col("n") < 2)["domain"].sort().to_list()
    if len(alone) == len(voters):
        raise EmptyDataError(
            f"every question in {name} was judged by one judge alone, whose errors show only where "
            f"another disagrees: {alone[:8]}"
        )
    if alone:
        warnings.warn(
            f"judged by one judge alone, and left out: {', '.join(alone[:8])}",
            KaratWarning,
            stacklevel=caller_level(),
        )
    cast = _one_gold_label(pl, cast)
    return cast.filter(~pl.col("domain").is_in(alone)).select(
        pl.col("unit").alias("item"), pl.col("judge").alias("classifier"), "vote", "domain",
        *(pl.col("item" if kept == "cluster" else kept).alias(kept) for kept in _KEPT),
    )  # fmt: skip


def _one_gold_label(pl: Any, cast: Any) -> Any:
    """Drop the gold labels of items on which people say two things, with a word."""
    item = ["unit", "domain"]
    distinct = pl.col("gold").drop_nulls().n_unique().over(item)
    split = cast.filter(distinct > 1).select(item).unique()
    if len(split):
        warnings.warn(
            f"people gave {len(split):,} items two different labels, and these count as unlabelled",
            KaratWarning,
            stacklevel=caller_level(),
        )
    label = (
        pl.when(distinct > 1).then(None).otherwise(pl.col("gold").drop_nulls().first().over(item))
    )
    return cast.with_columns(label.alias("gold"))
