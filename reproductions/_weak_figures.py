"""Figures 1 to 7 of Maia Polo et al. (2023) as tables, with the data at hand."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from _show import number, say, show_table
from _weak_data import SPECS, Task, load_task
from _weak_models import STRENGTHS, fit_label_model, noise_aware_logistic, score, usual_model
from numpy.typing import NDArray

from karat.bounds import bounds_curve, performance_bounds, weak_label_value
from karat.bounds.result import BoundsCurve
from karat.datasets import load_shared
from karat.exceptions import KaratWarning

__all__ = ["run_figures"]

LLAMA = ("llm_zero_shot", "llm_definition", "llm_few_shot")
ADDED = 5


FEW = 10  # weak labels that the paper keeps in Figure 5
CUTS = np.linspace(0.1, 0.9, 9)
SHORT = np.array([0.1, 0.3, 0.5, 0.7, 0.9])


def run_figures(*, quick: bool) -> None:
    """Print the figures."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KaratWarning)
        task, usual = load_task("youtube", quick=quick), usual_model(quick=quick)
        for name in ("youtube",) if quick else ("youtube", "imdb", "tennis"):
            _curves(f"Figure 1, {name}", load_task(name, quick=quick), usual, CUTS)
        say(
            "The paper draws its figures and prints no numbers for them. The test comments of "
            "youtube differ from the rest: 47 % are spam, 52 % of the training comments. The "
            "Oracle pools them all, so at extreme thresholds, where its bounds are narrow, it can "
            "miss the test score.\n"
        )
        _hate_speech(usual, quick=quick)
        if not quick:
            _few_and_all(usual)
        llama, best = _figure_3(task, usual)
        _value(task, usual, llama, best)


def _few_and_all(usual: str) -> None:
    """Print Figures 4 to 6: thresholds with at most ten weak labels, and with all of them."""
    for name in ("yelp", "sms", "tennis", "imdb"):
        task = load_task(name, quick=False)
        m = task.votes.shape[1]
        _curves(
            f"Figures 4 and 5, {name}, {min(m, FEW)} weak labels", task.first(FEW), usual, SHORT
        )
        if m > FEW:
            _curves(f"Figures 4 and 6, {name}, all {m} weak labels", task, usual, SHORT)
    say(
        "yelp, imdb and tennis have no more than ten weak labels, so Figure 6 is Figure 5. "
        "commercial and basketball, the other sets of Figures 1 and 4 to 6, are missing for the "
        "reasons given with Table 3.\n"
    )


def _hate_speech(usual: str, *, quick: bool) -> None:
    """Say why Figures 2 and 7 are not here, and print the same for spam messages."""
    say(
        "Figures 2 and 7 (precision and recall of a hate-speech classifier): the forum posts, the "
        "lexicon and the two fine-tuned networks that label them are not among the shared "
        "datasets. The same figure of spam messages follows in their place.\n"
    )
    task = load_task("sms", quick=quick)
    title = "In place of Figures 2 and 7, sms"
    _curves(title, task, usual, SHORT, metrics=("precision", "recall"))


def _curves(
    title: str,
    task: Task,
    usual: str,
    cuts: NDArray[Any],
    metrics: tuple[str, str] = ("accuracy", "f1"),
) -> None:
    """Print bounds over thresholds, with the truth, for two metrics."""
    y, votes = task.y[task.bound], task.votes[task.bound]
    for name in ("Oracle", usual):
        model = fit_label_model(name, task)
        shown = noise_aware_logistic(task, model, strengths=STRENGTHS)[:, 1]
        curves = [
            bounds_curve(shown, votes, model, metric=metric, thresholds=cuts, y_true=y, rng=0)
            for metric in metrics
        ]
        cells = [_curve_cells(curve) for curve in curves]
        rows = [[f"{cut:.1f}", *a, *f] for cut, a, f in zip(cuts, *cells, strict=True)]
        columns = ["threshold", metrics[0], "limits", "truth", metrics[1], "limits", "truth"]
        show_table(f"{title}, {name}", columns, rows)
        inside = sum(int(row[i][-1] != "*") for row in rows for i in (3, 6))
        say(f"  The truth is inside the limits at {inside} of {2 * len(cuts)} points (* outside).")
        say(f"  {curves[0].summary()}\n")


def _curve_cells(curve: BoundsCurve) -> list[list[str]]:
    """Return bounds, limits and truth at each threshold; a star where the truth is outside."""
    table = np.column_stack(
        [curve.lower, curve.upper, curve.lower_limit, curve.upper_limit, curve.value]
    )
    return [
        [
            f"{low:.2f} – {high:.2f}",
            f"{least:.2f} – {most:.2f}",
            f"{truth:.2f}" + ("" if least <= truth <= most else " *"),
        ]
        for low, high, least, most, truth in table
    ]


def _figure_3(task: Task, usual: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Print bounds from three Llama-2 prompts, then with good and with random labelers added."""
    frame = load_shared(SPECS["youtube"].folder)
    llama = frame.loc[frame["in_wrench_1586"], list(LLAMA)].to_numpy(dtype=np.int64)
    right = (task.votes == task.y[:, None]).mean(axis=0)  # alignment: an abstention is not right
    order = np.argsort(-right, kind="stable")[:ADDED]
    good = task.votes[:, order]
    noise = np.random.default_rng(0).integers(0, 2, good.shape)
    rows = [_step(task, usual, llama, "three Llama-2 prompts")]
    for kind, added in (("WRENCH", good), ("random", noise)):
        for k in range(1, ADDED + 1):
            label = f"+ {k} {kind}" + (f" (L{order[k - 1]})" if kind == "WRENCH" else "")
            rows.append(_step(task, usual, np.hstack([llama, added[:, :k]]), label))
    columns = ["weak labels", "accuracy bounds", "width", "limits", "test accuracy", "votes fit"]
    show_table(f"Figure 3, youtube, {usual}, threshold 0.5", columns, rows)
    say(
        "The paper compares none with five added; its claim is that only good labelers narrow the "
        "bounds and move them up.\n"
    )
    return llama, good


def _step(task: Task, usual: str, votes: NDArray[Any], label: str) -> list[str]:
    some = replace(task, votes=votes)
    model = fit_label_model(usual, some)
    predicted = noise_aware_logistic(some, model, strengths=STRENGTHS).argmax(axis=1)
    b = performance_bounds(predicted, votes[task.bound], model, metric="accuracy", rng=0)
    return [
        label,
        f"{b.lower:.2f} – {b.upper:.2f}",
        number(b.width),
        f"{b.lower_limit:.2f} – {b.upper_limit:.2f}",
        number(score("accuracy", task.y[task.bound], predicted)),
        "pass" if b.check is None or b.check.status != "contradicted" else "FAIL",
    ]


def _value(task: Task, usual: str, llama: NDArray[Any], good: NDArray[Any]) -> None:
    """Print what each labeler adds, with two random ones among them."""
    noise = np.random.default_rng(1).integers(0, 2, (len(llama), 2))
    some = replace(task, votes=np.hstack([llama, good, noise]))
    right = (task.votes == task.y[:, None]).mean(axis=0)
    names = [*LLAMA, *(f"L{j}" for j in np.argsort(-right, kind="stable")[:ADDED])]
    names += ["random_0", "random_1"]
    model = fit_label_model(usual, some)
    predicted = noise_aware_logistic(some, model, strengths=STRENGTHS).argmax(axis=1)
    value = weak_label_value(predicted, some.votes[task.bound], model, metric="accuracy", rng=0)
    rows = [
        [names[int(name)], f"{gain:+.3f}", f"{b.lower:.2f} – {b.upper:.2f}"]
        for name, gain, b in zip(value.names, value.narrowing, value.without, strict=True)
    ]
    columns = ["labeler", "wider without it by", "bounds without it"]
    full = f"{value.full.lower:.2f} – {value.full.upper:.2f}"
    show_table(f"What each labeler adds (with all of them {full})", columns, rows)
