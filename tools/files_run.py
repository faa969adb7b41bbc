"""Count the files of karat that run in one warm call of its main functions.

A reader who follows a call through the library opens these files. Run it with
``python tools/files_run.py``; with ``--list`` it names them. It ends with 1 if a call goes through
more files than it may.
"""

import io
import sys
import tempfile
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np

import karat

SOURCE = Path(karat.__file__).parent
RNG = np.random.default_rng(0)
Y = (RNG.random(400) < 0.4).astype(int)
SCORE = Y + RNG.normal(size=400)
VOTES = np.where(RNG.random((400, 4)) < 0.2, 1 - Y[:, None], Y[:, None])
PRED = VOTES[:, 0]


def files_of(call: Callable[[], object]) -> set[str]:
    """Return the files of karat of which some function runs, once everything is loaded."""
    call()
    found: set[str] = set()

    def look(frame: object, event: str, _: object) -> None:
        if event == "call":
            found.add(frame.f_code.co_filename)  # type: ignore[attr-defined]

    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(None)
    inside = [Path(name) for name in found if name.startswith(str(SOURCE))]
    return {str(path.relative_to(SOURCE)) for path in inside}


def area() -> object:
    """Measure a weighted area."""
    return karat.ranking.weighted_auc(Y, SCORE)


def bounds() -> object:
    """Bound an accuracy without labels."""
    return karat.bounds.performance_bounds(PRED, VOTES, metric="accuracy", rng=0)


def audit() -> object:
    """Ask for labels, tell them, and look at the result."""
    proba = np.column_stack([1 - SCORE, SCORE]).clip(0.05, 0.95)
    one = karat.audit.Audit(PRED, metric="accuracy", proba=proba / proba.sum(1, keepdims=True))
    items = one.ask(30)
    one.tell({item: int(Y[item]) for item in items["item"]})
    return one.result


def elicitation() -> object:
    """Ask a simulated person."""
    space = karat.elicit.BinarySpace.from_scores(Y, SCORE)
    person = karat.elicit.MetricOracle(karat.metrics.LinearMetric([[1, -1], [-4, 2]]))
    return karat.elicit.Elicitation(space, rng=0).run(person)


def evaluation() -> object:
    """Evaluate a file at the command line."""
    from karat.cli import main

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        rows = zip(Y, PRED, SCORE, strict=True)
        path.write_text("\n".join(["truth,model,score", *(f"{y},{p},{s}" for y, p, s in rows)]))
        with redirect_stdout(io.StringIO()):
            flags = ["--label", "truth", "--pred", "model", "--score", "score"]
            try:
                return main(["evaluate", str(path), *flags])
            except SystemExit as done:
                return done.code


CALLS = {
    "weighted_auc": (area, 12),
    "performance_bounds": (bounds, 20),
    "an audit: ask, tell, result": (audit, 18),
    "an elicitation": (elicitation, 18),
    "karat evaluate": (evaluation, 45),
}


def main() -> int:
    """Print how many files each call goes through; return 1 if they are too many."""
    warnings.simplefilter("ignore")
    too_many = False
    for name, (call, most) in CALLS.items():
        found = files_of(call)
        too_many |= len(found) > most
        print(f"{name}: {len(found)} files (at most {most})")
        if "--list" in sys.argv or len(found) > most:
            print("  " + "  ".join(sorted(found)))
    return int(too_many)


if __name__ == "__main__":
    sys.exit(main())
