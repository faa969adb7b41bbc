"""Tables 1, 5 and 6 of Maia Polo et al. (2023): bounds with several label models on real votes."""

import warnings
from typing import Any, NamedTuple

import numpy as np
from _show import Promise, say, show_table
from _weak_data import SPECS, Task, load_task
from _weak_models import (
    STRENGTHS,
    fit_label_model,
    has_snorkel,
    noise_aware_logistic,
    score,
    score_error,
)

from karat.bounds import PerformanceBounds, performance_bounds
from karat.exceptions import KaratWarning
from karat.weak import check_label_model

__all__ = ["run_tables"]

Figures = tuple[float, float, float]

# Lower bound, upper bound and test accuracy in the paper; 1 and 5 agree where both give them.
PAPER_TABLE_5: dict[str, dict[str, Figures]] = {
    "agnews": {
        "Oracle": (0.49, 0.95, 0.82), "Snorkel": (0.45, 0.90, 0.80), "triplet": (0.14, 0.61, 0.79)
    },
    "trec": {
        "Oracle": (0.04, 0.85, 0.38), "Snorkel": (0.01, 0.67, 0.30), "triplet": (0.16, 0.18, 0.28)
    },
    "semeval": {
        "Oracle": (0.24, 0.38, 0.36), "Snorkel": (0.30, 0.31, 0.32), "triplet": (0.12, 0.14, 0.32)
    },
    "chemprot": {
        "Oracle": (0.22, 0.59, 0.41), "Snorkel": (0.14, 0.67, 0.39), "triplet": (0.01, 0.29, 0.41)
    },
}  # fmt: skip
PAPER_TABLE_6: dict[str, dict[str, Figures]] = {
    "trec": {"Snorkel": (0.33, 0.67, 0.49), "triplet": (0.04, 0.31, 0.24)},
    "semeval": {"Snorkel": (0.34, 0.69, 0.53), "triplet": (0.12, 0.14, 0.32)},
    "chemprot": {"Snorkel": (0.36, 0.73, 0.48), "triplet": (0.04, 0.22, 0.45)},
}
QUICK = ("trec", "semeval", "chemprot", "youtube", "sms", "tennis")
FEW = 100
MODELS = ("Oracle", "Oracle (held out)", "default", "Dawid–Skene", "triplet", "Snorkel")


class Cell(NamedTuple):
    """One dataset, one label model: the bounds beside the truth and the paper."""

    dataset: str
    model: str
    paper: Figures | None
    bounds: PerformanceBounds | None = None
    truth: float = 0.0
    error: float = 0.0
    labels_fit: bool | None = None

    @property
    def inside(self) -> bool:
        """Whether the test score lies inside the limits."""
        b = self.bounds
        return b is not None and b.lower_limit <= self.truth <= b.upper_limit

    def row(self) -> list[str]:
        """Return the line of the table."""
        paper = "–" if self.paper is None else "{:.2f} – {:.2f} ({:.2f})".format(*self.paper)
        head = [self.dataset, self.model, paper]
        b = self.bounds
        if b is None:
            return [*head, "not run", "", "", "", "", ""]
        votes = b.check is None or b.check.status != "contradicted"
        fit = "–" if self.labels_fit is None else "pass" if self.labels_fit else "FAIL"
        return [
            *head,
            f"{b.lower:.2f} – {b.upper:.2f}",
            f"{b.lower_limit:.2f} – {b.upper_limit:.2f}",
            f"{self.truth:.2f} ± {self.error:.2f}",
            "yes" if self.inside else "NO",
            "pass" if votes else "FAIL",
            fit,
        ]


def bound_cells(*, full_votes: bool, quick: bool) -> list[Cell]:
    """Bound every dataset with every label model."""
    paper = PAPER_TABLE_6 if full_votes else PAPER_TABLE_5
    cells = []
    for name in QUICK if quick else (name for name in SPECS if name != "yoruba"):
        task = load_task(name, quick=quick)
        if full_votes and task.votes.shape[1] <= 10:
            continue  # the same as with the votes truncated to 10
        task = task if full_votes else task.first(10)
        for model in MODELS:
            figures = paper.get(name, {}).get(model)
            if not _is_left_out(task, model, figures, quick=quick):
                cells.append(_bound_cell(task, model, figures, quick=quick))
    return cells


def _is_left_out(task: Task, model: str, paper: Figures | None, *, quick: bool) -> bool:
    if model == "Oracle (held out)":
        return quick or not (task.y[~task.bound] >= 0).any()
    if model == "Snorkel":
        return paper is None and (quick or not has_snorkel())
    return quick and model == "triplet"


def _bound_cell(task: Task, model: str, paper: Figures | None, *, quick: bool) -> Cell:
    cell = Cell(f"{task.name} (F1)" if task.metric == "f1" else task.name, model, paper)
    if model == "Snorkel" and (quick or not has_snorkel()):
        return cell
    fitted = fit_label_model(model, task)
    proba = noise_aware_logistic(task, fitted, strengths=STRENGTHS[1:3] if quick else STRENGTHS)
    predicted, votes, y = proba.argmax(axis=1), task.votes[task.bound], task.y[task.bound]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KaratWarning)
        bounds = performance_bounds(
            predicted, votes, fitted, metric=task.metric, clusters=task.clusters, rng=0
        )
        fit = None if model == "Oracle" else _labels_fit(votes, fitted, y)
    return cell._replace(
        bounds=bounds,
        truth=score(task.metric, y, predicted),
        error=score_error(task.metric, y, predicted, task.clusters),
        labels_fit=fit,
    )


def _labels_fit(votes: Any, model: Any, y: Any) -> bool:
    """Return whether a few true labels look like draws from P(Y | Z)."""
    few = np.full(len(y), -1)
    some = np.random.default_rng(0).permutation(len(y))[:FEW]
    few[some] = y[some]
    p_value = check_label_model(votes, model, y_true=few).gold_p_value
    return p_value is not None and p_value >= 0.05


def show_cells(title: str, cells: list[Cell]) -> None:
    """Print the cells and say in words where the limits miss."""
    columns = [
        "dataset", "label model", "paper (test)", "karat", "limits", "test", "inside",
        "votes fit", "labels fit",
    ]  # fmt: skip
    show_table(title, columns, [cell.row() for cell in cells])
    for cell in cells:
        if cell.bounds is not None and not cell.inside:
            say(f"  {cell.dataset}, {cell.model}: {_why(cell, cell.bounds)}")
    say("")


def _why(cell: Cell, b: PerformanceBounds) -> str:
    """Say on which side the test score is outside, and what is known about why."""
    off = max(cell.truth - b.upper_limit, b.lower_limit - cell.truth)
    side = "above" if cell.truth > b.upper_limit else "below"
    said = f"the test score is {off:.3f} {side} the limits"
    if cell.labels_fit is False:
        return f"{said}; {FEW} true labels do not fit P(Y | Z), so the bounds need not hold"
    if off <= cell.error:
        return (
            f"{said}, less than its own error of ± {cell.error:.3f}: the limits are for the law, "
            "not for the labels that these rows happen to have"
        )
    if b.check is not None and b.check.status == "contradicted":
        return f"{said}; the check of the label model says: {b.check.reasons[0]}"
    return f"{said}; nothing in the check of the label model gives it away"


def share_inside(cells: list[Cell], model: str) -> tuple[int, int]:
    """Return how many cells of a label model hold the test score, and of how many."""
    own = [cell for cell in cells if cell.model == model and cell.bounds is not None]
    return sum(cell.inside for cell in own), len(own)


def run_tables(*, quick: bool) -> list[Promise]:
    """Print the tables; the Oracle's share of cells that hold the test score is promised."""
    _say_what_differs(quick=quick)
    cells = bound_cells(full_votes=False, quick=quick)
    show_cells("Tables 1 and 5 (at most 10 weak labels; the binary sets are Figure 5)", cells)
    more = bound_cells(full_votes=True, quick=quick)
    show_cells("Table 6 (all weak labels, of the sets that have more than 10; Figure 6)", more)
    say("agnews, youtube, imdb, yelp and tennis have at most 10 weak labels: Table 6 is Table 5.")
    for model in MODELS:
        held, total = share_inside([*cells, *more], model)
        if total:
            say(f"test score inside the limits, {model}: {held} of {total} cells")
    say("")
    held, total = share_inside([*cells, *more], "Oracle")
    return [Promise("share of Oracle cells with the test score inside", held / total, 0.9)]


def _say_what_differs(*, quick: bool) -> None:
    notes = [f"{name}: {spec.note}." for name, spec in SPECS.items() if spec.note]
    lines = [
        "The Oracle counts the true labels of all labelled rows, those that are bounded among "
        'them. "Held out" leaves these out, which is what the paper\'s code does. The paper has no '
        "Oracle with all weak labels; here rare patterns are smoothed toward naive Bayes.",
        "The paper's bounds are plug-in ones; karat's are cross-fitted, with one-sided 95 % "
        "limits. ± is the two-sided 95 % error of the test score.",
        "triplet stands beside the paper's FlyingSquid; with more than two classes it is "
        "one-vs-rest. The paper's code leaves out the last weak label in Table 6.",
        "Votes fit: the check of the label model from the votes alone. Labels fit: whether "
        f"{FEW} true labels of the bounded rows look like draws from P(Y | Z) (5 % level).",
        "The paper gives the binary sets as figures only. Which sets are missing, and why, is said "
        "with Table 3.",
    ]
    if quick or not has_snorkel():
        why = "left out by --quick" if has_snorkel() else "not installed"
        lines.append(f"Snorkel is {why}: its rows show the paper's figures only.")
    for line in [*lines, *notes]:
        say(f"- {line}")
    say("")
