"""Label models: `DawidSkene` against crowd-kit's in one run, and at a million rows.

crowd-kit is installed by `pip install --no-deps crowd-kit==1.4.2` and `pip install -r
benchmarks/requirements.txt`, which leaves out the networks that its aggregation does not use.
"""

import importlib.util
import warnings
from typing import Any

import numpy as np
from _timing import best_of

from karat.datasets import load_shared
from karat.exceptions import DataError, KaratWarning
from karat.weak import DawidSkene, DetectorLabelModel, TripletLabelModel, check_label_model

K, M = 5, 8
SPARSE = ("wrench_trec", "wrench_chemprot", "wrench_semeval")


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


def shared_votes(folder: str) -> tuple[Any, Any]:
    """Return truth, -1 where unknown, and the votes of a shared set of rules."""
    frame = load_shared(folder)
    columns = [c for c in frame if c[:1] == "L" and c[1:].isdigit()]
    return frame["label"].fillna(-1).to_numpy(np.int64), frame[columns].to_numpy(np.int64)


def against_crowd_kit(name: str, y: Any, votes: Any) -> None:
    """Print how many times faster the fit is, as a whole and with as many passes as the peer's.

    crowd-kit stops where a pass gains little, which on sparse votes is after two passes; karat goes
    on until little is left to gain. So three lines: both as they are, karat with the passes that
    crowd-kit makes, and crowd-kit with the passes that karat makes.
    """
    import pandas as pd
    from crowdkit.aggregation import DawidSkene as Peer

    item, worker = np.nonzero(votes >= 0)
    frame = pd.DataFrame({"task": item, "worker": worker, "label": votes[item, worker]})
    peer, model = Peer(n_iter=100), DawidSkene(rng=0)
    theirs = best_of(3, lambda: peer.fit(frame))
    mine = best_of(5, lambda: model.fit(votes))
    passes, own = len(peer.loss_history_), model.n_iter_
    print(f"DawidSkene of {len(y):,} x {votes.shape[1]}, {len(model.classes_)} classes, {name}:")
    _show("as they are", (mine, model, own), (theirs, peer, passes), y, votes)
    brief = DawidSkene(rng=0, max_iter=max(passes, 2), restarts=1)
    seconds = best_of(5, lambda: brief.fit(votes))
    _show("crowd-kit's passes", (seconds, brief, brief.n_iter_), (theirs, peer, passes), y, votes)
    patient = Peer(n_iter=own, tol=-np.inf)
    seconds = best_of(1, lambda: patient.fit(frame))
    _show("karat's passes", (mine, model, own), (seconds, patient, own), y, votes)


def _show(
    what: str, mine: tuple[float, Any, int], theirs: tuple[float, Any, int], y: Any, votes: Any
) -> None:
    known = y >= 0
    right = (mine[1].predict_proba(votes).argmax(axis=1) == y)[known].mean()
    peer_right = (theirs[1].labels_.reindex(range(len(y))).to_numpy() == y)[known].mean()
    print(
        f"  {what}: ratio {theirs[0] / mine[0]:.1f} "
        f"(karat {mine[0]:.3f} s, {mine[2]} passes, accuracy {right:.3f}; "
        f"crowd-kit {theirs[0]:.3f} s, {theirs[2]} passes, accuracy {peer_right:.3f})"
    )


def main() -> None:
    """Print one line per model."""
    warnings.simplefilter("ignore", KaratWarning)
    if importlib.util.find_spec("crowdkit") is None:
        print(
            "crowd-kit is not installed, so there is no ratio; pip install --no-deps "
            "crowd-kit==1.4.2 and pip install -r benchmarks/requirements.txt"
        )
    else:
        against_crowd_kit("broad labelers", *broad_votes(20_000))
        against_crowd_kit("narrow labelers", *narrow_votes(20_000))
        for folder in SPARSE:
            try:
                y, votes = shared_votes(folder)
            except DataError as error:
                print(f"{folder} is left out: {error}")
            else:
                against_crowd_kit(f"the rules of {folder}", y, votes)
    _, votes = broad_votes(1_000_000)
    for model in (DetectorLabelModel(), DawidSkene(rng=0), TripletLabelModel()):
        name = type(model).__name__
        seconds = best_of(1, lambda model=model: model.fit(votes))
        print(f"{name} of 10^6 x {M}, {K} classes: {seconds:.2f} s")
        seconds = best_of(1, lambda model=model: check_label_model(votes, model))
        print(f"check of {name} of 10^6 x {M}, {K} classes: {seconds:.2f} s")


if __name__ == "__main__":
    main()
