"""What is known of a person: their metric, how well it predicts them, and how they answered."""

import threading
import warnings
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from karat.elicit import (
    AgreementOnPairs,
    CheckScores,
    ElicitationResult,
    SharedMetric,
    agreement_on,
    indifference_test,
    score_checks,
    shared_metric,
)
from karat.elicit.checks import IndifferenceTest
from karat.exceptions import ElicitationError, KaratError, KaratWarning
from karat.metrics.base import MetricBase
from karat.studio.models import LogEntry, Person, Study
from karat.studio.services import asking, people, session, studies
from karat.studio.storage import Store
from karat.studio.words import in_fields

_KEPT = 2_000
_PERMUTATIONS = 999
_known: OrderedDict[tuple[str, int], "PersonResult"] = OrderedDict()
_lock = threading.Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonResult:
    """What a person's answers amount to.

    ``evaluation`` is 𝓜 of Hiranandani 2021, equation 8.2, with the person's own guess as baseline.
    ``closeness`` is the test whether time and errors grow near indifference, on the evaluation
    pairs where there are answers to them. ``quiz`` has right answers and all, by page.
    """

    person: Person
    phase: str
    progress: float
    result: ElicitationResult | None
    guess: dict[str, float | None] | None
    guess_metric: MetricBase | None
    evaluation: AgreementOnPairs | None
    checks: CheckScores | None
    closeness: IndifferenceTest | None
    quiz: dict[str, tuple[int, int]] = field(default_factory=dict)
    background: dict[str, Any] = field(default_factory=dict)
    post: dict[str, Any] = field(default_factory=dict)

    @property
    def n_answers(self) -> int:
        """Number of comparisons that the metric was learned from."""
        return 0 if self.result is None else self.result.n_queries

    @property
    def finished(self) -> bool:
        """Whether the person has come to the end."""
        return self.person.finished_at is not None


def person_result(store: Store, person_id: str) -> PersonResult | None:
    """Return what is known of a person; None if there is no such person.

    The last results are kept by the process: nothing changes while a person sends nothing.
    """
    here = session.current_step(store, person_id)
    if here is None:
        return None
    key = (person_id, here.person.seq)
    with _lock:
        if key in _known:
            _known.move_to_end(key)
            return _known[key]
    found = _computed(store, here)
    with _lock:
        _known[key] = found
        while len(_known) > _KEPT:
            _known.popitem(last=False)
    return found


def forget(person_id: str) -> None:
    """Forget what this process keeps of a person whose data are deleted."""
    with _lock:
        for key in [key for key in _known if key[0] == person_id]:
            del _known[key]


def _computed(store: Store, here: session.Here) -> PersonResult:
    person = here.person
    entries = people.log_of(store, person.id, effective=True)
    elicitation = session.elicitation_of(store, person, here.study)
    asked = studies.asked_of(store, here.study)
    result = _result_of(elicitation)
    told = {entry.phase: entry.payload for entry in entries}
    guess = told.get("guess")
    baseline = None if guess is None else asking.guess_metric(asked, guess)
    evaluated = [entry for entry in entries if entry.phase == "evaluation"]
    return PersonResult(
        person=person,
        phase=here.phase,
        progress=here.progress,
        result=result,
        guess=guess,
        guess_metric=baseline,
        evaluation=_evaluation(result, evaluated, baseline),
        checks=None if result is None or not result.n_queries else score_checks(result),
        closeness=_closeness(result, evaluated),
        quiz={p: (v["score"], v["of"]) for p, v in told.items() if p in asking.QUIZ_PHASES},
        background=told.get("questionnaire", {}),
        post=told.get("post", {}),
    )


def _result_of(elicitation: Any) -> ElicitationResult | None:
    if elicitation is None or not elicitation.answers:
        return None
    with asking.COMPUTING, warnings.catch_warnings():
        # What a warning says is in the result's status, and in its summary.
        warnings.simplefilter("ignore", KaratWarning)
        return elicitation.result  # type: ignore[no-any-return]


def _evaluation(
    result: ElicitationResult | None, entries: list[LogEntry], baseline: MetricBase | None
) -> AgreementOnPairs | None:
    if result is None or not entries:
        return None
    pairs = [asking.query_of(entry.payload) for entry in entries]
    answers = [entry.payload["answer"] for entry in entries]
    try:
        return agreement_on(result.metric, pairs, answers, baseline=baseline)
    except KaratError:  # a metric that is undefined at a pair
        return None


def _closeness(
    result: ElicitationResult | None, entries: list[LogEntry]
) -> IndifferenceTest | None:
    if result is None:
        return None
    records = [
        {
            "query": asking.query_of(entry.payload),
            "answer": entry.payload["answer"],
            "seconds": entry.payload["kept"]["seconds"],
        }
        for entry in entries
    ]
    try:
        if len(records) < 5:
            return indifference_test(result, n_permutations=_PERMUTATIONS, rng=0)
        return indifference_test(records, metric=result.metric, n_permutations=_PERMUTATIONS, rng=0)
    except KaratError:
        return None


def shared_result(
    store: Store, study: Study, *, kinds: Sequence[str] = ("person",), rng: int = 0
) -> SharedMetric | str:
    """Return what all people of a study want together, or a sentence on why it cannot be said."""
    asked = studies.asked_apart_of(store, study)
    asked_people = people.list_of(store, study.id, kinds=kinds)
    found = [person_result(store, person.id) for person in asked_people]
    usable = [
        (known.person.label or known.person.id[:6], known.result)
        for known in found
        if known is not None and known.result is not None and known.result.status != "flagged"
    ]
    if len(usable) < 2:
        return "At least two people whose answers fit a metric are needed."
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KaratWarning)
            return shared_metric(
                asked.space,
                [result for _, result in usable],
                names=[name for name, _ in usable],
                rng=np.random.default_rng(rng),
            )
    except ElicitationError as error:
        return f"{in_fields(error.sentence)}."


def table_of_answers(
    store: Store, study: Study, *, kinds: Sequence[str] = ("person",)
) -> dict[str, dict[str, int]]:
    """Return how often each answer of the questionnaire was given (Hiranandani 2021, table 8.1)."""
    config = studies.config_of(study)
    counts: dict[str, dict[str, int]] = {field.name: {} for field in config.questionnaire}
    for person in people.list_of(store, study.id, kinds=kinds):
        for entry in people.log_of(store, person.id, effective=True):
            if entry.phase != "questionnaire":
                continue
            for name, value in entry.payload.items():
                row = counts.setdefault(name, {})
                for one in value if isinstance(value, list) else [value]:
                    text = "no answer" if one is None else _shown(one)
                    row[text] = row.get(text, 0) + 1
    return counts


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
