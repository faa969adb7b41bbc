"""Label models: `DawidSkene` against crowd-kit's in one run, and at a million rows."""

import importlib.util
import warnings
from typing import Any

import numpy as np
from _timing import best_of

from karat.exceptions import KaratWarning
from karat.weak import DawidSkene, TripletLabelModel, check_label_model

K, M = 5, 8


def broad_votes(n: int) -> tuple[Any, Any]:
    """Return truth and votes of labelers that cover 60 to 100 % and are right on 60 to 90 %."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, K, n)
    right = rng.random((n, M)) < rng.uniform(0.6, 0.9, M)
    votes = np.where(right, y[:, None], (y[:, None] + rng.integers(1, K, (n, M))) % K)
    votes[rng.random((n, M)) > rng.uniform(0.6, 1, M)] = -1
    return y, votes.astype(np.int8)


def narrow_votes(n: int) -> tuple[Any, Any]:
    """Return truth and votes of labelers that know two classes each and mostly abstain beyond."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, K, n)
    one, other = np.arange(M) % K, (np.arange(M) + 1) % K
    knows = (y[:, None] == one) | (y[:, None] == other)
    right = rng.random((n, M)) < np.where(knows, rng.uniform(0.65, 0.9, M), 0.5)
    first = (y[:, None] == one) | (~knows)
    votes = np.where(right == first, one, other)
    cover = rng.uniform(0.5, 0.9, M)
    votes[rng.random((n, M)) > np.where(knows, cover, cover / 3)] = -1
    return y, votes.astype(np.int8)


def against_crowd_kit(name: str, y: Any, votes: Any) -> None:
    """Print how many times faster the fit is, and how often either is right."""
    import pandas as pd
    from crowdkit.aggregation import DawidSkene as Peer

    item, worker = np.nonzero(votes >= 0)
    frame = pd.DataFrame({"task": item, "worker": worker, "label": votes[item, worker]})
    peer, model = Peer(n_iter=100), DawidSkene(rng=0)
    theirs = best_of(2, lambda: peer.fit(frame))
    mine = best_of(5, lambda: model.fit(votes))
    right = (model.predict_proba(votes).argmax(axis=1) == y).mean()
    peer_right = (peer.labels_.reindex(range(len(y))).to_numpy() == y).mean()
    print(
        f"DawidSkene of {len(y):,} x {M}, {K} classes, {name}: ratio {theirs / mine:.1f} "
        f"(karat {mine:.3f} s, accuracy {right:.3f}; crowd-kit {theirs:.3f} s, "
        f"accuracy {peer_right:.3f})"
    )


def main() -> None:
    """Print one line per model."""
    warnings.simplefilter("ignore", KaratWarning)
    if importlib.util.find_spec("crowdkit") is None:
        print("crowd-kit is not installed, so there is no ratio; pip install crowd-kit")
    else:
        against_crowd_kit("broad labelers", *broad_votes(20_000))
        against_crowd_kit("narrow labelers", *narrow_votes(20_000))
    _, votes = broad_votes(1_000_000)
    for model in (DawidSkene(rng=0), TripletLabelModel()):
        name = type(model).__name__
        seconds = best_of(1, lambda model=model: model.fit(votes))
        print(f"{name} of 10^6 x {M}, {K} classes: {seconds:.2f} s")
        seconds = best_of(1, lambda model=model: check_label_model(votes, model))
        print(f"check of {name} of 10^6 x {M}, {K} classes: {seconds:.2f} s")


if __name__ == "__main__":
    main()
