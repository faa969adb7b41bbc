"""How many test scores lie inside the limits, by what the label model was fitted with."""

import warnings
from typing import Any, NamedTuple

import numpy as np
from _show import Promise, say, show_table
from _weak_data import Task, load_task
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from karat.bounds import performance_bounds
from karat.exceptions import KaratWarning, MetricError
from karat.metrics import as_metric
from karat.weak import DawidSkene, DetectorLabelModel, OracleLabelModel

__all__ = ["BINARY", "QUICK", "SETS", "SEVERAL", "gold_of", "predictions_of", "run_inside"]

SETS = ("yoruba", "imdb", "yelp", "youtube", "sms", "trec", "agnews", "semeval", "chemprot")
QUICK = ("youtube", "sms")
BINARY = ("accuracy", "balanced_accuracy", "precision", "recall", "f1")
SEVERAL = ("accuracy", "balanced_accuracy", "macro_f1", "mcc")
GOLD = (50, 100)
WANTED = 0.9
# Figures from before the detectors and the limits that use labels: DawidSkene with P(Y) learnt and
# known, OracleLabelModel with 100 labels and with all; other classifiers, the same kind of metrics.
BEFORE = {
    "yoruba": ("9/16", "16/16", "16/16", "16/16"),
    "imdb": ("6/20", "20/20", "18/20", "20/20"),
    "yelp": ("14/20", "20/20", "5/20", "20/20"),
    "youtube": ("12/20", "10/20", "17/20", "20/20"),
    "sms": ("7/20", "10/20", "6/20", "17/20"),
    "trec": ("0/16", "2/16", "11/16", "16/16"),
    "agnews": ("16/16", "16/16", "–", "–"),
}


class Column(NamedTuple):
    """A way to get limits: a label model, and the labels that the limits may use themselves."""

    name: str
    model: Any
    gold: NDArray[Any] | None = None


def run_inside(*, quick: bool) -> list[Promise]:
    """Print the table; with labels, nine in ten of the test scores have to be inside."""
    names = QUICK if quick else SETS
    draws = 1 if quick else 5
    rows: list[list[str]] = []
    held: dict[str, list[NDArray[Any]]] = {}
    states: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KaratWarning)
        for name in names:
            task = load_task(name, quick=quick)
            found = _of_set(task, draws)
            for column, inside in found.items():
                held.setdefault(column, []).append(inside)
            rows.append([name, *(f"{v.sum()}/{len(v)}" for v in found.values())])
            states.append(_status(task))
    shares = {name: np.concatenate(parts) for name, parts in held.items()}
    rows.append(["all", *(f"{s.sum()}/{len(s)} = {s.mean():.2f}" for s in shares.values())])
    show_table("Test scores inside the 95 % limits", ["set", *shares], rows)
    _show_before(names)
    say(
        "Four classifiers of scikit-learn, trained with true labels of other rows, times "
        f"{len(BINARY)} metrics for two classes ({', '.join(BINARY)}) and {len(SEVERAL)} for more "
        f"({', '.join(SEVERAL)}). Label models are fitted to the votes of all rows; labels are of "
        "rows of the test split, drawn at random. “limits, 50” are those that "
        "performance_bounds(y_pred, votes, y_true=) recommends with 50 labels; the others rest on "
        "P(Y | votes) alone, and a label model that was fitted with labels is not yet right. "
        f"Each draw of labels ({draws} of them for the limits) is shared by all classifiers and "
        "metrics of a set. Limits of labels are two-sided at 95 %, those of bounds one-sided "
        "at 95 % each.\n"
    )
    say(f"Without labels the check of the default says: {', '.join(sorted(set(states)))}.\n")
    called = sum(state != "not validated" and state != "contradicted" for state in states)
    return [
        Promise("sets without labels whose check says more than not validated", called, 0, True)
    ] + [
        Promise(f"share of test scores inside, {name}", float(share.mean()), WANTED)
        for name, share in shares.items()
        if name.startswith("limits")
    ]


def _show_before(names: tuple[str, ...]) -> None:
    rows = [[name, *BEFORE[name]] for name in names if name in BEFORE]
    columns = ["set", "Dawid–Skene", "+ P(Y)", "Oracle 100", "Oracle all"]
    show_table("Before: Dawid–Skene the default, labels only tested it", columns, rows)


def _status(task: Task) -> str:
    """Return what the check of the default says where there are no labels."""
    found = performance_bounds(
        predictions_of(task)[0], task.votes[task.bound], metric="accuracy", classes=task.classes,
        rng=0,
    )  # fmt: skip
    return found.check.status if found.check is not None else "none"


def _of_set(task: Task, draws: int) -> dict[str, NDArray[Any]]:
    """Return which test scores are inside, by the name of the column."""
    votes, y = task.votes[task.bound], task.y[task.bound]
    metrics = BINARY if task.n_classes == 2 else SEVERAL
    found: dict[str, list[bool]] = {}
    for column in _columns(task, draws):
        found.setdefault(column.name, []).extend(
            _is_inside(predicted, votes, y, column, metric, task)
            for predicted in predictions_of(task)
            for metric in metrics
        )
    return {name: np.array(inside) for name, inside in found.items()}


def _is_inside(
    predicted: NDArray[Any],
    votes: NDArray[Any],
    y: NDArray[Any],
    column: Column,
    metric: str,
    task: Task,
) -> bool:
    truth = as_metric(metric).score(y, predicted, classes=task.classes)
    try:
        b = performance_bounds(
            predicted, votes, column.model, metric=metric, classes=task.classes,
            y_true=column.gold, rng=0,
        )  # fmt: skip
    except MetricError:
        return False  # the label model rules out a class that there is
    return bool(b.lower_limit <= truth <= b.upper_limit)


def _columns(task: Task, draws: int) -> list[Column]:
    """Fit the label models."""
    votes, classes = task.votes, task.classes

    def oracle(gold: NDArray[Any]) -> Any:
        return OracleLabelModel(base="naive-bayes").fit(votes, gold, classes=classes)

    few = {n: gold_of(task, n, 0) for n in GOLD}
    known = DawidSkene(rng=0).fit(votes, classes=classes, class_prior=task.prior)
    columns = [
        Column("Dawid–Skene", DawidSkene(rng=0).fit(votes, classes=classes)),
        Column("+ P(Y)", known),
        Column("Oracle 100", oracle(few[100])),
        Column("Oracle all", oracle(np.where(task.bound, task.y, -1))),
        Column("default", DetectorLabelModel().fit(votes, classes=classes)),
        Column(
            "default, P(Y)",
            DetectorLabelModel().fit(votes, classes=classes, class_prior=task.prior),
        ),
    ]
    for n, gold in few.items():
        model = DetectorLabelModel().fit(votes, classes=classes, y_true=gold)
        columns.append(Column(f"default, {n}", model))
    return columns + [
        Column(f"limits, {n}", None, gold_of(task, n, draw)[task.bound])
        for n in GOLD
        for draw in range(draws)
    ]


def gold_of(task: Task, n: int, draw: int) -> NDArray[Any]:
    """Return the labels of n rows of those to bound, -1 elsewhere."""
    there = np.flatnonzero(task.bound & (task.y >= 0))
    rows = np.random.default_rng([n, draw]).permutation(there)[:n]
    gold = np.full(len(task.y), -1)
    gold[rows] = task.y[rows]
    return gold


_FITTED: dict[str, list[NDArray[Any]]] = {}


def predictions_of(task: Task) -> list[NDArray[Any]]:
    """Return the predictions of four classifiers, trained with true labels of other rows."""
    if task.name not in _FITTED:
        rows = task.train & (task.y >= 0)
        models = (
            LogisticRegression(max_iter=300, tol=1e-3),
            GaussianNB(),
            RandomForestClassifier(50, random_state=0),
            KNeighborsClassifier(15),
        )
        _FITTED[task.name] = [
            m.fit(task.x[rows], task.y[rows]).predict(task.x[task.bound]) for m in models
        ]
    return _FITTED[task.name]
