"""Scores and ratings as votes: levels read from numbers, the sampler, and what its draws say.

`read_scores` turns ratings, probabilities or log-probabilities into levels, voter by voter;
`run_scores` draws the class of every item, and cut-points and separation of every voter (a latent
normal with cut-points); `fit_scores` fits one domain;
`level_chances`, `binormal`, `error_and_area` and `class_chances` are the model's
formulas, and
`pairs_apart` and `two_classes_ahead` its checks.
"""

from karat.consensus.scores._check import pairs_apart
from karat.consensus.scores._fit import ScoreFit, fit_scores
from karat.consensus.scores._formulas import binormal, class_chances, error_and_area, level_chances
from karat.consensus.scores._one_scale import two_classes_ahead
from karat.consensus.scores._read import ScoreTable, read_scores
from karat.consensus.scores._run import ScoreDraws, run_scores
from karat.consensus.scores._warm import warm

__all__ = [
    "ScoreDraws",
    "ScoreFit",
    "ScoreTable",
    "binormal",
    "class_chances",
    "error_and_area",
    "fit_scores",
    "level_chances",
    "pairs_apart",
    "read_scores",
    "run_scores",
    "two_classes_ahead",
    "warm",
]
