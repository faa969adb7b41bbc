"""All questions at once: whatever the columns allow."""

import hashlib
import warnings
from collections.abc import Mapping
from io import BytesIO
from typing import Any

import numpy as np

from karat._extras import require
from karat._validate import check_confidence, check_count, check_seed
from karat.evaluation.questions import QUESTIONS, Evidence, Finding, LeftOut
from karat.evaluation.result import Evaluation
from karat.evaluation.roles import Roles, find_roles, guess_roles
from karat.exceptions import ColumnError, DataError, EmptyDataError, KaratError, KaratWarning
from karat.metrics import MetricBase, as_metric

__all__ = ["evaluate"]


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
    data : frame or mapping of columns
        One row per item: pandas, Polars, PyArrow or anything that narwhals supports.
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
    frame = _as_polars(data)
    given = {
        "label": label, "pred": pred, "score": score, "prob": prob, "weak": weak, "judge": judge,
        "group": group, "id": id,
    }  # fmt: skip
    roles = find_roles(frame.columns, given)
    if not roles:
        raise ColumnError(_no_roles(guess_roles(frame), frame.columns))
    evidence = Evidence(
        frame=frame, roles=roles, metric=None if metric is None else as_metric(metric),
        pos_label=pos_label, confidence=level, budget=labels, rng=seed,
        metric_code=repr('accuracy' if metric is None else metric),
    )  # fmt: skip
    found, missing = _answers(evidence)
    return Evaluation(
        title="What is known of these classifiers",
        roles=roles,
        findings=tuple(found),
        left_out=tuple(missing),
        facts=_facts(evidence),
    )


def _answers(evidence: Evidence) -> tuple[list[Finding], list[LeftOut]]:
    """Ask every question; one that fails is left out with its reason, and the others stand."""
    found: list[Finding] = []
    missing: list[LeftOut] = []
    failed: list[KaratError] = []
    for question in QUESTIONS:
        try:
            answer = question(evidence)
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
        warnings.warn(f"a question was left out: {reason}", KaratWarning, stacklevel=3)
    return found, missing


def _as_polars(data: Any) -> Any:
    """Return a frame or a mapping of columns as a Polars frame, rows in their order."""
    polars = require("polars", purpose="an evaluation")
    if isinstance(data, Mapping):
        # An array of objects would be a column that Polars can do nothing with.
        columns = {k: v.tolist() if _is_objects(v) else v for k, v in data.items()}
        frame = polars.DataFrame(columns)
    else:
        import narwhals as nw

        try:
            wrapped = nw.from_native(data)
        except TypeError as error:
            said = f"data is {type(data).__name__}; expected a frame or a mapping of columns"
            raise DataError(said) from error
        if isinstance(wrapped, nw.LazyFrame):
            wrapped = wrapped.collect("polars")
        frame = wrapped.to_polars()
    if not len(frame):
        raise EmptyDataError("data has no rows; expected a row per item")
    return frame


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


def _facts(e: Evidence) -> tuple[tuple[str, str], ...]:
    used = list(dict.fromkeys(c for _, columns in e.roles.chosen() for c in columns))
    facts = [("rows", f"{len(e.frame):,}")]
    if e.roles.label:
        facts.append(("rows with a true label", f"{e.n_known:,}"))
        classes = e.column(e.roles.label[0]).drop_nulls().unique().sort()
        if len(e.roles.label) == 1 and len(classes) == 2:
            positive = classes[-1] if e.pos_label is None else e.pos_label
            facts.append(("positive class", repr(positive)))
    facts.append(("confidence of each limit", f"{100 * e.confidence:g} %"))
    facts += [(f"columns of {name}", ", ".join(found)) for name, found in e.roles.chosen()]
    content = BytesIO()
    e.frame.select(used).write_ipc(content)
    facts.append(
        ("fingerprint of these columns", hashlib.sha256(content.getvalue()).hexdigest()[:16])
    )
    return tuple(facts)
