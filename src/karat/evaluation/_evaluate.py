"""All questions at once: whatever the columns allow."""

import hashlib
import shlex
import warnings
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from karat._callers import caller_level
from karat._extras import require
from karat._frames import keeps_kind
from karat._validate import check_confidence, check_count, check_seed
from karat.evaluation.questions import QUESTIONS, Evidence, Finding, LeftOut
from karat.evaluation.result import Evaluation
from karat.evaluation.roles import Roles, guess_roles, long_votes, roles_of
from karat.exceptions import ColumnError, EmptyDataError, KaratError, KaratWarning, OptionError
from karat.metrics import MetricBase, as_metric
from karat.sources import Source, scan

__all__ = ["evaluate"]


@keeps_kind
def evaluate(
    data: Any,
    *,
    label: Any = None,
    pred: Any = None,
    score: Any = None,
    prob: Any = None,
    weak: Any = None,
    judge: Any = None,
    group: str | None = None,
    id: str | None = None,  # noqa: A002  (the name of the flag)
    metric: str | MetricBase | None = None,
    pos_label: Any = None,
    confidence: float = 0.95,
    budget: int | None = None,
    rng: int = 0,
) -> Evaluation:
    """Answer every question that the columns of a table allow, and say what was left out.

    Parameters
    ----------
    data : frame, path, Source or mapping of columns
        One row per item: pandas, Polars, PyArrow, DuckDB, PySpark, or whatever `karat.scan` opens,
        files and evaluation logs among them. A table with a row per vote (item, judge, verdict) and
        no role named is read as votes.
    label, pred, score, prob, weak, judge : str or list of str, optional
        Columns by the part they play; patterns such as ``"lf_*"`` choose several. ``label`` may be
        empty in most rows. Several columns of ``label`` are several labels of one item.
    group, id : str, optional
        Columns of groups, and of the items' names.
    metric : str or Metric, optional
        What counts. By default accuracy comes first.
    pos_label : label, optional
        The positive class; by default the larger label.
    confidence : float, default 0.95
        Probability that limits hold, each.
    budget : int, optional
        How many labels can be had; next steps ask for so many.
    rng : int, default 0
        Seed of everything that is drawn.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> import numpy as np
    >>> from karat.evaluation import evaluate
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 200)
    >>> table = {"y": y, "model": np.where(rng.random(200) < 0.9, y, 1 - y)}
    >>> evaluate(table, label="y", pred="model").verdicts[0].badge
    'likely'
    """
    level, seed = check_confidence(confidence), check_seed(rng)
    labels = None if budget is None else check_count(budget, "budget")
    source = _source(data)
    given = {
        "label": label, "pred": pred, "score": score, "prob": prob, "weak": weak, "judge": judge,
        "group": group, "id": id,
    }  # fmt: skip
    if any(value is not None for value in given.values()):
        source = source.roles(**given)
    roles, votes = roles_of(source), _votes(source)
    if not roles and votes is None:
        raise ColumnError(_no_roles(guess_roles(source.names), source.names))
    frame = source.columns if votes is None else votes
    if not len(frame):
        raise EmptyDataError(f"{source.name} has no rows; expected a row per item")
    evidence = Evidence(
        frame=frame, roles=roles, metric=None if metric is None else as_metric(metric),
        pos_label=pos_label, confidence=level, budget=labels, rng=seed, votes=votes,
        metric_code=repr("accuracy" if metric is None else metric), **_named(data, votes),
    )  # fmt: skip
    found, missing = _answers(evidence)
    return Evaluation(
        title=f"{source.name}: what is known of it",
        roles=roles,
        findings=tuple(found),
        left_out=tuple(missing),
        facts=_facts(evidence, source),
    )


def _source(data: Any) -> Source:
    """Return the data as a source."""
    if isinstance(data, Source):
        return data
    if isinstance(data, Mapping):
        polars = require("polars", purpose="an evaluation")
        # An array of objects would be a column that Polars can do nothing with.
        data = polars.DataFrame({k: v.tolist() if _is_objects(v) else v for k, v in data.items()})
    return scan(data)


def _votes(source: Source) -> Any:
    """Return votes, a row each, of a log or of a table that has no other part named."""
    if source.log is not None and "judge" in source.names:
        return source.votes()
    if set(source.chosen) - {"group", "id"}:
        return None
    return long_votes(
        source.columns if not source.chosen else scan(source.frame.to_native()).columns
    )


def _named(data: Any, votes: Any) -> dict[str, str]:
    """Return the line of code that reads the data, and the file as a command would name it."""
    if not isinstance(data, str | Path):
        return {"read": "frame = karat.scan(data).columns"}
    what = "columns" if votes is None else "votes()"
    return {"read": f"frame = karat.scan({str(data)!r}).{what}", "file": shlex.quote(str(data))}


def _answers(evidence: Evidence) -> tuple[list[Finding], list[LeftOut]]:
    """Ask every question; one that fails is left out with its reason, and the others stand."""
    found: list[Finding] = []
    missing: list[LeftOut] = []
    failed: list[KaratError] = []
    for question in QUESTIONS:
        try:
            answer = question(evidence)
        except OptionError:
            raise  # a mistake of the caller, and none of the data
        except KaratError as error:
            failed.append(error)
            name = question.__name__.replace("_", " ").capitalize()
            missing.append(LeftOut(question=f"{name}?", unlock=f"other data: {error}"))
            continue
        if isinstance(answer, Finding):
            found.append(answer)
        elif answer is not None:
            missing.append(answer)
    if failed and not found:
        raise failed[0]
    for reason in failed:
        warnings.warn(f"a question was left out: {reason}", KaratWarning, stacklevel=caller_level())
    return found, missing


def _is_objects(column: Any) -> bool:
    return isinstance(column, np.ndarray) and column.dtype.kind == "O"


def _no_roles(guess: Roles, columns: list[str]) -> str:
    if not guess:
        return f"no column has a role; name some with label=, pred=, judge= … of {columns}"
    call = ", ".join(
        f"{name}={(found[0] if len(found) == 1 else list(found))!r}"
        for name, found in guess.chosen()
    )
    return f"no column has a role; by their names they may be evaluate(data, {call})"


def _facts(e: Evidence, source: Source) -> tuple[tuple[str, str], ...]:
    facts = [("data", source.name), ("rows", f"{len(e.frame):,}")]
    if source.log is not None:
        facts.append(("log", source.log.summary()))
    if e.roles.label:
        facts.append(("rows with a true label", f"{e.n_known:,}"))
        classes = e.column(e.roles.label[0]).drop_nulls().unique().sort()
        if len(e.roles.label) == 1 and len(classes) == 2:
            positive = classes[-1] if e.pos_label is None else e.pos_label
            facts.append(("positive class", repr(positive)))
    facts.append(("confidence of each limit", f"{100 * e.confidence:g} %"))
    facts += [(f"columns of {name}", ", ".join(found)) for name, found in e.roles.chosen()]
    content = BytesIO()
    e.frame.write_ipc(content)
    facts.append(
        ("fingerprint of these columns", hashlib.sha256(content.getvalue()).hexdigest()[:16])
    )
    return tuple(facts)
