"""A part of the demonstration as data, and the two classifiers that it is about."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from karat._extras import require
from karat._typing import AnyArray, FloatArray
from karat.report import Section
from karat.report.parts import Table, Verdict

if TYPE_CHECKING:
    from karat.evaluation import Evaluation


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """The truth and what two classifiers say of each item, none trained on that item."""

    y_true: AnyArray
    scores: dict[str, FloatArray]
    positive: str
    classes: AnyArray
    measurements: dict[str, FloatArray]

    def predict(self, name: str) -> AnyArray:
        """Return one classifier's most probable class of each item."""
        return np.asarray(self.classes[(self.scores[name] >= 0.5).astype(int)])

    def predictions(self, **others: Any) -> Any:
        """Return a table of what each classifier predicts, and other columns."""
        polars: Any = require("polars", purpose="the tables of the demo")
        own = {name: self.predict(name).tolist() for name in self.scores}
        return polars.DataFrame({**own, **others})

    def table(self, n_labels: int, seed: int = 0) -> Any:
        """Return predictions, scores, and the labels of some items drawn at random."""
        rows = np.random.default_rng(seed).permutation(len(self.y_true))[:n_labels]
        known = np.full(len(self.y_true), None, dtype=object)
        known[rows] = np.asarray(self.y_true, dtype=object)[rows]
        scores = {f"p_{name}": score for name, score in self.scores.items()}
        return self.predictions(label=known.tolist(), **scores)


def train_models(seed: int = 0) -> Models:
    """Predict each biopsy with models trained on the other nine tenths of the data."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    data = load_breast_cancer()
    y = data.target_names[data.target]
    X = data.data[:, :10]  # the means of the ten measurements, without their spread and extremes
    folds = StratifiedKFold(10, shuffle=True, random_state=seed)
    candidates = {
        "logistic regression": make_pipeline(StandardScaler(), LogisticRegression()),
        "naive Bayes": GaussianNB(),
    }
    scores = {
        name: cross_val_predict(model, X, y, cv=folds, method="predict_proba")[:, 1]
        for name, model in candidates.items()
    }
    return Models(
        y_true=np.asarray(y),
        scores=scores,
        positive="malignant",
        classes=np.array(["benign", "malignant"]),
        measurements=dict(zip(map(str, data.feature_names), data.data.T, strict=True)),
    )


# --- A part of the demo: its section, its conclusion, and every interval beside its hidden truth.


class Interval(NamedTuple):
    """An interval that is printed, and the truth that was hidden from whoever made it.

    Bounds have no estimate: their middle means nothing.
    """

    what: str
    estimate: float | None
    lower: float
    upper: float
    truth: float

    @property
    def holds(self) -> bool:
        """Whether the truth is inside."""
        return bool(self.lower <= self.truth <= self.upper)

    @property
    def said(self) -> str:
        """The interval in words."""
        return f"{self.what} {self.lower:.3f} to {self.upper:.3f} (hidden truth {self.truth:.3f})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A section of the page, the conclusion it adds, and its intervals.

    ``conditional`` says that the intervals hold if something does that nobody tested.
    """

    section: Section
    verdict: Verdict | None = None
    intervals: tuple[Interval, ...] = ()
    conditional: bool = False


def beside(intervals: tuple[Interval, ...], caption: str) -> Table:
    """Return a table of intervals, each beside its truth."""
    rows = tuple(
        (
            i.what,
            "–" if i.estimate is None else f"{i.estimate:.3f}",
            f"{i.lower:.3f}",
            f"{i.upper:.3f}",
            f"{i.truth:.3f}",
            "yes" if i.holds else "no",
        )
        for i in intervals
    )
    columns = ("what", "value", "lower", "upper", "hidden truth", "inside")
    return Table(columns=columns, rows=rows, caption=caption)


def part_of(
    found: "Evaluation",
    key: str,
    *,
    question: str,
    told: str,
    intervals: tuple[Interval, ...],
    conditional: bool = False,
    concludes: bool = True,
) -> Part:
    """Return the finding of an evaluation as a part, with the truths beside its numbers."""
    finding = next(f for f in found.findings if f.key == key)
    inside = sum(i.holds for i in intervals)
    verdict = finding.verdicts[0]
    section = replace(
        finding.section(),
        question=question,
        answer=f"{told} {verdict.sentence} Hidden truths inside: {inside} of {len(intervals)}.",
        table=beside(intervals, "Each answer beside its hidden truth"),
    )
    return Part(
        section=section,
        verdict=verdict if concludes else None,
        intervals=intervals,
        conditional=conditional,
    )
