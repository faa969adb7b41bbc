"""Judges: every default call on shared data, and each new answer against a plain peer."""

import time
import warnings
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import numpy as np
from _timing import race
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize
from scipy.special import ndtr, ndtri

from karat.consensus import (
    ErrorEstimator,
    PairEstimator,
    ScoreEstimator,
    annotator_test,
    cheapest_panel,
    position_bias,
    rank_systems,
)
from karat.datasets import load_shared
from karat.exceptions import KaratWarning, MissingDatasetError

LIMIT = 20  # CPU seconds that a default call may take once compiled
CROWDS = (
    "adult_content", "bluebird", "face_sentiment", "fact_eval", "music_genre", "relevance",
    "sentiment_polarity", "snow_rte", "snow_temp", "trec_relevance", "tweet_sentiment",
    "weather_sentiment", "web_search", "zencrowd_us",
)  # fmt: skip
SKILL = np.array([2.2, 1.9, 1.7, 1.5, 1.4, 1.3, 1.2, 1.1])


def cpu(function: Callable[[], object]) -> float:
    """Return the CPU seconds of one call: what else the machine does counts less."""
    start = time.process_time()
    function()
    return time.process_time() - start


def default_calls() -> Iterator[tuple[str, Callable[[], object]]]:
    """Return every default call on the shared sets of voters, by name."""
    for name in CROWDS:
        votes = load_shared(f"crowd_{name}", "answers").rename(
            columns={"task": "item", "worker": "classifier", "answer": "vote"}
        )
        votes = votes.drop_duplicates(["item", "classifier"], keep="last")
        yield f"crowd_{name}", lambda votes=votes: ErrorEstimator(rng=0).fit(votes)
    for name in ("edge", "sketch"):
        votes = load_shared(f"classifiers_and_people_{name}", "votes")
        votes = votes[["item", "classifier", "vote"]]
        yield f"people and networks, {name}", lambda v=votes: ErrorEstimator(rng=0).fit(v)
    frame = load_shared("nell")
    scores = frame[["ADJ", "CMC", "CPL", "VERB"]]
    yield "NELL, votes", lambda: ErrorEstimator(rng=0).fit(scores, frame["domain"], threshold=0.5)
    yield "NELL, scores", lambda: ScoreEstimator(rng=0).fit(scores, frame["domain"])
    said = load_shared("llm_judges_llmbar", "verdicts_long").rename(columns={"item_id": "item"})
    said["judge"] = said["model"].astype(str) + "__" + said["strategy"].astype(str)
    said["domain"] = said["subset"].astype(str)
    votes = said.loc[said["verdict_order1"] > 0, ["item", "judge", "verdict_order1", "domain"]]
    votes = votes.rename(columns={"verdict_order1": "verdict"})
    yield "LLMBar, one order", lambda: ErrorEstimator(rng=0).fit(votes)
    yield "LLMBar, two orders", lambda: PairEstimator(rng=0).fit(said)
    wide = load_shared("llm_judges_judgebench", "judgebench_wide")
    judges = wide[[c for c in wide if "__" in c]].where(lambda v: v >= 0)
    yield "JudgeBench", lambda: ErrorEstimator(rng=0).fit(judges, wide["category"])


def print_default_calls() -> None:
    """Print the CPU time of each, and the slowest."""
    ErrorEstimator(rng=0).fit(np.random.default_rng(0).integers(0, 2, (200, 6)))  # compile
    ScoreEstimator(draws=20, rng=0).fit(np.random.default_rng(0).normal(size=(50, 3)))
    taken = {}
    try:
        for name, call in default_calls():
            taken[name] = cpu(call)
            print(f"default call on {name}: {taken[name]:.1f} CPU s")
    except MissingDatasetError as error:
        print(f"no shared data: {error}")
        return
    slowest = max(taken, key=taken.__getitem__)
    within = "within" if taken[slowest] <= LIMIT else "OVER"
    print(f"slowest: {slowest}, {taken[slowest]:.1f} CPU s, {within} {LIMIT}")


def drawn(n: int, rng: np.random.Generator) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return the better answer of n pairs, and the verdicts of eight judges in both orders."""
    y = rng.integers(0, 2, n)
    u = rng.normal(np.where(y == 0, 1.0, -1.0)[:, None] * SKILL, 1.0)
    return y, np.where(u + 0.3 > 0, "A", "B"), np.where(u - 0.3 > 0, "A", "B")


def tango_by_roots(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    """Return the bias of each judge with limits, each found by a root of the score equation."""
    found = []
    z = ndtri(0.975)
    for one, two in zip(first.T, second.T, strict=True):
        n, plus, minus = len(one), int(((one == "A") & (two == "B")).sum()), 0
        minus = int(((one == "B") & (two == "A")).sum())

        def score(d: float, n: int = n, plus: int = plus, minus: int = minus) -> float:
            b = -plus - minus + (2 * n - plus + minus) * d
            q = (np.sqrt(b * b + 8 * n * minus * d * (1 - d)) - b) / (4 * n)
            return float((plus - minus - n * d) / np.sqrt(max(n * (2 * q + d * (1 - d)), 1e-12)))

        at = (plus - minus) / n
        low = brentq(lambda d, s=score: s(d) - z, -1 + 1e-9, at)
        high = brentq(lambda d, s=score: s(d) + z, at, 1 - 1e-9)
        found.append((at, low, high))
    return np.array(found).T


def of_position(rng: np.random.Generator) -> None:
    """Print position bias against a root finder for every judge."""
    _, first, second = drawn(20_000, rng)
    ours, theirs = race(
        3, lambda: position_bias(first, second), lambda: tango_by_roots(first, second)
    )
    mine, peer = position_bias(first, second), tango_by_roots(first, second)
    apart = np.abs(np.stack([mine.value, mine.lower, mine.upper]) - peer).max()
    print(
        f"position bias of 8 judges on 20,000 pairs: ratio {theirs / ours:.1f} (karat "
        f"{1e3 * ours:.0f} ms, roots by SciPy {1e3 * theirs:.0f} ms; largest difference "
        f"{apart:.5f})"
    )


def in_the_number_of_pairs(rng: np.random.Generator) -> None:
    """Print the CPU time of the estimators of pairs and of stars on more and more items."""
    for what, call in (("pairs", _pairs), ("ratings", _ratings)):
        call(200, rng)()
        times = {n: cpu(call(n, rng)) for n in (2_000, 20_000, 200_000)}
        for n, taken in times.items():
            print(
                f"{what}, {n:,} items x 5: ratio {taken / times[2_000]:.2f} to 2,000 items "
                f"({taken:.2f} CPU s)"
            )


def _pairs(n: int, rng: np.random.Generator) -> Callable[[], object]:
    _, first, second = drawn(n, rng)
    return lambda: PairEstimator(dependence="none", rng=0).fit(first[:, :5], second[:, :5])


def _ratings(n: int, rng: np.random.Generator) -> Callable[[], object]:
    stars = stars_of(n, rng)[1]
    return lambda: ScoreEstimator(draws=200, rng=0).fit(stars)


def stars_of(n: int, rng: np.random.Generator) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return classes and ratings from one to three of five voters."""
    y = (rng.random(n) < 0.4).astype(int)
    z = rng.normal(np.where(y == 1, 0.5, -0.5)[:, None] * SKILL[:5], 1.0)
    return y, np.searchsorted([-0.5, 0.6], z) + 1


def numpy_scores(stars: NDArray[Any], sweeps: int) -> NDArray[Any]:
    """Return mean separations of the same model, a class drawn for every item in every sweep."""
    rng = np.random.default_rng(0)
    codes, (n, m) = stars - 1, stars.shape
    cuts, apart, share = np.tile([-0.5, 0.6], (m, 1)), np.full(m, 1.5), 0.5
    total = np.zeros(m)

    def log_chances(cut: NDArray[Any], mu: float) -> NDArray[Any]:
        edges = np.concatenate([[-np.inf], cut, [np.inf]])
        rows = [np.diff(ndtr(edges + s * mu / 2)) for s in (1, -1)]
        return np.log(np.maximum(rows, 1e-300))

    def log_prior(cut: NDArray[Any], mu: float) -> float:
        return float(-((mu - 1.5) ** 2) / 2 - (cut**2).sum() / (2 * 1.5**2))

    for _ in range(sweeps):
        tables = [log_chances(cuts[j], apart[j]) for j in range(m)]
        odds = np.log(share / (1 - share)) + sum(
            (t[1] - t[0])[codes[:, j]] for j, t in enumerate(tables)
        )
        y = rng.random(n) < 1 / (1 + np.exp(-odds))
        share = rng.beta(1 + y.sum(), 1 + n - y.sum())
        for j in range(m):
            counts = np.stack([np.bincount(codes[y == k, j], minlength=3) for k in (0, 1)])
            for _ in range(4):
                cut = cuts[j] + 0.1 * rng.standard_normal(2)
                mu = apart[j] + 0.1 * rng.standard_normal()
                if cut[0] < cut[1]:
                    gain = (counts * (log_chances(cut, mu) - log_chances(cuts[j], apart[j]))).sum()
                    gain += log_prior(cut, mu) - log_prior(cuts[j], apart[j])
                    if np.log(rng.random()) < gain:
                        cuts[j], apart[j] = cut, mu
        total += apart
    return total / sweeps


def of_scores(rng: np.random.Generator) -> None:
    """Print a sweep of the sampler of scores against one that draws a class for every item."""
    from karat.consensus.scores import read_scores, run_scores
    from karat.statistics.patterns import distinct_rows

    _, stars = stars_of(50_000, rng)
    table = read_scores(stars, most=10)
    pattern, first = distinct_rows(table.codes + 1, 5)
    count = np.bincount(pattern).astype(np.float64)
    gold, some, many = np.full(len(first), -1), 5, 200

    def ours() -> Any:
        return run_scores(
            table.codes[first], count, gold, table.levels, chains=1, draws=many, burn=many,
            rng=np.random.default_rng(0),
        )  # fmt: skip

    ours()  # compile
    mine, theirs = race(3, ours, lambda: numpy_scores(stars, some))
    mine, theirs = mine / (2 * many), theirs / some
    apart = np.abs(ours().separation.mean(axis=(0, 1)) - numpy_scores(stars, 150)).max()
    print(
        f"scores, a sweep of 50,000 items x 5: ratio {theirs / mine:.0f} (karat "
        f"{1e3 * mine:.3f} ms on {len(first)} patterns, NumPy {1e3 * theirs:.1f} ms; largest "
        f"difference of a separation {apart:.3f})"
    )


def alignment_by_loops(judge: NDArray[Any], people: NDArray[Any]) -> float:
    """Return ρ of the alternative-annotator test, person by person and item by item."""
    rates = []
    for j in range(people.shape[1]):
        wins = []
        for i in range(len(people)):
            others = [people[i, k] for k in range(people.shape[1]) if k != j]
            mine = sum(other == judge[i] for other in others) / len(others)
            theirs = sum(other == people[i, j] for other in others) / len(others)
            wins.append(mine >= theirs)
        rates.append(np.mean(wins))
    return float(np.mean(rates))


def of_people(rng: np.random.Generator) -> None:
    """Print the alternative-annotator test against loops over people and items, without tests."""
    y = rng.integers(0, 3, 5_000)
    people = np.where(rng.random((5_000, 6)) < 0.2, (y[:, None] + 1) % 3, y[:, None])
    judge = np.where(rng.random(5_000) < 0.15, (y + 1) % 3, y)
    ours, theirs = race(
        2,
        lambda: annotator_test(judge, people, epsilon=0.1),
        lambda: alignment_by_loops(judge, people),
    )
    found = annotator_test(judge, people, epsilon=0.1).advantage_rate.value
    print(
        f"annotator test, 6 people x 5,000 items: ratio {theirs / ours:.1f} (karat "
        f"{1e3 * ours:.0f} ms with exact tests and limits, loops {1e3 * theirs:.0f} ms; ρ differs "
        f"by {abs(found - alignment_by_loops(judge, people)):.1e})"
    )


def of_systems(fitted: PairEstimator, rng: np.random.Generator) -> None:
    """Print the ranking of systems against Bradley–Terry of the majority, bootstrapped."""
    n = len(fitted.label_proba_)
    first, second = rng.permuted(np.tile(np.arange(6), (n, 1)), axis=1)[:, :2].T
    wins = (fitted.label_proba_[:, 0] > 0.5).astype(np.float64)

    def bradley_terry(rows: NDArray[Any]) -> NDArray[Any]:
        def loss(s: NDArray[Any]) -> float:
            d = s[first[rows]] - s[second[rows]]
            return float(np.logaddexp(0, np.where(wins[rows] > 0, -d, d)).sum() + (s**2).sum() / 50)

        return np.asarray(minimize(loss, np.zeros(6), method="L-BFGS-B").x)

    def bootstrap() -> None:
        draws = np.random.default_rng(0)
        for _ in range(20):
            bradley_terry(draws.integers(0, n, n))

    names = np.array([f"s{k}" for k in range(6)])
    ours, theirs = race(
        2, lambda: rank_systems(fitted, names[first], names[second], rng=0), bootstrap
    )
    print(
        f"six systems, {n:,} pairs: ratio {theirs / ours:.1f} (karat {ours:.2f} s with judges' "
        f"errors and ranks at once, SciPy's Bradley–Terry of the majority with 20 resamples "
        f"{theirs:.2f} s)"
    )


def of_panels(fitted: PairEstimator) -> None:
    """Print the cheapest panel, and how many sets of judges there are to try."""
    sets = sum(1 for k in range(1, 9) for _ in combinations(range(8), k))
    taken = min(cpu(lambda: cheapest_panel(fitted)) for _ in range(2))
    print(f"cheapest of {sets} panels of 8 judges, with limits: {taken:.2f} CPU s")


def main() -> None:
    """Print one line per comparison."""
    warnings.simplefilter("ignore", KaratWarning)
    rng = np.random.default_rng(0)
    of_position(rng)
    of_people(rng)
    of_scores(rng)
    _, first, second = drawn(2_000, rng)
    fitted = PairEstimator(dependence="none", rng=0).fit(first, second)
    of_systems(fitted, rng)
    of_panels(fitted)
    in_the_number_of_pairs(rng)
    print_default_calls()


if __name__ == "__main__":
    main()
