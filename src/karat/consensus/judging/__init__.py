"""Answers about judges gathered: what stands beside verdicts and scores, and results with tables.

`check_judges` refuses what is no fit of judges.

`bias_of` is the position bias of verdicts that are read; `pair_errors` and `pair_table` turn error
rates of votes into those with the bias out; `score_errors` and `score_tables` gather fits of
scores. The rest reads domains, gold labels, weights and style, one value per pair or item.
"""

from karat.consensus.judging._judge_fit import check_judges
from karat.consensus.judging._pair_bias import bias_of, item_weights
from karat.consensus.judging._pair_errors import pair_errors, pair_table
from karat.consensus.judging._pair_inputs import (
    pair_chances,
    pair_domains,
    pair_gold,
    pair_styles,
    pair_votes,
)
from karat.consensus.judging._score_errors import score_errors, score_tables
from karat.consensus.judging._score_inputs import score_domains, score_gold, score_weights

__all__ = [
    "bias_of",
    "check_judges",
    "item_weights",
    "pair_chances",
    "pair_domains",
    "pair_errors",
    "pair_gold",
    "pair_styles",
    "pair_table",
    "pair_votes",
    "score_domains",
    "score_errors",
    "score_gold",
    "score_tables",
    "score_weights",
]
