"""Pairs in two orders: position bias foretold, error rates without it, systems, scores, a panel."""

import warnings

import numpy as np
from _show import Promise, say

from karat.consensus import (
    ErrorEstimator,
    PairEstimator,
    ScoreEstimator,
    cheapest_panel,
    position_bias,
    rank_systems,
)
from karat.datasets import load_shared

__all__ = ["run_bias", "run_rates", "run_scores", "run_systems"]


def llmbar():
    """Return the verdicts of 65 judges on LLMBar in two orders."""
    said = load_shared("llm_judges_llmbar", "verdicts_long")
    said["judge"] = said["model"].astype(str) + "__" + said["strategy"].astype(str)
    said["subset"] = said["subset"].astype(str)
    return said.rename(columns={"item_id": "item"})


def run_bias(*, quick: bool) -> list[Promise]:
    """Learn the bias on one half of the pairs; see whether its limits cover that on the other."""
    say("\nPosition bias learnt on one half of LLMBar's 419 pairs, seen on the other; 65 judges.")
    said = llmbar()
    said = said[said["subset"].str.startswith("LLMBar/")]
    pairs = np.sort(said["item"].unique())
    inside, naive = [], []
    for seed in range(5 if quick else 40):
        chosen = np.random.default_rng(seed).permutation(pairs)[: len(pairs) // 2]
        half = said["item"].isin(chosen)
        one, other = position_bias(said[half]), position_bias(said[~half])
        low, high = one.expected_on(len(pairs) - len(chosen))
        inside.append(((low <= other.value) & (other.value <= high)).mean())
        naive.append(((one.lower <= other.value) & (other.value <= one.upper)).mean())
    whole = position_bias(said)
    say(f"  {whole.summary()}")
    say(
        f"  share of judges inside 95 % limits for {len(pairs) - len(chosen)} further pairs: "
        f"{np.mean(inside):.3f} (worst split {np.min(inside):.3f}); inside the limits of the bias "
        f"itself, which do not know the chance of the other half: {np.mean(naive):.3f}"
    )
    return [
        Promise("bias on the other half inside its limits", float(np.mean(inside)), 0.93),
        Promise("and not always", float(np.mean(inside)), 0.99, at_most=True),
    ]


def run_rates(*, quick: bool) -> list[Promise]:
    """Compare error rates with the bias out with the gold, subset by subset."""
    say("\nError rates with the position bias taken out, beside the gold (splits count half).")
    said = llmbar()
    natural = known = 0.0
    subsets = ["LLMBar/Natural"] if quick else sorted(said["subset"].unique())
    for subset in subsets:
        here = said[said["subset"] == subset]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            est = PairEstimator(rng=0).fit(here)
        wrong = sum((here[f"verdict_order{o}"] != here["gold"]).astype(float) for o in (1, 2)) / 2
        truth = wrong.groupby(here["judge"]).mean()
        table = est.error_rates_
        gold = truth.loc[table["judge"]].to_numpy()
        covered = float(((table["lower"] <= gold) & (gold <= table["upper"])).mean())
        width = float((table["upper"] - table["lower"]).mean())
        say(
            f"  {subset:30} {len(truth):3} judges  covered {covered:.2f}  width {width:.2f}  "
            f"mean cost of one order {table['cost'].mean():.3f}  {est.result_.status[0]}"
        )
        if subset == "LLMBar/Natural":
            natural = covered
            known = _families(here, gold, table)
            say(f"  panel: {cheapest_panel(est, draws=5).summary()}")
    return [
        Promise("gold covered on Natural", natural, 0.9),
        Promise("gold covered on Natural, prompts of a model counted once", known, 0.9),
    ]


def _families(here, gold, table):
    """Fit again with the prompts of one model as one voter; return the share covered."""
    same = {m: sorted(g["judge"].unique()) for m, g in here.groupby(here["model"].astype(str))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = PairEstimator(rng=0).fit(here, same=same)
    again = found.error_rates_.set_index("judge").loc[table["judge"]]
    covered = float(((again["lower"] <= gold) & (gold <= again["upper"])).mean())
    say(
        f"    with the prompts of each model counted once: covered {covered:.2f}, width "
        f"{(again['upper'] - again['lower']).mean():.2f}, {found.result_.status[0]}"
    )
    return covered


def run_systems(*, quick: bool) -> list[Promise]:
    """Rank the systems of MT-Bench by six LLM judges, and with a few gold pairs of people."""
    say("\nSystems of MT-Bench ranked by six LLM judges; people are the gold.")
    said = load_shared("people_and_llms_mtbench", "answers")
    judged = said[said["kind"] == "llm"].rename(columns={"annotator": "classifier"})
    judged = judged.assign(vote=judged["answer"].replace("tie", "-1"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = ErrorEstimator(rng=0).fit(judged[["item", "classifier", "vote"]])
        first, second = (
            {item: item.split("__")[k] for item in said["item"].unique()} for k in (1, 2)
        )
        alone = rank_systems(fitted, first, second, rng=0)
        gold = said[said["kind"] == "human"].drop_duplicates("item").set_index("item")["answer"]
        full = rank_systems(fitted, first, second, y_true=gold.to_dict(), rng=0)
        say(f"  judges alone: {alone.summary()}")
        say(f"  with all people: {full.summary()}")
        place = {name: rank for rank, name in enumerate(full.systems, start=1)}
        inside, width, runs = [], [], 10 if quick else 100
        for seed in range(runs):
            some = np.random.default_rng(seed).permutation(gold.index)[:40]
            found = rank_systems(fitted, first, second, y_true=gold.loc[some].to_dict(), rng=0)
            true = np.array([place[name] for name in found.systems])
            inside.append(bool(((found.rank_best <= true) & (true <= found.rank_worst)).all()))
            width.append((found.rank_worst - found.rank_best).mean())
    say(
        f"  40 gold pairs, {runs} draws: all six ranks inside their limits in "
        f"{np.mean(inside):.2f}; limits span {1 + np.mean(width):.1f} ranks on average"
    )
    return [Promise("ranks of all people inside limits of 40", float(np.mean(inside)), 0.9)]


def run_scores() -> list[Promise]:
    """Scores of reward models on JudgeBench: the check must see that they cannot tell."""
    say(
        "\nScores of five reward models on JudgeBench, no threshold; a shared taste, not the truth."
    )
    said = load_shared("llm_judges_judgebench", "verdicts_long").dropna(subset=["score_A"])
    wide = load_shared("llm_judges_judgebench", "judgebench_wide").set_index("pair_id")
    said["score"] = said["score_A"] - said["score_B"]
    scores = said.pivot(index="pair_id", columns="judge", values="score")
    category = wide["category"].loc[scores.index].to_numpy()
    gold = wide["gold"].loc[scores.index].to_numpy() == 0
    told, covered = [], []
    for name in np.unique(category):
        rows = category == name
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            r = ScoreEstimator(draws=300, rng=0).fit(scores[rows]).result_
        true = np.array([_best(scores[rows][c].to_numpy(), gold[rows]) for c in scores.columns])
        inside = (r.lower <= true) & (true <= r.upper)
        told.append(bool(r.identified[0]))
        covered.append(inside.mean())
        say(
            f"  {name:10} error rates {np.round(r.value, 2)}, best cut on gold "
            f"{np.round(true, 2)}, "
            f"covered {inside.mean():.2f}, identified: {bool(r.identified[0])}"
        )
    return [
        Promise("categories called identified", float(sum(told)), 0, at_most=True),
        Promise("best cut inside the limits", float(np.mean(covered)), 0.9),
    ]


def _best(score, gold):
    """Return the least error of any threshold on the gold."""
    cuts = np.unique(score)
    return min(float(((score >= cut) != gold).mean()) for cut in cuts)
