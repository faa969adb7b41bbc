"""What is known of all people of a study, gathered for one page."""

import math
import threading
from collections import OrderedDict
from dataclasses import dataclass
from statistics import median
from typing import Any
from zlib import crc32

from karat.elicit import SharedMetric
from karat.elicit.result import NamedEstimate
from karat.limits import Limits, clopper_pearson
from karat.metrics import FairMetric
from karat.studio.charts import Interval
from karat.studio.models import Study
from karat.studio.services import people, results
from karat.studio.services.results import PersonResult
from karat.studio.storage import Store

KINDS = {"people": ("person",), "bots": ("bot",), "previews": ("preview",)}
_KEPT = 16
_shared: OrderedDict[Any, SharedMetric | str] = OrderedDict()
_lock = threading.Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """One number that every person's metric has: a ratio of costs, or the worth of a gap."""

    name: str
    rows: tuple[Interval, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A person in the table of all: the first quantity of their metric, and their guess of it."""

    known: PersonResult
    main: NamedEstimate | None
    guess: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementOfAll:
    """𝓜 of Hiranandani 2021, equation 8.2, of each person and of all answers together.

    ``metric`` and ``guess`` are shares of the same answers, those of people who made a guess;
    ``better``, ``equal`` and ``worse`` count people by which of both agrees with them more often.
    """

    rows: tuple[Interval, ...]
    metric: Limits | None
    guess: Limits | None
    n_answers: int
    better: int
    equal: int
    worse: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Response times against closeness (Definition 2.4): points, and how many people slow down."""

    points: tuple[tuple[float, float, bool], ...]
    n_people: int
    n_slower: int
    correlation: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """A study at a glance."""

    study: Study
    kind: str
    people: tuple[PersonResult, ...]
    table: dict[str, dict[str, int]]

    @property
    def n_finished(self) -> int:
        """People who came to the end."""
        return sum(known.finished for known in self.people)

    @property
    def n_answers(self) -> int:
        """Comparisons that metrics were learned from."""
        return sum(known.n_answers for known in self.people)

    def n_status(self, status: str) -> int:
        """Return how many people's answers are certified, undecided or flagged."""
        return sum(
            known.result is not None and known.result.status == status for known in self.people
        )

    @property
    def rows(self) -> list[Row]:
        """Each person with the first quantity of their metric."""
        rows = []
        for known in self.people:
            main = next(iter(_asked(known)), None)
            guess = None if main is None else guesses_of(known).get(main.name)
            rows.append(Row(known=known, main=main, guess=guess))
        return rows

    @property
    def quantities(self) -> list[Quantity]:
        """Each ratio of costs of each person, with limits, and the person's guess beside it."""
        found: dict[str, list[Interval]] = {}
        for known in self.people:
            if known.result is None:
                continue
            guessed = guesses_of(known)
            for weight in _asked(known):
                found.setdefault(weight.name, []).append(
                    Interval(
                        name_of(known),
                        weight.value,
                        weight.lower,
                        weight.upper,
                        guessed.get(weight.name),
                        known.result.status,
                    )
                )
        return [Quantity(name=name, rows=tuple(rows)) for name, rows in found.items()]

    @property
    def agreement(self) -> AgreementOfAll:
        """How often people's metrics agree with them, against their own guesses."""
        rows, hits, guessed, n, n_all = [], 0, 0, 0, 0
        compared = {"better": 0, "equal": 0, "worse": 0}
        for known in self.people:
            found = known.evaluation
            if found is None or found.n == 0:
                continue
            share, base = found, found.baseline
            n_all += found.n
            rows.append(
                Interval(
                    name_of(known),
                    100 * share.value,
                    100 * share.lower,
                    100 * share.upper,
                    None if base is None else 100 * base.value,
                )
            )
            if base is not None:
                n += found.n
                hits += round(share.value * found.n)
                guessed += round(base.value * found.n)
                way = (found.only_metric > found.only_baseline) - (
                    found.only_metric < found.only_baseline
                )
                compared[("equal", "better", "worse")[way]] += 1
        return AgreementOfAll(
            rows=tuple(rows),
            n_answers=n_all,
            **compared,
            metric=clopper_pearson(hits, n) if n else None,
            guess=clopper_pearson(guessed, n) if n else None,
        )

    @property
    def times(self) -> Times:
        """How long people took, against how close both sides were by their own metric.

        Margins are in units of each person's median, so that people can be shown together.
        """
        points: list[tuple[float, float, bool]] = []
        slopes = []
        for known in self.people:
            test = known.closeness
            if test is None:
                continue
            typical = median(test.margins.tolist()) if len(test.margins) else 0.0
            for margin, seconds, agrees in zip(
                test.margins, test.seconds, test.agrees, strict=True
            ):
                if typical > 0 and seconds > 0:  # NaN is not
                    points.append((float(margin) / typical, float(seconds), bool(agrees == 0)))
            if not math.isnan(test.time_correlation):
                slopes.append(test.time_correlation)
        return Times(
            points=tuple(points),
            n_people=len(slopes),
            n_slower=sum(slope < 0 for slope in slopes),
            correlation=median(slopes) if slopes else math.nan,
        )

    @property
    def checks(self) -> dict[str, tuple[int, int]]:
        """Checks answered rightly, of all: dominated pairs, repeated questions, and the quiz."""
        seen = [known.checks for known in self.people if known.checks is not None]
        quiz = [score for known in self.people for score in known.quiz.values()]
        return {
            "dominated pairs": (sum(c.n_right for c in seen), sum(c.n_dominated for c in seen)),
            "repeated questions": (sum(c.n_same for c in seen), sum(c.n_repeated for c in seen)),
            "questions about the figures": (sum(s for s, _ in quiz), sum(of for _, of in quiz)),
        }


def overview_of(store: Store, study: Study, *, kind: str = "people") -> Overview:
    """Return what is known of the people of a study; ``kind`` is people, bots or previews."""
    known = [
        results.person_result(store, person.id)
        for person in people.list_of(store, study.id, kinds=KINDS[kind])
    ]
    return Overview(
        study=study,
        kind=kind,
        people=tuple(one for one in known if one is not None),
        table=results.table_of_answers(store, study, kinds=KINDS[kind]),
    )


def shared_of(store: Store, study: Study, *, kind: str = "people") -> SharedMetric | str:
    """Return the metric that people share, or why there is none; kept until someone answers."""
    key = _key(store, study, kind)
    with _lock:
        if key in _shared:
            return _shared[key]
    found = results.shared_result(store, study, kinds=KINDS[kind])
    with _lock:
        _shared[key] = found
        while len(_shared) > _KEPT:
            _shared.popitem(last=False)
    return found


def known_shared(store: Store, study: Study, *, kind: str = "people") -> SharedMetric | str | None:
    """Return what `shared_of` has found of the same answers; None where nobody has asked."""
    with _lock:
        return _shared.get(_key(store, study, kind))


def _key(store: Store, study: Study, kind: str) -> tuple[Any, ...]:
    found = people.list_of(store, study.id, kinds=KINDS[kind])
    return (study.id, kind, *((person.id, person.seq) for person in found))


def forget(study_id: str, person_id: str) -> None:
    """Forget what this process keeps of a person whose data are deleted."""
    results.forget(person_id)
    with _lock:
        for key in [key for key in _shared if key[0] == study_id]:
            del _shared[key]


def mark_of(store: Store, study: Study, *, kind: str = "people") -> str:
    """Return a short text that changes whenever anyone of a study answers, comes or goes."""
    return f"{crc32(repr(_key(store, study, kind)).encode()):08x}"


def name_of(known: PersonResult) -> str:
    """Return what a person is called on the pages of a researcher."""
    return known.person.label or f"person {known.person.id[:6]}"


def _asked(known: PersonResult) -> list[NamedEstimate]:
    """Return the quantities of a person's metric: ratios of costs, and the worth of a gap."""
    if known.result is None:
        return []
    off = known.result.trade_off
    return [*known.result.ratios, *([] if off is None else [off.worth])]


# --- What a person's guess says of the quantities that were elicited, in the same words and units.


def guesses_of(known: PersonResult) -> dict[str, float]:
    """Return the guessed value of each ratio and of the worth of a gap, by its name.

    What a guess says nothing of is left out: it has one cost for each class, so it says nothing of
    what a class is taken for, nor of metrics that are not linear.
    """
    result, guess = known.result, known.guess
    if result is None or guess is None:
        return {}
    found: dict[str, float] = {}
    if (result.space, result.family) == ("binary", "linear") and guess.get("ratio") is not None:
        found[result.ratios[0].name] = float(guess["ratio"] or 0.0)
    if result.trade_off is not None and guess.get("gap") is not None:
        found[result.trade_off.worth.name] = float(guess["gap"] or 0.0)
    weights = _weights(known)
    for ratio in result.ratios:
        one, _, other = ratio.name.partition(" against ")
        if one in weights and other in weights and weights[other] > 0:
            found[ratio.name] = weights[one] / weights[other]
    return found


def _weights(known: PersonResult) -> dict[str, float]:
    """Return the weights that a guess amounts to, by the words that ratios use for them."""
    result, guess = known.result, known.guess or {}
    assert result is not None
    names = [weight.name.removeprefix("cost: ") for weight in result.weights]
    if (result.space, result.family) == ("diagonal", "linear"):
        given = [guess.get(f"cost_{i}") for i in range(len(names))]
        return {n: float(v) for n, v in zip(names, given, strict=True) if v is not None}
    if isinstance(known.guess_metric, FairMetric):
        return dict(zip(names, known.guess_metric.cost.tolist(), strict=False))
    return {}
