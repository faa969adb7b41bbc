"""Whoever answers a question: a metric with the slips of a person, or a person at a terminal.

An oracle is called with a `Query` and returns an answer; `MetricOracle` simulates someone whose
metric is known, `RandomOracle` someone who does not look, and `TerminalOracle` shows both
confusions as counts and reads what is typed. The counts are told apart by ``counts_by_group`` and
written by ``comparison_text``; ``leave_at_once`` lets Ctrl-C end the reading of an answer.
"""

import signal
import sys
import threading
from typing import Any, TextIO

import numpy as np

from karat._typing import FloatArray, IntArray
from karat._validate import (
    check_choice,
    check_classes,
    check_count,
    check_number,
    check_rng,
    refuse_option,
)
from karat.elicit.transcript import Answer, Query
from karat.metrics import as_metric
from karat.metrics.base import Metric, MetricBase
from karat.metrics.families import class_name


class MetricOracle:
    """Answers queries by a metric, with the slips of a person.

    Parameters
    ----------
    metric : Metric or str
        The metric that the simulated person answers by.
    noise : float, default 0
        Pairs whose values differ by less are answered at random (Hiranandani 2021,
        Definition 2.4).
    flip : float, default 0
        Probability that an answer is inverted, whatever else led to it.
    scale : float, optional
        Noise that grows toward indifference: the first side is preferred with the probability
        ``1 / (1 + exp(−d / scale))``, d being its value less that of the second. With ``flip`` that
        is ``flip + (1 − 2·flip) / (1 + exp(−d / scale))``. None: the better side, always.
    tie : float, default 0
        Pairs whose values differ by no more are called a tie.
    rng : int or generator, optional
        Randomness of the slips.

    Examples
    --------
    >>> from karat.elicit import Query
    >>> from karat.metrics import accuracy
    >>> import numpy as np
    >>> better, worse = np.diag([0.5, 0.5]), np.full((2, 2), 0.25)
    >>> MetricOracle(accuracy)(Query(better, worse))
    'first'
    """

    def __init__(
        self,
        metric: MetricBase | str,
        *,
        noise: float = 0.0,
        flip: float = 0.0,
        scale: float | None = None,
        tie: float = 0.0,
        rng: int | np.random.Generator | None = None,
    ) -> None:
        self.metric = as_metric(metric)
        self.noise = check_number(noise, "noise", at_least=0.0)
        self.flip = check_number(flip, "flip", at_least=0.0, at_most=1.0)
        self.scale = None if scale is None else _checked_scale(scale)
        self.tie = check_number(tie, "tie", at_least=0.0)
        self.rng = check_rng(rng)
        self.n_answers = 0

    def __call__(self, query: Query) -> Answer:
        """Answer a query."""
        self.n_answers += 1
        gap = metric_margin(self.metric, query)
        if abs(gap) <= max(self.tie, ROUNDING):
            return "tie"
        if abs(gap) < self.noise:
            return "first" if self.rng.random() < 0.5 else "second"
        first = gap > 0
        if self.scale is not None:
            # exp of minus the size overflows for neither sign
            slip = np.exp(-abs(gap) / self.scale)
            first ^= bool(self.rng.random() < slip / (1.0 + slip))
        flipped = self.flip > 0 and self.rng.random() < self.flip
        return "first" if first != flipped else "second"


def _checked_scale(scale: float) -> float:
    if check_number(scale, "scale", at_least=0.0) == 0.0:
        refuse_option(scale, "scale", "a number above 0, or None for answers without such noise")
    return float(scale)


_COIN: tuple[Answer, Answer] = ("first", "second")
_ALWAYS: dict[str, Answer] = {"first": "first", "second": "second", "tie": "tie"}


class RandomOracle:
    """Answers queries without looking at them, to test that nobody is fooled by it.

    Parameters
    ----------
    kind : {"coin", "first", "second", "tie"}, default "coin"
        A coin, or the same answer always.
    rng : int or generator, optional
        Randomness of the coin.

    Examples
    --------
    >>> from karat.elicit import Query
    >>> import numpy as np
    >>> RandomOracle("first")(Query(np.full((2, 2), 0.25), np.diag([0.5, 0.5])))
    'first'
    """

    def __init__(self, kind: str = "coin", *, rng: int | np.random.Generator | None = None) -> None:
        self.kind = check_choice(kind, "kind", ("coin", *_ALWAYS))
        self.rng = check_rng(rng)
        self.n_answers = 0

    def __call__(self, query: Query) -> Answer:
        """Answer a query."""
        self.n_answers += 1
        return _ALWAYS.get(self.kind) or _COIN[int(self.rng.integers(2))]


KEYS = {
    "1": "first",
    "f": "first",
    "first": "first",
    "2": "second",
    "second": "second",
    "t": "tie",
    "=": "tie",
    "tie": "tie",
    "s": "skip",
    "skip": "skip",
}


class TerminalOracle:
    """Asks a person at the terminal, which of two classifiers is better.

    Confusions are shown as numbers of cases, not as rates (Hiranandani 2021, guideline G2). Ctrl-C
    raises `KeyboardInterrupt` at once; the elicitation then still has every answer that was given.

    Parameters
    ----------
    classes : column (k,), optional
        Names of the classes, in the order of the confusions; by default they are numbered from 0.
    out_of : int, default 1000
        Number of cases that each confusion is shown for, in every group if there are groups.
    groups : column (m,), optional
        Names of the groups, in the order of the confusions; by default they are numbered from 0.
    stream_in, stream_out : text streams, optional
        Where answers come from and questions go; by default the terminal.
    """

    def __init__(
        self,
        classes: Any = None,
        *,
        out_of: int = 1000,
        groups: Any = None,
        stream_in: TextIO | None = None,
        stream_out: TextIO | None = None,
    ) -> None:
        self.classes = None if classes is None else check_classes(classes)
        self.groups = None if groups is None else check_classes(groups)
        self.out_of = check_count(out_of, "out_of")
        self.stream_in, self.stream_out = stream_in, stream_out
        self.n_answers = 0

    def __call__(self, query: Query) -> str:
        """Show a query and read the answer; asks again until it is one."""
        out = self.stream_out or sys.stdout
        self.n_answers += 1
        print(f"\nQuestion {self.n_answers}: which classifier is better?\n", file=out)
        print(comparison_text(query, self.classes, self.out_of, self.groups), file=out)
        leave_at_once()
        while True:
            print("1 the first, 2 the second, t a tie, s skip > ", end="", file=out, flush=True)
            line = (self.stream_in or sys.stdin).readline()
            if not line:
                raise EOFError("the answers ended before the questions; nothing given is lost")
            answer = KEYS.get(line.strip().lower())
            if answer is not None:
                return answer
            print(f"{line.strip()!r} is no answer.", file=out)


# --- Two confusions as text that people can compare: whole numbers of cases, side by side.


def counts_by_group(
    query: Query, out_of: int, groups: Any = None
) -> list[tuple[str | None, IntArray, IntArray]]:
    """Return the name and the counts of both sides of each group.

    Without groups there is one entry, whose name is None.
    """
    first, second = query.counts(out_of)
    if first.ndim == 2:
        return [(None, first, second)]
    known = range(len(first)) if groups is None else groups
    names = [name if isinstance(name, str) else f"group {name}" for name in known]
    return list(zip(names, first, second, strict=True))


def comparison_text(query: Query, classes: Any, out_of: int, groups: Any = None) -> str:
    """Return both confusions as a table of text, one line for each kind of outcome."""
    return "\n\n".join(
        _table(name, first, second, classes, out_of)
        for name, first, second in counts_by_group(query, out_of, groups)
    )


def _table(group: str | None, first: IntArray, second: IntArray, classes: Any, out_of: int) -> str:
    k = len(first)
    names = [class_name(c) for c in (range(k) if classes is None else classes)]
    rows = []
    for i in range(k):
        for j in range(k):
            text = f"{names[i]} called {names[j]}" if i != j else f"{names[i]} recognised"
            rows.append((text, first[i, j], second[i, j], i == j))
    width = max(len(row[0]) for row in rows)
    head = f"of {out_of:,} cases" if group is None else f"of {out_of:,} in {group}"
    width = max(width, len(head))
    lines = [f"{head:<{width}}  {'first':>8}  {'second':>8}  difference"]
    for text, a, b, right in rows:
        change = b - a
        mark = "" if change == 0 else (" better" if (change > 0) == right else " worse")
        shown = "" if change == 0 else f"{change:+d}{mark}"
        lines.append(f"{text:<{width}}  {a:>8,}  {b:>8,}  {shown}")
    return "\n".join(lines)


def leave_at_once() -> None:
    """Let Ctrl-C end the reading of a line.

    Polars, once imported, replaces the handler by one after which the system goes on reading: the
    person would have to press Enter too. Python's own, put in place again, does not.
    """
    handler = signal.getsignal(signal.SIGINT)
    if handler is not None and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, handler)


# --- What a metric says of a question.

# Values that differ by less are equal: which is greater would be chance of the last digit.
ROUNDING = 1e-14


def metric_margin(metric: MetricBase, query: Query) -> float:
    """Return the value of the first side less that of the second.

    Groups are pooled for a metric that knows none.
    """
    if isinstance(metric, Metric) and np.shape(query.first) == np.shape(query.second):
        # Each is checked alone: what sums to 1 only together are two groups, and no question.
        sides = [metric._checked(side)[0] for side in (query.first, query.second)]
        if len(sides[0]) == 1:
            first, second = metric._values(np.concatenate(sides))
            return float(first - second)
    return _value(metric, query.first) - _value(metric, query.second)


def _value(metric: MetricBase, confusion: FloatArray) -> float:
    value: Any = metric(confusion)
    if np.ndim(value):
        value = metric(np.asarray(confusion).sum(axis=0))
    return float(value)
