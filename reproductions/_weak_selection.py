"""Tables 2 to 4 of Maia Polo et al. (2023): which of several networks is best, by their bounds."""

import warnings
from itertools import product
from typing import Any

import numpy as np
from _show import say, show_table
from _weak_data import Task, load_task
from _weak_models import fit_label_model, repeated_by_class, score, usual_model
from numpy.typing import NDArray
from scipy.stats import spearmanr
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

from karat.bounds import performance_bounds
from karat.exceptions import KaratWarning

__all__ = ["run_selection"]

LABELLED = (10, 25, 50, 100)
WAYS = ("lower", "upper", "average", "label model", *(f"{n} labels" for n in LABELLED))
# The paper's Table 3: mean test scores of the chosen models, in the order of WAYS. Its Table 2 is
# five of these rows with 100 labels alone.
PAPER_TABLE_3: dict[str, tuple[float | None, ...]] = {
    "agnews": (0.80, 0.80, 0.80, 0.80, None, None, None, 0.80),
    "trec": (0.49, 0.50, 0.50, 0.50, 0.45, 0.50, 0.50, 0.49),
    "semeval": (0.55, 0.53, 0.55, 0.55, 0.50, 0.52, 0.54, 0.54),
    "chemprot": (0.48, 0.50, 0.48, 0.48, 0.47, 0.48, 0.49, 0.49),
    "youtube": (0.88, 0.82, 0.89, 0.89, 0.87, 0.88, 0.89, 0.89),
    "imdb": (0.50, 0.69, 0.74, 0.75, 0.59, 0.65, 0.70, 0.75),
    "yelp": (0.80, 0.81, 0.80, 0.80, 0.77, 0.79, 0.81, 0.80),
    "tennis": (0.77, 0.77, 0.77, 0.77, 0.59, 0.59, 0.64, 0.70),
    "sms": (0.23, 0.66, 0.66, 0.23, 0.47, 0.55, 0.65, 0.73),
}
# Its Table 4: correlations of the ranking by the test score with the ranking in each way.
PAPER_TABLE_4: dict[str, tuple[float | None, ...]] = {
    "agnews": (0.90, 0.98, 0.93, 0.90, 0.89, 0.88, 0.87, 0.88),
    "trec": (0.80, 0.96, 0.96, 0.88, 0.73, 0.87, 0.87, 0.82),
    "semeval": (0.99, 0.81, 0.99, 0.99, 0.91, 0.95, 0.97, 0.95),
    "chemprot": (0.76, 0.97, 0.77, 0.76, 0.90, 0.88, 0.91, 0.96),
    "youtube": (0.95, 0.86, 0.95, 0.96, 0.83, 0.95, 0.93, 0.92),
    "imdb": (-0.76, 0.76, 0.93, 0.94, -0.09, 0.32, 0.68, 0.99),
    "yelp": (0.92, 0.96, 0.97, 0.97, 0.82, 0.95, 0.99, 0.98),
    "tennis": (0.89, 0.90, 0.89, 0.87, 0.09, 0.06, 0.12, 0.14),
    "sms": (0.10, 0.99, 0.95, 0.89, 0.47, 0.58, 0.79, 0.80),
}
WHY_NOT = (
    "basketball: its shared votes have no labels and no features, so nothing can be trained or "
    "scored. commercial, census, cdr and spouse: neither votes nor features are among the shared "
    "datasets, and none of the packages that can be installed here carries them."
)
QUICK = ("youtube",)
THRESHOLDS = (0.2, 0.4, 0.5, 0.6, 0.8)


def run_selection(*, quick: bool) -> None:
    """Print scores of the chosen models, and correlations of rankings, beside the paper's."""
    scores, correlations = [], []
    usual = usual_model(quick=quick)
    repetitions = 2 if quick else 5
    for name in QUICK if quick else PAPER_TABLE_3:
        task = load_task(name, quick=quick)
        model = fit_label_model(usual, task)
        candidates = _candidates(task, model, epochs=10 if quick else 30)
        rng = np.random.default_rng(0)
        runs = [_compare(task, model, candidates, rng) for _ in range(repetitions)]
        who = f"karat ({len(candidates)} models)"
        for rows, paper, at in ((scores, PAPER_TABLE_3, 0), (correlations, PAPER_TABLE_4, 1)):
            shown = ["–" if value is None else f"{value:.2f}" for value in paper[name]]
            rows.append([name, f"paper ({task.metric})", *shown, *([""] * (at == 0))])
            found = np.array([run[at] for run in runs])
            means, spreads = found.mean(axis=0), found.std(axis=0)
            cells = [f"{m:.2f} ± {s:.2f}" for m, s in zip(means, spreads, strict=True)]
            rows.append(["", who, *cells])
    columns = ["dataset", "", *WAYS]
    show_table("Tables 2 and 3: mean test score of the model that each way chooses",
               [*columns, "best possible"], scores)  # fmt: skip
    show_table("Table 4: correlation of ranks, by the test score and in each way",
               columns, correlations)  # fmt: skip
    say(
        f"Chosen with {usual} (the paper: Snorkel) on random parts of the test split that "
        f"leave out {LABELLED[-1]} items, of which the first n are the n labels, {repetitions} "
        "times; the mean and its spread are over these parts. Where all models score alike, a "
        "correlation counts as 0, as in the paper. scikit-learn's weight decay is scaled by the "
        "number of rows, unlike the paper's. All weak labels are used, which is what the paper's "
        f"test scores agree with. Not here: {WHY_NOT}\n"
    )


def _candidates(task: Task, model: Any, *, epochs: int) -> dict[str, NDArray[Any]]:
    """Train the networks of section A.4.2 with the noise-aware loss; return their predictions."""
    p = model.predict_proba(task.votes[task.train])
    rows, labels, weight = repeated_by_class(task.x[task.train], p)
    found = {}
    for size, rate, decay in product((50, 100), (0.1, 0.001), (0.1, 0.001)):
        network = MLPClassifier(
            (size,), learning_rate_init=rate, alpha=decay, max_iter=epochs, random_state=0
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            network.fit(rows, labels, sample_weight=weight)
        proba = network.predict_proba(task.x[task.bound])
        name = f"{size} neurons, rate {rate:g}, decay {decay:g}"
        if task.metric == "f1":
            for cut in THRESHOLDS:
                found[f"{name}, threshold {cut:g}"] = (proba[:, 1] > cut).astype(np.int64)
        else:
            found[name] = network.classes_[proba.argmax(axis=1)]
    return found


def _compare(
    task: Task, model: Any, candidates: dict[str, NDArray[Any]], rng: np.random.Generator
) -> tuple[list[float], list[float]]:
    """Return the test score of the model chosen in each way, and how well each way ranks them."""
    order = rng.permutation(task.bound.sum())
    few, rest = order[: LABELLED[-1]], order[LABELLED[-1] :]
    y, votes = task.y[task.bound], task.votes[task.bound]
    shown = list(candidates.values())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KaratWarning)
        bounds = [
            performance_bounds(
                one[rest], votes[rest], model, metric=task.metric, classes=task.classes, rng=0
            )
            for one in shown
        ]
    ways = [
        np.array([b.lower for b in bounds]),
        np.array([b.upper for b in bounds]),
        np.array([b.lower + b.upper for b in bounds]),
        np.array([b.label_model_estimate for b in bounds]),
        *(
            np.array([score(task.metric, y[few[:n]], one[few[:n]]) for one in shown])
            for n in LABELLED
        ),
    ]
    test = np.array([score(task.metric, y[rest], one[rest]) for one in shown])
    chosen = [float(test[way.argmax()]) for way in ways]
    return [*chosen, float(test.max())], [_correlation(way, test) for way in ways]


def _correlation(way: NDArray[Any], test: NDArray[Any]) -> float:
    """Return the correlation of the ranks; 0 where one ranking is all ties."""
    if np.ptp(way) == 0 or np.ptp(test) == 0:
        return 0.0
    return float(spearmanr(way, test)[0])
