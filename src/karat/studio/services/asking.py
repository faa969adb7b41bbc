"""The only place that touches ``karat.elicit``: spaces of studies, elicitations, quizzes, guesses.

`StudyData` is what questions are made of, `Asked` a study's space with its options, kept by the
process. Elicitations are begun, restored from snapshots or replayed from answers. Everything
computes under one lock a process: NumPy would not run faster in two threads, and what a space
remembers is not made for them.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.elicit import (
    BinarySpace,
    Elicitation,
    ElicitationResult,
    Query,
    RateSpace,
    evaluation_pairs,
)
from karat.elicit.by_name import SPACES, space_name
from karat.elicit.spaces import Space
from karat.exceptions import ElicitationError
from karat.metrics import FairMetric, cost_matrix
from karat.metrics.base import MetricBase
from karat.studio.data import StudyData, unpack_data
from karat.studio.schemas import FormField, StudyConfig, StudyOptions


def drawn_pairs(asked: Asked, seed: int) -> list[dict[str, Any]]:
    """Return a person's evaluation pairs, with the side that each is shown on.

    Where no pairs are as good as the questions have to be, any that pose a question will do.
    """
    options = asked.config.options
    rng = np.random.default_rng([seed, 1])
    swapped = rng.random(options.n_evaluation) < 0.5
    with COMPUTING:
        for worst in (options.worst_rate, 1.0):
            try:
                pairs = evaluation_pairs(
                    asked.space,
                    options.n_evaluation,
                    out_of=options.out_of,
                    worst_rate=worst,
                    rng=np.random.default_rng([seed, 2]),
                )
            except ElicitationError:
                continue
            return [
                {**sides_of(pair), "swapped": bool(side)}
                for pair, side in zip(pairs, swapped, strict=True)
            ]
    return []


# --- What a person guesses of the costs without being asked about pairs: the baseline (G7).

_LEAST, _MOST = 1e-6, 1e6


def guess_fields(asked: Asked) -> tuple[FormField, ...]:
    """Return the questions: a ratio of two classes, or what an error of each of more costs."""
    words, k = words_of(asked), asked.space.n_classes
    number: dict[str, Any] = {"kind": "number", "minimum": _LEAST, "maximum": _MOST}
    fields = []
    if k == 2:
        text = (
            f"How many {words.items} that {words.truth[0]} but are predicted as "
            f"“{words.predicted[1]}” are as bad as one that {words.are(1)} but is predicted as "
            f"“{words.predicted[0]}”? Write 10 if one of the latter is ten times as bad, 0.1 if it "
            "is a tenth as bad."
        )
        fields.append(FormField(name="ratio", text=text, **number))
    else:
        for i in range(k):
            text = (
                f"How bad is one error about {words.items} that {words.truth[i]}? Any unit will do."
            )
            fields.append(FormField(name=f"cost_{i}", text=text, **number))
    if asked.fair:
        text = (
            "How many points of error rate is one point of difference between the error rates of "
            "two groups worth? Write 1 if both are equally bad, 0.1 if a difference is a tenth as "
            "bad."
        )
        fields.append(FormField(name="gap", text=text, **number))
    return tuple(fields)


def guess_metric(asked: Asked, guess: Mapping[str, float | None]) -> MetricBase | None:
    """Return the metric that a guess amounts to; None where the person made none."""
    k = asked.space.n_classes
    names = ["ratio"] if k == 2 else [f"cost_{i}" for i in range(k)]
    given = [guess.get(name) for name in names]
    if any(value is None for value in given):
        return None
    known = [float(value) for value in given if value is not None]
    costs = np.array([1.0, *known]) if k == 2 else np.array(known)
    table = costs[:, None] * (1.0 - np.eye(k))
    gap = guess.get("gap")
    if not asked.fair:
        return cost_matrix(table)
    if gap is None:
        return None
    # Costs of cases become costs of rates: a point of a class's rate is so many of its cases.
    rates = (table * np.asarray(asked.space.prior)[:, None])[~np.eye(k, dtype=bool)]
    rates = rates / rates.sum()
    m = len(asked.groups or ())
    pairs = np.tile(rates, (m * (m - 1) // 2, 1))
    return FairMetric(rates, pairs, float(gap) / (1.0 + float(gap)))


# --- What a person's answers say, in words for that person.


def own_words(
    asked: Asked, result: ElicitationResult, guess: Mapping[str, float | None] | None
) -> list[str]:
    """Return sentences on what a person's answers have in common, and on their guess."""
    if result.status == "flagged":
        return ["Your answers do not fit together well enough to say what they have in common."]
    said = [_ratio(asked, result)] if len(result.ratios) == 1 else _many(result)
    guessed = None if guess is None else guess.get("ratio")
    if guessed is not None and len(result.ratios) == 1:
        said.append(f"You guessed {guessed:.3g}.")
    if result.status == "undecided":
        said.append("More answers would be needed to be sure of this.")
    return said


def _ratio(asked: Asked, result: ElicitationResult) -> str:
    words, ratio = words_of(asked), result.ratios[0]
    return (
        f"By your answers, one of the {words.items} that {words.truth[1]} but are predicted as "
        f"“{words.predicted[0]}” is as bad as {_limits(ratio.value, ratio.lower, ratio.upper)} "
        f"that {words.truth[0]} but are predicted as “{words.predicted[1]}”."
    )


def _limits(value: float, lower: float, upper: float) -> str:
    if np.isinf(upper):
        return f"{value:.2g} (at least {lower:.2g})"
    return f"{value:.2g} (between {lower:.2g} and {upper:.2g})"


def _many(result: ElicitationResult) -> list[str]:
    if result.trade_off is not None:
        return [result.trade_off.summary()]
    rows = [f"{r.name}: {_limits(r.value, r.lower, r.upper)}" for r in result.ratios]
    return [f"By your answers, {'; '.join(rows)}."] if rows else [result.description]


# --- Elicitations: begun, restored from bytes, replayed from answers, and told answers.


def begin(asked: Asked, seed: int) -> Elicitation:
    """Return the elicitation of a person before the first question."""
    options = asked.config.options
    own: dict[str, Any] = {"same_pairs": options.same_pairs} if asked.fair else {}
    with COMPUTING:
        return Elicitation(
            asked.space,
            options.family,
            out_of=options.out_of,
            agreement=options.agreement,
            precision=options.precision,
            worst_rate=options.worst_rate,
            max_queries=options.max_queries,
            checks=options.checks,
            rng=seed,
            **own,
        )


def restored(asked: Asked, snapshot: bytes) -> Elicitation:
    """Return the elicitation of a snapshot; raises `TranscriptError` where it cannot be used."""
    with COMPUTING:
        return Elicitation.restore(asked.space, snapshot)


def replayed(asked: Asked, seed: int, payloads: Sequence[dict[str, Any]]) -> Elicitation:
    """Return the elicitation after the answers of a log, where no snapshot can be used."""
    with COMPUTING:
        fresh = begin(asked, seed)
        transcript = replace(
            fresh.transcript,
            answers=tuple(payload["answer"] for payload in payloads),
            queries=tuple((payload["first"], payload["second"]) for payload in payloads),
            kinds=tuple(payload["kind"] for payload in payloads),
            kept=tuple(payload["kept"] for payload in payloads),
        )
        return Elicitation.resume(asked.space, transcript)


def tell(elicitation: Elicitation, answer: str, kept: dict[str, Any]) -> None:
    """Tell an elicitation an answer, and what is kept beside it."""
    with COMPUTING:
        elicitation.tell(answer, **kept)


def next_query(elicitation: Elicitation, seed: int, seq: int) -> dict[str, Any] | None:
    """Return the next question with the side it is shown on; None where all is asked.

    Sides are shown at random. A question that is asked again is shown the other way round, so it
    takes the draw of the first time: its own sides are swapped already.
    """
    with COMPUTING:
        query = elicitation.ask()
        if query is None:
            return None
        swapped = bool(np.random.default_rng([seed, seq]).random() < 0.5)
        if query.kind == "repeat":
            swapped = _swapped_before(elicitation, query, swapped)
        return {**sides_of(query), "swapped": swapped, "number": len(elicitation.answers) + 1}


def _swapped_before(elicitation: Elicitation, query: Query, otherwise: bool) -> bool:
    told = elicitation.transcript
    for (first, second), kept in zip(reversed(told.queries), reversed(told.kept), strict=True):
        earlier = query_of({"first": second, "second": first})
        if np.allclose(earlier.first, query.first) and np.allclose(earlier.second, query.second):
            return bool(kept.get("swapped", otherwise))
    return otherwise


# --- Questions as data, and as whole numbers to be shown.


def sides_of(query: Query) -> dict[str, Any]:
    """Return a question as plain data."""
    return {
        "first": query.first.tolist(),
        "second": query.second.tolist(),
        "kind": query.kind,
    }


def query_of(sides: dict[str, Any]) -> Query:
    """Return the question that `sides_of` gave."""
    kind = sides.get("kind", "question")
    return Query(np.array(sides["first"]), np.array(sides["second"]), kind=kind)


def counts_of(sides: dict[str, Any], out_of: int) -> tuple[IntArray, IntArray]:
    """Return both sides as whole numbers in the order in which they are shown."""
    first, second = query_of(sides).counts(out_of)
    return (second, first) if sides.get("swapped") else (first, second)


# --- Questions with known answers: do people read the figures? (Hiranandani 2021, figures 8.6–8.9).

QUIZ_PHASES = ("comprehension", "comparing", "simulation", "dominated")
_POINT = 1.0  # by which a percentage may be off
_GUESSING = 0.4  # share of guessing in the worse system of the dominated pair


class Key(NamedTuple):
    """A question and its right answer: a number, or one of both systems."""

    name: str
    text: str
    key: float | str
    tolerance: float = 0.0

    def right(self, answer: Any) -> bool:
        """Whether an answer is right."""
        if answer is None or isinstance(self.key, str):
            return answer is not None and answer == self.key
        return abs(float(answer) - self.key) <= self.tolerance


class Quiz(NamedTuple):
    """A page of the quiz: the pair that is shown, and the questions about it."""

    sides: dict[str, Any]
    keys: tuple[Key, ...]


def quiz_of(asked: Asked, phase: str) -> Quiz:
    """Return a page of the quiz; the same for everyone in a study."""
    with COMPUTING:
        query = _dominated(asked) if phase == "dominated" else _pair(asked)
        first, second = query.counts(asked.config.options.out_of)
    sides = {"first": query.first.tolist(), "second": query.second.tolist(), "kind": query.kind}
    words, groups = words_of(asked), asked.groups
    where = "" if groups is None else f"In the group {groups[0]}: "
    shown = (first, second) if groups is None else (first[0], second[0])
    keys = {
        "comprehension": _comprehension,
        "comparing": _comparing,
        "simulation": _simulation,
        "dominated": _preferred,
    }[phase](words, *shown)
    if phase != "dominated":
        keys = tuple(key._replace(text=where + key.text) for key in keys)
    return Quiz({**sides, "swapped": False}, keys)


def _comprehension(words: Words, a: IntArray, b: IntArray) -> tuple[Key, ...]:
    k = len(a) - 1

    def question(system: str, i: int, j: int) -> str:
        return (
            f"How many {words.items} that {words.truth[i]} were predicted as "
            f"“{words.predicted[j]}” by {system}?"
        )

    return (
        Key("missed", question(words.systems[0], k, 0), float(a[k, 0])),
        Key("rejected", question(words.systems[1], 0, 0), float(b[0, 0])),
    )


def _comparing(words: Words, a: IntArray, b: IntArray) -> tuple[Key, ...]:
    k = len(a) - 1

    def more(i: int, j: int) -> str:
        return (
            f"Which system has more {words.items} that {words.truth[i]} but were predicted as "
            f"“{words.predicted[j]}”?"
        )

    of_truth = (
        f"In {words.systems[0]}, among {words.items} that {words.truth[0]}, what percentage were "
        f"predicted as “{words.predicted[k]}”?"
    )
    of_predicted = (
        f"In {words.systems[0]}, among {words.items} that were predicted as "
        f"“{words.predicted[k]}”, what percentage {words.truth[0]}?"
    )
    return (
        Key("more_false", more(0, k), _more(a[0, k], b[0, k])),
        Key("more_missed", more(k, 0), _more(a[k, 0], b[k, 0])),
        Key("share_of_truth", of_truth, _percent(a[0, k], float(a[0].sum())), _POINT),
        Key("share_of_predicted", of_predicted, _percent(a[0, k], float(a[:, k].sum())), _POINT),
    )


def _simulation(words: Words, a: IntArray, b: IntArray) -> tuple[Key, ...]:
    k = len(a) - 1

    def question(system: str) -> str:
        return (
            f"A new case comes, one that {words.are(k)}. How likely is it, in percent, that "
            f"{system} will predict “{words.predicted[0]}”?"
        )

    likely = _percent(a[k, 0], a[k].sum()), _percent(b[k, 0], b[k].sum())
    which = (
        f"A new case comes, one that {words.are(k)}. Which system is more likely to predict "
        f"“{words.predicted[0]}”?"
    )
    return (
        Key("chance_a", question(words.systems[0]), likely[0], _POINT),
        Key("chance_b", question(words.systems[1]), likely[1], _POINT),
        Key("likelier", which, _more(*likely)),
    )


def _preferred(words: Words, a: IntArray, b: IntArray) -> tuple[Key, ...]:
    better = "A" if np.trace(a) > np.trace(b) else "B"
    return (Key("preferred", "Which computer system would you prefer?", better),)


def _more(a: float, b: float) -> str:
    return "A" if a > b else "B" if b > a else "same"


def _percent(part: float, whole: float) -> float:
    return 100.0 * float(part) / float(whole) if whole else 0.0


def _pair(asked: Asked) -> Query:
    options = asked.config.options
    for worst in (options.worst_rate, 1.0):
        try:
            return evaluation_pairs(asked.space, 1, out_of=options.out_of, worst_rate=worst, rng=8)[
                0
            ]
        except ElicitationError:
            continue
    good = _good(asked)
    return Query(good, _worse(good))


def _good(asked: Asked) -> FloatArray:
    """Return the confusion of a good classifier, joint with the group where there are groups."""
    space: Any = asked.space
    if asked.fair:
        tables = [part.boundary(part.sign * np.ones(part.dim)) for part in space.parts]
        return np.asarray(np.stack(tables) * np.asarray(space.shares)[:, None, None])
    return np.asarray(space.boundary(space.sign * np.ones(space.dim)))


def _worse(good: FloatArray) -> FloatArray:
    guessing = np.repeat(good.sum(axis=-1, keepdims=True), good.shape[-1], axis=-1)
    return np.asarray((1 - _GUESSING) * good + _GUESSING * guessing / good.shape[-1])


def _dominated(asked: Asked) -> Query:
    """Return a pair of which the second side is better in every respect."""
    good = _good(asked)
    return Query(_worse(good), good, kind="dominated")


# --- What classes and predictions are called in a study.


class Words(NamedTuple):
    """Words for cases, for what is true of them, and for what is predicted."""

    items: str
    truth: list[str]  # "have cancer", "are malignant"
    predicted: list[str]
    systems: tuple[str, str]

    def are(self, i: int) -> str:
        """Return what is true of one case of a class: "has cancer", "is malignant"."""
        verb, _, rest = self.truth[i].partition(" ")
        one = {"are": "is", "have": "has", "do": "does"}.get(verb)
        return f"{one} {rest}" if one else self.truth[i]


def words_of(asked: Asked) -> Words:
    """Return a study's words; where the researcher gave none, its labels."""
    texts, classes = asked.config.texts, asked.classes
    k = len(classes)
    truth = list(texts.truth) if len(texts.truth) == k else [f"are {name}" for name in classes]
    predicted = list(texts.predicted) if len(texts.predicted) == k else classes
    return Words(texts.items, truth, predicted, texts.systems)


# --- A study's space and its options, kept by the process.

_KEPT = 16  # studies whose spaces a process keeps
COMPUTING = threading.RLock()
_spaces: OrderedDict[Any, Asked] = OrderedDict()


class Asked(NamedTuple):
    """What people of a study are asked about."""

    space: Space
    config: StudyConfig
    fair: bool

    @property
    def classes(self) -> list[str]:
        """The labels, as text."""
        return [str(label) for label in self.space.classes.tolist()]

    @property
    def groups(self) -> list[str] | None:
        """The names of the groups, as text; None where none are compared."""
        groups = getattr(self.space, "groups", None)
        return None if groups is None else [str(name) for name in groups.tolist()]


def check_space(data: StudyData, config: StudyConfig) -> str:
    """Build the space of new data, ask a first question, and return the space's fingerprint.

    Raises what the data lack, before anyone is asked.
    """
    with COMPUTING:
        asked = _build(data, config)
        options = config.options
        elicitation = Elicitation(
            asked.space, options.family, out_of=options.out_of, worst_rate=options.worst_rate
        )
        if elicitation.ask() is None:
            raise ElicitationError("there is nothing to ask about these data")
        return str(asked.space.fingerprint)


def asked_about(key: tuple[str, str], config: StudyConfig, load: Callable[[], bytes]) -> Asked:
    """Return the space of a study, built where this process has not seen it yet.

    ``key`` is the study's id and fingerprint; ``load`` reads its data.
    """
    with COMPUTING:
        place = (*key, config.options.family, config.options.space, config.options.smooth)
        asked = _spaces.pop(place, None)
        if asked is None:
            asked = _build(unpack_data(load()), config)
        elif asked.config is not config:
            asked = asked._replace(config=config)
        _spaces[place] = asked
        if len(_spaces) > _KEPT:
            _spaces.popitem(last=False)
        return asked


def asked_apart(config: StudyConfig, packed: bytes) -> Asked:
    """Return the space of a study, built anew: for long work, which keeps nobody waiting."""
    return _build(unpack_data(packed), config)


def _build(data: StudyData, config: StudyConfig) -> Asked:
    options = config.options
    fair = options.space == "groups"
    if fair and data.members is None:
        raise ElicitationError(
            "the space is 'groups' and the data have no groups; choose the column that holds them"
        )
    space = _space(data, options)
    space = space.smoothed() if options.smooth else space
    return Asked(space=space, config=config, fair=fair)


def _space(data: StudyData, options: StudyOptions) -> Space:
    labels = np.asarray(data.classes)
    name = space_name(options.family, len(labels), space=options.space)
    y_true, values = labels[data.codes], data.values
    if values.ndim == 1 and name == "binary":
        return BinarySpace.from_scores(y_true, values, classes=labels, pos_label=labels[1])
    proba = np.column_stack([1.0 - values, values]) if values.ndim == 1 else values
    if name == "groups":
        groups = np.asarray(data.groups)[data.members]
        return RateSpace.from_proba(y_true, proba, groups=groups, classes=labels)
    return SPACES[name].from_proba(y_true, proba, classes=labels)
