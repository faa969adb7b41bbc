"""A screening programme that can afford 5 % false positives: which model, and how surely.

Scores are drawn from a known law, so that the answers can be held against the truth. The new model
has the greater AUC; where the programme works, at few false positives, the old one is better.
"""

import numpy as np
from scipy.integrate import quad
from scipy.special import ndtr, ndtri

from karat.ranking import FprBand, Uniform, compare_rankings, roc_at, weighted_auc

# 2 % of those who are screened are ill. Healthy people have a standard normal score; the ill score
# higher, with a wide spread under the old model and a narrow one under the new.
rng = np.random.default_rng(0)
n = 200_000
ill = rng.random(n) < 0.02
laws = {"old": (2.1, 1.8), "new": (1.9, 0.9)}
seen_by_both = rng.normal(size=n)
scores = {}
for name, (shift, spread) in laws.items():
    noise = 0.8 * seen_by_both + 0.6 * rng.normal(size=n)
    scores[name] = np.where(ill, shift + spread * noise, noise)
afford = FprBand(0, 0.05)

# 1. Over all false-positive rates the new model ranks better.
overall = compare_rankings(ill, scores, weight=Uniform(), limits="delong")
print(overall.summary())
print(f"  {overall.differences[0].summary()}")

# 2. Over those that the programme can afford, the old one does.
here = compare_rankings(ill, scores, weight=afford, limits="delong")
print(f"\n{here.summary()}")
print(f"  {here.differences[0].summary()}")
assert (overall.best, here.best) == ("new", "old")
assert here.differences[0].lower > 0

# 3. How good is it there? Limits that hold for any law, and the truth.
r = weighted_auc(ill, scores["old"], weight=afford, normalize="mean")
shift, spread = laws["old"]
truth = quad(lambda u: ndtr((shift + ndtri(u)) / spread), 0, 0.05)[0] / 0.05
print(f"\n{r.summary()}\n  the truth, hidden until now: {truth:.4f}")
assert r.lower <= truth <= r.upper

# 4. If exactly 5 % of the healthy are called back, how many of the ill are found?
print()
for name, score in scores.items():
    print(f"{name}: {roc_at(ill, score, fpr=0.05).summary()}")


# 5. How many people would settle the mean over the band to within 0.02, whatever the law?
def half_width(people):
    """Return the closed form that no distribution-free limit exceeds, for a mean over the band."""
    positives, negatives = 0.02 * people, 0.98 * people
    each = [np.sqrt(np.log(4 / 0.05) / (2 * rows)) for rows in (positives, negatives)]
    return (afford.area * each[0] + afford.sup * each[1]) / afford.area


normal = weighted_auc(
    ill, scores["old"], weight=afford, normalize="mean", limits="delong"
).standard_error
enough = n * (half_width(n) / 0.02) ** 2
about = n * (1.96 * normal / 0.02) ** 2
print(
    f"\nTo know the mean over the band to within 0.02: {enough:,.0f} people are enough under any "
    f"law\n(here, {n:,} give ±{(r.upper - r.lower) / 2:.3f} where the closed form says "
    f"±{half_width(n):.3f}); about {about:,.0f} with normal limits"
)
assert np.isclose(half_width(enough), 0.02)
