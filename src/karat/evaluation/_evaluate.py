"""All questions at once: whatever the columns allow."""

import hashlib
import shlex
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from fnmatch import fnmatchcase
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from karat._callers import caller_level
from karat._extras import require
from karat._result import keeps_kind
from karat._sentences import Option, Remedy, Sentence
from karat._typing import IntArray
from karat._validate import (
    by_frequency,
    check_confidence,
    check_count,
    check_seed,
    match_spellings,
    named,
    refuse_option,
    same_label,
)
from karat.evaluation.questions import QUESTIONS, Evidence, LeftOut, flag
from karat.evaluation.result import Evaluation
from karat.evaluation.roles import Roles, guess_roles, joined_code, long_votes, roles_of
from karat.exceptions import (
    ColumnError,
    EmptyDataError,
    KaratError,
    KaratWarning,
    LabelError,
    LabelsMatchedWarning,
    OptionError,
    PositiveClassError,
)
from karat.metrics import as_metric, load_metric
from karat.metrics.base import MetricBase
from karat.report.answer import Finding
from karat.sources import Counts, Source, scan
from karat.sources.cells import cells_of
from karat.sources.engines import about_distinct
from karat.sources.stored import is_counts

_SKETCHED = 0.9  # sketches of how many items there are differ from the number by a few per cent


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
    long: Mapping[str, str] | None = None,
    errors: str = "failures",
    rng: int = 0,
) -> Evaluation:
    """Answer every question that the columns of a table allow, and say what was left out.

    Parameters
    ----------
    data : frame, path, Source, Counts or mapping of columns
        One row per item: pandas, Polars, PyArrow, DuckDB, PySpark, or whatever `karat.scan` opens,
        files and evaluation logs among them. A table with a row per vote (item, judge, label) and
        no role named is read as votes. Or counts, from `karat.sources.Counts` or the file of one:
        what they allow is answered with the numbers of the rows, what takes rows is left out with
        the reason. Their columns have their parts, and ``pred`` and ``score`` choose among them.
    label, pred, score, prob, weak, judge : str or list of str, optional
        Columns by the part they play; patterns such as ``"lf_*"`` choose several. ``label`` may be
        empty in most rows. Several columns of ``label`` are several labels of one item.
    group, id : str, optional
        Columns of groups, and of the items' names.
    metric : str or Metric, optional
        What counts: a name, the path of a .json file that holds a metric, or a metric. By default
        accuracy comes first.
    pos_label : label, optional
        The positive class. By default the last class that the metric names, else the one that the
        labels tell: 1 of 0 and 1, True, or a word such as "yes", "spam" or "fraud". Where nothing
        tells it, questions that need it are left out, and the result says what to pass.
    confidence : float, default 0.95
        Probability that limits hold, each.
    budget : int, optional
        How many labels can be had; next steps ask for so many.
    long : mapping, optional
        For a table with a row per vote, the columns of ``item``, ``voter`` and ``vote``, and of
        ``domain`` and ``gold`` if there are; ``"model+prompt"`` joins two columns.
    errors : {"failures", "ignore"}, default "failures"
        What samples of a log are that ended in an error, as in `karat.scan`.
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
    'guaranteed'
    """
    level, seed = check_confidence(confidence), check_seed(rng)
    labels = None if budget is None else check_count(budget, "budget")
    given = {
        "label": label,
        "pred": pred,
        "score": score,
        "prob": prob,
        "weak": weak,
        "judge": judge,
        "group": group,
        "id": id,
    }
    if isinstance(data, Counts) or (isinstance(data, str | Path) and is_counts(data)):
        counted_evidence = _of_counts(data, given | {"long": long}, metric, pos_label)
        evidence = replace(counted_evidence, confidence=level, budget=labels, rng=seed)
        name = Path(data).name if isinstance(data, str | Path) else "counts"
        file = shlex.quote(str(data)) if isinstance(data, str | Path) else "FILE"
        asked = {**given, "metric": metric, "pos_label": pos_label}
        asked |= {"confidence": level, "budget": labels}
        return _evaluation(evidence, (name, ""), _command(file, asked))
    source = _source(data, errors)
    if any(value is not None for value in given.values()):
        source = source.roles(**given)
    roles = roles_of(source)
    table = _table_of(source, roles, seed)
    rows = _rows_of(source, long)
    if not roles and rows.votes is None and rows.log is None:
        raise ColumnError(_no_roles(guess_roles(source.names), source.names))
    voted = None if rows.votes is None else rows.votes.frame.to_native()
    frame = next(f for f in (voted, rows.log, table.frame) if f is not None)
    counts = table.counts if frame is table.frame else None
    if not len(frame):
        raise EmptyDataError(f"{source.name} has no rows; expected a row per item")
    frame, filled = _without_nan(frame, roles.label)
    counted = _metric(metric)
    frame, matched = _matched(frame, roles, counted.get("metric"), counts)
    _check_common(frame, roles)
    positive = _positive(pos_label, counted.get("metric"), frame, roles)
    for note in matched.said:
        warnings.warn(note, LabelsMatchedWarning, stacklevel=caller_level())
    said = _named(data, source, long, errors)
    evidence = Evidence(
        frame=frame,
        roles=roles,
        counts=counts,
        total=table.total,
        pos_label=positive,
        confidence=level,
        budget=labels,
        rng=seed,
        votes=rows.votes,
        log=rows.log,
        no_votes=rows.problem,
        patterns=_given({**given, "long": long}),
        **counted,
        **said | {"read": said["read"] + filled + matched.code},
    )
    _check_items(evidence, source)
    asked = {
        **given,
        "metric": metric,
        "pos_label": pos_label,
        "confidence": level,
        "budget": labels,
        "long": _joined(long),
    }
    log = "" if source.log is None else source.log.summary()
    again = _command(evidence.file, asked)
    return _evaluation(evidence, (source.name, log), again, source.names, matched.said)


def _evaluation(
    evidence: Evidence,
    named_log: tuple[str, str],
    command: str,
    names: Sequence[str] = (),
    notes: tuple[str, ...] = (),
) -> Evaluation:
    """Ask every question; ``named_log`` are the name of the data and what a log says of itself."""
    name, log = named_log
    found, missing = _answers(evidence)
    if not found and not missing:
        roles = evidence.roles.chosen()
        chosen = ", ".join(f"{role} {' '.join(columns)}" for role, columns in roles)
        raise ColumnError(
            f"{chosen} alone answers no question; name columns of predictions, "
            f"scores or votes too, of {named(names)}"
        )
    return Evaluation(
        title=f"{name}: what is known of it",
        roles=evidence.roles,
        findings=tuple(found),
        left_out=tuple(missing),
        facts=_facts(evidence, name, log),
        command=command,
        notes=notes,
    )


# --- Counts in the place of rows.

_LABEL = "label"  # what true labels are called: counts do not keep the name of their column


def _of_counts(data: Any, given: Mapping[str, Any], metric: Any, pos_label: Any) -> Evidence:
    """Return what counts say: their tables, and how many rows have which true label."""
    counts = data if isinstance(data, Counts) else Counts.load(data)
    for role, value in given.items():
        if role not in ("pred", "score") and value is not None:
            raise OptionError(
                Option(role),
                " does not go with counts, in which the columns of every part are chosen",
                Remedy("leave it out"),
            )
    preds = tuple(counts.confusions or counts.patterns)
    chosen = {
        "pred": _chosen(given["pred"], preds, "pred"),
        "score": _chosen(given["score"], tuple(counts.roc), "score"),
    }
    if given["pred"] is None and given["score"] is not None:
        chosen["pred"] = ()
    if given["score"] is None and given["pred"] is not None:
        chosen["score"] = ()
    weak = next((p.names for p in counts.patterns.values()), ())
    voters = () if counts.votes is None else counts.votes.names
    frame, numbers = _labels_of(counts)
    tables: list[Any] = [*counts.confusions.values(), *counts.patterns.values()]
    roles = Roles(
        label=(_LABEL,) if frame[_LABEL].count() else (),
        pred=chosen["pred"],
        score=chosen["score"],
        weak=tuple(map(str, weak)),
        judge=() if voters == weak else tuple(map(str, voters)),
        group="group" if any(t.groups is not None for t in tables) else None,
    )
    about = _metric(metric)
    positive = _positive(pos_label, about.get("metric"), frame, roles)
    for name in roles.score:
        own = counts.roc[name].classes[-1].item()
        if positive is not None and not same_label(own, positive):
            expected = f"{own!r}, which the scores {name} were counted for (see karat count)"
            refuse_option(positive, "pos_label", expected)
    is_file = isinstance(data, str | Path)
    return Evidence(
        frame=frame,
        counts=numbers,
        counted=counts,
        roles=roles,
        pos_label=positive,
        patterns=_given(given),
        read=f"counts = Counts.load({str(data)!r})" if is_file else "counts = data",
        file="TABLE",  # next steps label rows, which are in the table that was counted
        **about,
    )


def _content(counts: Counts) -> bytes:
    """Return all that was counted as bytes, for a fingerprint."""
    kinds = (counts.patterns, counts.roc, counts.confusions)
    tables: list[Any] = [(name, table) for kind in kinds for name, table in kind.items()]
    tables += [] if counts.votes is None else [("votes", counts.votes)]
    values = [
        (name, field.name, getattr(table, field.name))
        for name, table in tables
        for field in fields(table)
    ]
    return b"".join(
        f"{name} {part} ".encode()
        + (v.tobytes() if isinstance(v, np.ndarray) and v.dtype.kind in "iuf" else repr(v).encode())
        for name, part, v in values
    )


def _chosen(given: Any, there: tuple[str, ...], role: str) -> tuple[str, ...]:
    """Return the columns that were chosen of those that were counted."""
    if given is None:
        return there
    parts = [given] if isinstance(given, str) else list(given)
    found = [name for part in parts for name in there if fnmatchcase(name, part)]
    for part in parts:
        if not any(fnmatchcase(name, part) for name in there):
            raise ColumnError(
                Option(role), f" is {part!r}, which was not counted; there are {named(there)}"
            )
    return tuple(dict.fromkeys(found))


def _labels_of(counts: Counts) -> tuple[Any, IntArray]:
    """Return the true labels, each once and null where there is none, and how many rows have it."""
    polars = require("polars", purpose="an evaluation")
    tables: list[Any] = [*counts.patterns.values(), *counts.confusions.values()]
    totals = [float(t.n) for t in tables]
    totals += [float(t.totals.sum()) for t in counts.roc.values()]
    votes = counts.votes
    totals += [] if votes is None else [float(votes.n)]
    if counts.confusions:
        table = next(iter(counts.confusions.values())).pooled()
        classes, known = table.classes, table.counts.sum(axis=1)
    elif counts.roc:
        first = next(iter(counts.roc.values()))
        classes, known = first.classes, first.totals
    elif votes is not None and votes.label is not None:
        classes, has = votes.classes, votes.label >= 0
        known = np.bincount(votes.label[has], votes.counts[has], len(votes.classes))
    else:
        classes, known = np.array([], dtype=str), np.array([])
    rest = max(max(totals, default=0.0) - float(known.sum()), 0.0)
    seen = np.flatnonzero(known > 0)
    labels = polars.Series(_LABEL, [*classes[seen].tolist(), *([None] if rest else [])])
    numbers = np.rint([*known[seen], *([rest] if rest else [])]).astype(np.int64)
    if not len(labels):
        raise EmptyDataError("the counts hold no rows; count at least one")
    return labels.to_frame(), numbers


def _source(data: Any, errors: str) -> Source:
    """Return the data as a source."""
    if isinstance(data, Source):
        return data
    if isinstance(data, Mapping):
        polars = require("polars", purpose="an evaluation")
        # An array of objects would be a column that Polars can do nothing with.
        data = polars.DataFrame({k: v.tolist() if _is_objects(v) else v for k, v in data.items()})
    return scan(data, errors=errors)


class _Table(NamedTuple):
    """Rows to look at, how many each stands for, and of how many rows they are a sample."""

    frame: Any = None
    counts: Any = None
    total: int | None = None


def _table_of(source: Source, roles: Roles, seed: int) -> _Table:
    """Return the rows of a small table, and the distinct rows of a large one with their counts."""
    if source.log is not None or source.is_small:
        return _Table(source.columns)
    names = [c for role, columns in roles.chosen() for c in columns if role != "id"]
    if not names:
        return _Table()
    cells = cells_of(source.frame, names, seed=seed)
    if cells.is_sample:
        if source.engine == "polars":  # a sample would lose labels that only some rows have
            return _Table(source.columns)
        return _Table(cells.rows, None, cells.n)
    return _Table(cells.rows, cells.counts)


def _without_nan(frame: Any, labels: Sequence[str]) -> tuple[Any, str]:
    """Return the rows with null for NaN in columns of labels, as in any other table, and how."""
    empty = [
        name
        for name in labels
        if name in frame.columns and frame[name].dtype.is_float() and frame[name].is_nan().any()
    ]
    if not empty:
        return frame, ""
    filled = frame.with_columns(frame[name].fill_nan(None) for name in empty)
    return filled, f".with_columns(pl.col({empty!r}).fill_nan(None))"


class _Matched(NamedTuple):
    """What was said of spellings that were read as one, and the code that does it again."""

    said: tuple[str, ...] = ()
    code: str = ""


def _matched(
    frame: Any, roles: Roles, metric: MetricBase | None, counts: Any
) -> tuple[Any, _Matched]:
    """Return the rows with one spelling for each class."""
    polars = require("polars", purpose="an evaluation")
    names = [*roles.label, *roles.pred, *roles.weak, *roles.judge] if roles else ["vote", "gold"]
    kinds: tuple[Any, ...] = (polars.String, polars.Categorical, polars.Enum)
    there = [n for n in names if n in frame.columns]
    if any(frame[n].dtype in kinds for n in there):
        kinds = (*kinds, polars.Boolean)  # beside text, true and false are words
    texts = [n for n in there if frame[n].dtype in kinds]
    known = () if metric is None or metric.classes is None else metric.classes
    columns = [frame[n].cast(polars.String) for n in texts]
    found = match_spellings({c.name: by_frequency(c, counts) for c in columns}, known)
    if not found.replace and not any(frame[n].dtype == polars.Boolean for n in texts):
        return frame, _Matched()
    code = f".with_columns(pl.col({texts!r}).cast(pl.String).replace({found.replace!r}))"
    frame = frame.with_columns(c.replace(found.replace) for c in columns)
    return frame, _Matched(found.said, code)


def _positive(given: Any, metric: MetricBase | None, frame: Any, roles: Roles) -> Any:
    """Return the positive class that was named, or the metric's, as the columns hold it."""
    columns = [frame[n] for n in (*roles.label, *roles.pred) if n in frame.columns]
    labels = {label for column in columns for label in column.drop_nulls().unique().to_list()}
    known = None if metric is None else metric.classes
    if given is not None:
        alike = [c for c in labels if c not in (given,) and _folded(c) == _folded(given)]
        found = given if given in labels or len(alike) != 1 else alike[0]
        if known is not None and len(known) == 2 and not same_label(found, known[-1]):
            refuse_option(given, "pos_label", f"{known[-1]!r}, the positive class of the metric")
        return found
    if known is None or len(known) != 2:
        return None
    return next((label for label in labels if same_label(label, known[-1])), None)


def _folded(label: Any) -> str:
    return str(label).strip().casefold()


def _check_common(frame: Any, roles: Roles) -> None:
    """Refuse predictions that have no class in common with the labels: another column."""
    if len(roles.label) != 1:
        return
    label = roles.label[0]
    truth = set(frame[label].drop_nulls().unique().to_list())
    for name in roles.pred:
        called = set(frame[name].drop_nulls().unique().to_list())
        if len({isinstance(c, str) for c in truth | called}) > 1:
            continue  # numbers beside text have a sentence of their own
        if truth and called and not truth & called and max(len(truth), len(called)) > 1:
            held = [", ".join(map(repr, sorted(map(str, some))[:3])) for some in (truth, called)]
            raise LabelError(
                f"label {label} and pred {name} have no class in common ({held[0]} and {held[1]}), "
                "so that every prediction would count as wrong; is one of them another column?"
            )


class _Rows(NamedTuple):
    """Votes, a row each; all verdicts of a log; and why a log has no votes to learn errors from."""

    votes: Any = None
    log: Any = None
    problem: str = ""


def _rows_of(source: Source, long: Mapping[str, str] | None) -> _Rows:
    """Return the votes of a log, or of a table that has no other part named."""
    if long is not None:
        if set(source.chosen):
            raise OptionError(
                Option("long"),
                " names all columns of votes",
                Remedy("leave out ", Option("label"), ", ", Option("judge"), " and so on"),
            )
        return _Rows(long_votes(source.columns, long))
    if source.log is not None and "judge" in source.names:
        try:
            return _Rows(long_votes(source.votes()), source.columns)
        except EmptyDataError as error:
            return _Rows(None, source.columns, error.sentence)
    if set(source.chosen) - {"group", "id"} or not source.is_small:
        return _Rows()
    table = source.columns if not source.chosen else scan(source.frame.to_native()).columns
    return _Rows(long_votes(table))


def _metric(given: Any) -> dict[str, Any]:
    """Return the metric, its code, and the flag that names it to a command."""
    if given is None:
        return {}
    if isinstance(given, str) and given.endswith(".json"):
        metric, code = load_metric(Path(given)), f"load_metric({given!r})"
    else:
        metric, code = as_metric(given), repr(given)
    return {"metric": metric, "metric_code": code, "metric_flag": flag("metric", _name(given))}


def _name(metric: Any) -> str:
    # A metric that has no name has to be saved before a command can read it.
    return metric if isinstance(metric, str) else "metric.json"


def _given(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value is not None}


def _named(
    data: Any, source: Source, long: Mapping[str, str] | None, errors: str
) -> dict[str, Any]:
    """Return the line of code that reads the data, and the file as a command would name it."""
    is_file = isinstance(data, str | Path)
    what = repr(str(data)) if is_file else "data"
    read = f"frame = karat.scan({what}{'' if errors == 'failures' else f', errors={errors!r}'})"
    is_log = source.log is not None and "judge" in source.names
    read += ".votes()" if is_log else f".columns{joined_code(long or {})}"
    return {"read": read, **({"file": shlex.quote(str(data))} if is_file else {})}


def _joined(long: Mapping[str, str] | None) -> str | None:
    return None if long is None else ",".join(f"{part}={name}" for part, name in long.items())


def _command(file: str, asked: Mapping[str, Any]) -> str:
    """Return the command that makes the page again, nothing where the data are in no file."""
    if file == "FILE":
        return ""
    usual = {"confidence": 0.95}
    named = {k: v for k, v in _given(asked).items() if usual.get(k) != v}
    if "metric" in named:
        named["metric"] = _name(named["metric"])
    lists = {k: v if isinstance(v, list | tuple) else [v] for k, v in named.items()}
    flags = "".join(flag(k.replace("_", "-"), *v) for k, v in lists.items())
    return f"karat evaluate {file}{flags} --output report.html"


def _check_items(e: Evidence, source: Source) -> None:
    """Warn of items that have several rows: limits take rows for independent."""
    name = e.roles.id
    if name is None or not (e.roles.pred or e.roles.score or e.roles.prob):
        return
    rows = e.n if e.total is None else e.total
    if name in e.frame.columns:
        items, are_fewer = e.frame[name].n_unique(), e.frame[name].n_unique() < rows
    else:
        items = about_distinct(source.frame, name)
        are_fewer = items < _SKETCHED * rows
    if are_fewer:
        warnings.warn(
            f"the column {name} names {items:,} items in {rows:,} rows; rows of one item are not "
            "independent, and the limits are too narrow where they are alike: keep one row per "
            "item, or ask metric.estimate with clusters, karat score with --cluster",
            KaratWarning,
            stacklevel=caller_level(),
        )


def _answers(evidence: Evidence) -> tuple[list[Finding], list[LeftOut]]:
    """Ask every question; one that fails is left out with its reason, and the others stand."""
    found: list[Finding] = []
    missing: list[LeftOut] = []
    failed: list[KaratError] = []
    unknown: list[PositiveClassError] = []
    for question in QUESTIONS:
        if not question.needs <= evidence.parts:
            continue
        try:
            answer = question.answer(evidence)
        except OptionError:
            raise  # a mistake of the caller, and none of the data
        except PositiveClassError as error:
            unknown.append(error)
            missing.append(
                LeftOut(question=question.words, unlock=Sentence("the positive class: ", error))
            )
            continue
        except KaratError as error:
            failed.append(error)
            missing.append(LeftOut(question=question.words, unlock=error.sentence, faulty=True))
            continue
        if isinstance(answer, Finding):
            found.append(answer)
        elif answer is not None:
            missing.append(answer)
    if (failed or unknown) and not found:
        raise (failed or unknown)[0]
    if not unknown and evidence.roles.pred and evidence.n_known and evidence.is_open:
        missing.append(
            LeftOut(
                question="Precision, recall and F1?",
                unlock=Sentence("the positive class: ", evidence.is_open),
            )
        )
    for reason in failed:
        warnings.warn(KaratWarning("a question was left out: ", reason), stacklevel=caller_level())
    return found, missing


def _is_objects(column: Any) -> bool:
    return isinstance(column, np.ndarray) and column.dtype.kind == "O"


def _no_roles(guess: Roles, columns: list[str]) -> str:
    if not guess:
        return f"no column has a role; name some with label=, pred=, judge= … of {named(columns)}"
    call = ", ".join(
        f"{name}={(found[0] if len(found) == 1 else list(found))!r}"
        for name, found in guess.chosen()
    )
    return f"no column has a role; by their names they may be evaluate(data, {call})"


def _facts(e: Evidence, name: str, log: str) -> tuple[tuple[str, str], ...]:
    facts = [("data", name), ("rows", f"{e.n if e.total is None else e.total:,}")]
    if e.total is not None:
        facts.append(("looked at", f"a random sample of {e.n:,} rows"))
    if log:
        facts.append(("log", log))
    if e.roles.label:
        facts.append(("rows with a true label", f"{e.n_known:,}"))
        classes = e.column(e.roles.label[0]).drop_nulls().unique().sort()
        if len(e.roles.label) == 1 and len(classes) == 2:
            facts.append(("positive class", e.positive_said))
    facts.append(("confidence of each limit", f"{100 * e.confidence:g} %"))
    facts += [(f"columns of {name}", ", ".join(found)) for name, found in e.roles.chosen()]
    content = BytesIO()
    e.frame.write_ipc(content)
    if e.counts is not None:
        content.write(e.counts.tobytes())
    if e.counted is not None:
        content.write(_content(e.counted))
    facts.append(
        ("fingerprint of these columns", hashlib.sha256(content.getvalue()).hexdigest()[:16])
    )
    return tuple(facts)
