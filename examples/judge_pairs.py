"""From verdicts on pairs to decisions: position, systems, a cheaper panel, people, stars.

Six judges compare answers of four systems in both orders; all are drawn from a known law, so that
every answer can be held against the truth. Gold is looked at only where the script says so.
"""

import warnings

import numpy as np
import pandas as pd

from karat.consensus import (
    PairEstimator,
    ScoreEstimator,
    annotator_test,
    cheapest_panel,
    position_bias,
    rank_systems,
)
from karat.exceptions import KaratWarning

warnings.simplefilter("ignore", KaratWarning)  # every summary opens with what is not known
rng = np.random.default_rng(0)
JUDGES = ("ada", "ben", "cleo", "dora", "eli", "finn")
SKILL = np.array([2.2, 1.9, 1.7, 1.5, 1.4, 1.3])  # how clearly a judge sees the better answer
PUSH = np.array([0.0, 0.1, 0.2, 0.9, -0.5, 0.1])  # how far the first place pushes it
STRENGTH = {"north": 1.2, "south": 0.4, "east": -0.4, "west": -1.2}  # log-odds of a better answer

# Pairs of systems, which of their answers is better, and the verdicts in both orders.
n = 900
names = np.array(list(STRENGTH))
first, second = names[rng.permuted(np.tile(np.arange(4), (n, 1)), axis=1)[:, :2]].T
ahead = np.vectorize(STRENGTH.get)(first) - np.vectorize(STRENGTH.get)(second)
better = np.where(rng.random(n) < 1 / (1 + np.exp(-ahead)), "A", "B")
seen = rng.normal(np.where(better == "A", 1.0, -1.0)[:, None] * SKILL, 1.0)
shown_ab = pd.DataFrame(np.where(seen + PUSH > 0, "A", "B"), columns=JUDGES)
shown_ba = pd.DataFrame(np.where(seen - PUSH > 0, "A", "B"), columns=JUDGES)

# 1. Who follows the position of an answer? Two orders of a pair show it without gold.
bias = position_bias(shown_ab, shown_ba)
print(f"Position: {bias.summary()}.")

# 2. How often does each judge prefer the worse answer, with the bias taken out?
pairs = PairEstimator(rng=0).fit(shown_ab, shown_ba)
print(f"\nJudges: {pairs.result_.summary()}.")

# 3. Sixty labels, drawn with known probabilities, test the consensus.
todo = pairs.label_next(60)
gold = {int(row): better[row] for row in todo["item"]}
chance = dict(zip(todo["item"].tolist(), todo["probability"].tolist(), strict=True))
tested = PairEstimator(rng=0).fit(
    shown_ab, shown_ba, y_true=gold, labels="probability", label_probability=chance
)
print(f"\nWith {len(gold)} labels the verdicts are {tested.status_['all']}.")

# 4. Which system answers better? Verdicts, corrected for the judges' errors, and then gold pairs.
judged = rank_systems(pairs, first, second, rng=0)
powered = rank_systems(pairs, first, second, y_true=gold, rng=0)
print(f"\nSystems: {judged.summary()}.\nWith gold pairs: {powered.summary()}.")

# 5. Which judges are needed? A call of the first two costs five times as much.
price = dict.fromkeys(JUDGES, 1.0) | {"ada": 5.0, "ben": 5.0}
panel = cheapest_panel(pairs, cost=price, tolerance=0.02)
print(f"\nPanel: {panel.summary()}.")

# 6. May the first judge replace one of three people, who may be ahead of it by .1?
other = np.where(better == "A", "B", "A")
people = np.where(rng.random((n, 3)) < 0.2, other[:, None], better[:, None])
replaced = annotator_test(shown_ab["ada"], people, epsilon=0.1)
print(f"\nPeople: {replaced.summary()}.")

# 7. Ratings of single answers, used as they are: their order counts, and no threshold is chosen.
good = rng.random(500) < 0.4
stars = np.clip(np.round(rng.normal(2.2 + 1.8 * good[:, None], [0.6, 0.7, 0.8, 1.0])), 1, 5)
scored = ScoreEstimator(rng=0).fit(stars)
print(f"\nStars: {scored.result_.summary()}.")
labelled = np.where(np.arange(500) < 60, good.astype(int), -1)  # the items come in random order
print(f"With 60 labels: {ScoreEstimator(rng=0).fit(stars, y_true=labelled).status_['all']}.")
