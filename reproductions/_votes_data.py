"""Datasets for Platanios et al. 2016: votes as they are passed, and true error rates."""

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from karat.consensus import ErrorEstimator
from karat.datasets import load_shared
from karat.exceptions import KaratWarning

__all__ = [
    "CHOSEN_ON",
    "CONFIRMED",
    "CUTS",
    "VoteSet",
    "beside_truth",
    "crowd",
    "default_fit",
    "fit",
    "flagged",
    "judgebench",
    "llmbar",
    "nell",
    "nell_fit",
    "people",
    "pooled_judgebench",
]

# Thresholds of the NELL classifiers: those of Platanios et al. 2016, and one half for all.
CUTS: dict[str, dict[str, float]] = {
    "the published thresholds": {"ADJ": 0.05, "CMC": 0.05, "CPL": 0.1, "VERB": 0.05},
    "threshold .5": {"ADJ": 0.5, "CMC": 0.5, "CPL": 0.5, "VERB": 0.5},
}
# The defaults were chosen on every other crowd dataset, in alphabetical order.
CHOSEN_ON = (
    "adult_content", "face_sentiment", "music_genre", "sentiment_polarity", "snow_temp",
    "tweet_sentiment", "web_search",
)  # fmt: skip
CONFIRMED = (
    "bluebird", "fact_eval", "relevance", "snow_rte", "trec_relevance", "weather_sentiment",
    "zencrowd_us",
)  # fmt: skip


@dataclass(frozen=True)
class VoteSet:
    """Votes as `ErrorEstimator.fit` takes them, and what only the evaluation may see.

    ``gold`` has one class per row of ``votes``, null where it is not known; ``truth`` has one row
    per domain and classifier: the share of its votes on items with a gold label that are wrong,
    and their number.
    """

    name: str
    votes: Any
    gold: Any
    truth: Any
    domains: Any = None


@cache
def nell(cut: str) -> VoteSet:
    """Read NELL, its probabilities cut at the named thresholds."""
    frame = load_shared("nell")
    votes = pd.DataFrame({c: (frame[c] >= t).astype(int) for c, t in CUTS[cut].items()})
    wrong = votes.ne(frame["Real"], axis=0).groupby(frame["domain"])
    error, n = wrong.mean().stack().rename("error"), wrong.count().stack().rename("gold_votes")
    truth = pd.concat([error, n], axis=1).rename_axis(["domain", "classifier"]).reset_index()
    return VoteSet(f"NELL at {cut}", votes, frame["Real"], truth, frame["domain"])


def crowd(name: str) -> VoteSet:
    """Read a crowd dataset; of repeated votes the last one counts."""
    answers = load_shared(f"crowd_{name}", "answers")
    votes = answers.rename(columns={"task": "item", "worker": "classifier", "answer": "vote"})
    votes = votes.drop_duplicates(["item", "classifier"], keep="last").reset_index(drop=True)
    gold = votes["item"].map(load_shared(f"crowd_{name}", "truth").set_index("task")["truth"])
    return VoteSet(name, votes, gold, _true_errors(votes, gold))


@cache
def llmbar() -> VoteSet:
    """Read the verdicts of the LLM judges on LLMBar in the first order; unparsable ones drop."""
    frame = load_shared("llm_judges_llmbar", "verdicts_long")
    frame = frame[frame["verdict_order1"] > 0].reset_index(drop=True)
    votes = pd.DataFrame(
        {
            "item": frame["item_id"],
            "classifier": frame["model"].astype(str) + "__" + frame["strategy"].astype(str),
            "vote": frame["verdict_order1"].astype(int),
            "domain": frame["subset"].astype(str),
        }
    )
    gold = frame["gold"].astype(int)
    return VoteSet("LLMBar", votes, gold, _true_errors(votes, gold))


@cache
def judgebench() -> VoteSet:
    """Read the verdicts of the judges on JudgeBench; no verdict and not run are both not asked."""
    frame = load_shared("llm_judges_judgebench", "judgebench_wide")
    judges = [c for c in frame if "__" in c]
    votes = frame.melt(
        id_vars=["pair_id", "category", "gold"], value_vars=judges, var_name="classifier",
        value_name="vote",
    ).rename(columns={"pair_id": "item", "category": "domain"})  # fmt: skip
    votes = votes[votes["vote"] >= 0].reset_index(drop=True)
    gold = votes.pop("gold").astype(int)
    return VoteSet("JudgeBench", votes, gold, _true_errors(votes, gold))


@cache
def pooled_judgebench() -> VoteSet:
    """Return JudgeBench with its categories as one domain."""
    data = judgebench()
    votes = data.votes.drop(columns="domain")
    return VoteSet("JudgeBench pooled", votes, data.gold, _true_errors(votes, data.gold))


@cache
def people(name: str) -> VoteSet:
    """Read people and networks that name distorted images."""
    frame = load_shared(f"classifiers_and_people_{name}", "votes")
    votes = frame[["item", "classifier", "vote"]].reset_index(drop=True)
    return VoteSet(f"people, {name}", votes, frame["gold"], _true_errors(votes, frame["gold"]))


def fit(data: VoteSet, *, y_true: Any = None, **options: Any) -> tuple[ErrorEstimator, float]:
    """Fit the estimator; return it with the CPU seconds that it took. Its warnings are tabled."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KaratWarning)
        start = time.process_time()
        estimator = ErrorEstimator(**options).fit(data.votes, domains=data.domains, y_true=y_true)
        return estimator, time.process_time() - start


_FITS: dict[str, tuple[ErrorEstimator, float]] = {}


def default_fit(data: VoteSet) -> tuple[ErrorEstimator, float]:
    """Fit with the defaults and seed 0; a fit that several tables show is made once."""
    if data.name not in _FITS:
        _FITS[data.name] = fit(data, rng=0)
    return _FITS[data.name]


@cache
def nell_fit(cut: str, seed: int, **options: Any) -> tuple[ErrorEstimator, float]:
    """Fit NELL; a fit that two tables show is made once."""
    return fit(nell(cut), rng=seed, **options)


def beside_truth(estimator: ErrorEstimator, truth: Any, *, at_least: int = 1) -> Any:
    """Return the table of error rates with the true ones, of voters with enough gold votes."""
    table = estimator.error_rates_.merge(truth, on=["domain", "classifier"])
    table = table[table["gold_votes"] >= at_least]
    inside = (table["lower"] <= table["error"]) & (table["error"] <= table["upper"])
    return table.assign(inside=inside, off=(table["value"] - table["error"]).abs())


def flagged(identified: Mapping[str, bool]) -> bool:
    """Return whether the estimator itself says that votes do not identify some domain."""
    return not all(identified.values())


def _true_errors(votes: Any, gold: Any) -> Any:
    known = gold.notna()
    domain = votes["domain"] if "domain" in votes else np.full(len(votes), "all")
    wrong = pd.DataFrame(
        {
            "domain": domain,
            "classifier": votes["classifier"],
            "wrong": votes["vote"] != gold,
        }
    )[known]
    rates = wrong.groupby(["domain", "classifier"])["wrong"].agg(error="mean", gold_votes="size")
    return rates.reset_index()
