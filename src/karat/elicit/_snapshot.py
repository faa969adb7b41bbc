"""The state of an elicitation as bytes, and the search that goes on from it."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from karat._files import first_line
from karat._sentences import Argument, Option
from karat._typing import AnyArray
from karat._validate import shown
from karat.elicit.asking import (
    ActiveSearch,
    AttainablePairs,
    CheckPairs,
    Goal,
    Pending,
    Pool,
    SpherePairs,
    cached,
    draw_pool,
    told_apart,
)
from karat.elicit.families import Family
from karat.elicit.posterior import N_NOISE, AgreementPanel, Answers, Evidence, ParticlePosterior
from karat.elicit.spaces import BinarySpace
from karat.elicit.transcript import ANSWERS, KINDS, Query
from karat.exceptions import TranscriptError

if TYPE_CHECKING:
    from karat.elicit._elicitation import Elicitation


# --- The state of an elicitation as bytes.
#
# It is all that the next question depends on, so that no answers need be replayed. A snapshot is a
# header in JSON and arrays of numbers (``pack``); nothing in it is code. The classifiers that
# questions are made of are not in it: they belong to the space.

_WHOLE = "pass what elicitation.snapshot() gave, or resume from the transcript"


def write_search(search: ActiveSearch) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Return the state of a search as plain data and arrays."""
    source, checks, waiting = search.source, search.checks, search.pending
    header: dict[str, Any] = {
        "n_asked": search.n_asked,
        "learned": search.learned,
        "posteriors": [_described(p) for p in (search.posterior, *search.rivals)],
        "checks": None if checks is None else [checks.asked, checks.repeated],
        "pending": None if waiting is None else [waiting.query.kind, waiting.pair],
        "kinds": [query.kind for query in search.queries],
    }
    if isinstance(source, AttainablePairs):
        header["times"] = [[*pair, count] for pair, count in source.times.items()]
    else:
        header["skipped"] = source.skipped  # type: ignore[attr-defined]
    arrays: dict[str, AnyArray] = {"history": np.array(search.history)}
    answers = search.posterior.answers
    arrays |= {"first": answers.first, "second": answers.second, "signs": answers.signs}
    if search.queries:
        arrays["asked"] = np.stack([np.stack([q.first, q.second]) for q in search.queries])
    if waiting is not None:
        arrays["waiting"] = np.stack([waiting.query.first, waiting.query.second])
        arrays["waiting_at"] = np.stack([waiting.first, waiting.second])
    for i, posterior in enumerate((search.posterior, *search.rivals)):
        # Particles are rounded to single precision, so that nothing is lost here.
        arrays[f"parameters{i}"] = posterior.parameters.astype(np.float32)
        arrays[f"uniform{i}"] = posterior.uniform.astype(np.float32)
        arrays[f"log_weights{i}"] = posterior.log_weights.astype(np.float32)
    return header, arrays


def _described(posterior: ParticlePosterior) -> dict[str, Any]:
    evidence = posterior.evidence
    return {
        "typical": posterior.typical,
        "acceptance": posterior.acceptance,
        "rng": posterior.rng.bit_generator.state,
        "evidence": {name: getattr(evidence, name) for name in Evidence.__slots__},
    }


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**31


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < 1e300


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _each(fits: Callable[[Any], bool], n: int | None = None) -> Callable[[Any], bool]:
    """Return a test of a list, of n entries if that is given."""
    return lambda value: (
        isinstance(value, list) and len(value) == (n or len(value)) and all(map(fits, value))
    )


def _or_none(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or fits(value)


def _is_kind(value: Any) -> bool:
    return isinstance(value, str) and value in KINDS


def _of(kind: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kind)


_HEADER: dict[str, Callable[[Any], bool]] = {
    "family": _of(str),
    "options": _of(dict),
    "space": _of(dict),
    "answers": _each(lambda value: isinstance(value, str) and value in ANSWERS),
    "kept": _each(_of(dict)),
    "extra": _of(dict),
    "kinds": _each(_is_kind),
    "flipped": _is_flag,
    "finished": _is_flag,
    "search": _of(dict),
}
_SEARCH: dict[str, Callable[[Any], bool]] = {
    "n_asked": _is_count,
    "learned": _is_flag,
    "posteriors": _each(_of(dict)),
    "checks": _or_none(
        lambda value: (
            _each(lambda _: True, 2)(value) and _is_count(value[0]) and _each(_is_count)(value[1])
        )
    ),
    "pending": _or_none(
        lambda value: (
            _each(lambda _: True, 2)(value)
            and _is_kind(value[0])
            and _or_none(_each(_is_count, 2))(value[1])
        )
    ),
    "kinds": _each(_is_kind),
}
_POSTERIOR: dict[str, Callable[[Any], bool]] = {
    "typical": lambda value: _is_number(value) and value > 0,  # divides margins
    "acceptance": lambda value: _is_number(value) and 0 <= value <= 1,
    "rng": _of(dict),
    "evidence": _of(dict),
}
_EVIDENCE: dict[str, Callable[[Any], bool]] = {
    "named": _is_number,
    "ties": _is_number,
    "n_first": _is_count,
    "n_second": _is_count,
    "n_ties": _is_count,
    "contradicted": _is_flag,
}


def mended(error: Exception) -> TranscriptError:
    """Return what to say where a snapshot whose checksum fits holds what cannot be."""
    why = f"{type(error).__name__}: {first_line(error)}"
    return TranscriptError(f"the parts of the snapshot do not fit each other ({why}); {_WHOLE}")


def check_header(header: dict[str, Any]) -> None:
    """Refuse a header that karat does not write, though someone has signed it."""
    _check(header, _HEADER)
    counts = [len(header[name]) for name in ("answers", "kept", "kinds")]
    if len(set(counts)) > 1:
        raise TranscriptError(
            "the snapshot holds {} answers with {} things kept and {} kinds of question; {}".format(
                *counts, _WHOLE
            )
        )
    _check(header["search"], _SEARCH)
    for saved in header["search"]["posteriors"]:
        _check(saved, _POSTERIOR)
        _check(saved["evidence"], _EVIDENCE)


def _check(fields: dict[str, Any], known: dict[str, Callable[[Any], bool]]) -> None:
    for name, fits in known.items():
        if name not in fields:
            raise TranscriptError(f"the snapshot lacks {name}, though its checksum fits; {_WHOLE}")
        if not fits(fields[name]):
            raise TranscriptError(
                Argument.of(name),
                f" of the snapshot is {shown(fields[name])}, which karat does not write; {_WHOLE}",
            )


def taken(
    arrays: dict[str, AnyArray], name: str, shape: tuple[int | None, ...], low: Any = -np.inf
) -> AnyArray:
    """Return an array of a shape, of which None is any length; empty where there is none of it."""
    if name not in arrays and 0 in shape:
        return np.empty([n or 0 for n in shape])
    array = arrays[name]
    fits = array.ndim == len(shape) and all(
        n is None or n == m for n, m in zip(shape, array.shape, strict=True)
    )
    # Rounding leaves a rate a little below 0 now and then. NaN is what is least and greatest.
    if not fits or (
        array.size and not ((array.min(axis=0) >= low - 1e-9).all() and np.isfinite(array.max()))
    ):
        words = "numbers that cannot be there" if fits else f"the shape {array.shape}"
        raise TranscriptError(f"the array {name} of the snapshot has {words}; {_WHOLE}")
    return array


def read_search(
    run: "Elicitation", header: dict[str, Any], arrays: dict[str, AnyArray]
) -> ActiveSearch:
    """Return the search of an elicitation from what ``write_search`` gave."""
    if run.strategy != "active":
        raise TranscriptError(
            Option("strategy", run.strategy),
            f" has no such state; {_WHOLE}",
        )
    dim, n = run.question_space.dim, len(header["kinds"])
    answers = Answers(
        taken(arrays, "first", (n, dim)),
        taken(arrays, "second", (n, dim)),
        taken(arrays, "signs", (n,), -1.0),
    )
    families = [run._problem.family()]
    if len(header["posteriors"]) > 1:
        families.append(run._problem.wider_family())  # type: ignore[arg-type]
    posteriors = [
        _read_posterior(family, i, saved, arrays, answers)
        for i, (family, saved) in enumerate(zip(families, header["posteriors"], strict=True))
    ]
    search = search_with(run, posteriors[0], posteriors[1:])
    search.history = taken(arrays, "history", (header["n_asked"] + 1,), 0.0).tolist()
    search.n_asked, search.learned = header["n_asked"], header["learned"]
    sides = taken(arrays, "asked", (n, 2, *run.question_space.guess.shape), 0.0)
    search.queries = [
        Query(*pair, kind=kind) for pair, kind in zip(sides, header["kinds"], strict=True)
    ]
    _restore_source(search, header, arrays)
    return search


def _read_posterior(
    family: Family, i: int, saved: dict[str, Any], arrays: dict[str, AnyArray], answers: Answers
) -> ParticlePosterior:
    rng = np.random.default_rng()
    rng.bit_generator.state = saved["rng"]
    evidence = Evidence(**saved["evidence"])
    signs = [int((answers.signs == sign).sum()) for sign in (1, -1, 0)]
    if signs != [evidence.n_first, evidence.n_second, evidence.n_ties]:
        raise TranscriptError(f"the snapshot counts other answers than it holds; {_WHOLE}")
    lowest = np.where(family.signed, -np.inf, 0.0)
    parameters = taken(arrays, f"parameters{i}", (None, family.size), lowest)
    n = len(parameters)
    log_weights = arrays[f"log_weights{i}"].astype(float)
    if log_weights.shape != (n,) or not np.isfinite(log_weights.max()):
        raise TranscriptError(f"the weights of the snapshot's particles are none; {_WHOLE}")
    return ParticlePosterior(
        family=family,
        typical=saved["typical"],
        parameters=parameters.astype(float),
        uniform=taken(arrays, f"uniform{i}", (n, N_NOISE), 0.0).astype(float).clip(max=1.0),
        log_weights=log_weights,
        answers=answers,
        rng=rng,
        evidence=evidence,
        acceptance=saved["acceptance"],
    )


def _restore_source(
    search: ActiveSearch, header: dict[str, Any], arrays: dict[str, AnyArray]
) -> None:
    source, space = search.source, search.posterior.family.space
    if isinstance(source, AttainablePairs):
        _check(header, {"times": _each(_each(_is_count, 3))})
        source.times = {(i, j): count for i, j, count in header["times"]}
    else:
        _check(header, {"skipped": _is_flag})
        source.skipped = header["skipped"]  # type: ignore[attr-defined]
    if search.checks is not None:
        search.checks.asked, search.checks.repeated = header["checks"]
    if header["pending"] is not None:
        kind, pair = header["pending"]
        first, second = taken(arrays, "waiting_at", (2, space.dim))
        there = None if pair is None else (pair[0], pair[1])
        sides = taken(arrays, "waiting", (2, *space.guess.shape), 0.0)
        search.pending = Pending(Query(*sides, kind=kind), first, second, there)


# --- What an active search starts from: the prior, the pool of classifiers, and its aims.
#
# The pool and the panel of a space are drawn once and are the same for everyone who is asked about
# it, so that a saved search is found again by its particles alone.

_SOME = 100  # metrics by which the typical difference of two classifiers is found
_FEWEST_QUESTIONS = 60  # after which answers without a metric are told from the rest
_MOST_NUMBERS = 600_000  # parameters of all particles together; below, there are fewer of them


def build_search(run: "Elicitation") -> ActiveSearch:
    """Return the search of an elicitation before anything is asked."""
    effort = run.effort
    rng = np.random.default_rng(run.seed)
    family, panel = run._problem.family(), _panel(run)
    n = _affordable(effort.particles, family)
    posterior = ParticlePosterior.prior(family, n, _typical(run, family, panel), rng)
    rivals = []
    wide = run._problem.wider_family() if run.pairs == "attainable" else None
    if wide is not None:
        n = _affordable(effort.rival_particles, wide)
        there = np.random.default_rng([run.seed, 1])
        rivals.append(ParticlePosterior.prior(wide, n, _typical(run, wide, panel), there))
    search = search_with(run, posterior, rivals)
    search.history.append(search.agreement())
    for first, second, answer in run.carried:
        search.believe(Query(np.asarray(first), np.asarray(second)), answer)
    return search


def search_with(
    run: "Elicitation", posterior: ParticlePosterior, rivals: list[ParticlePosterior]
) -> ActiveSearch:
    """Return the search of an elicitation that has come to know a posterior."""
    effort, rng = run.effort, posterior.rng
    pool = _pool(run) if run.pairs == "attainable" else None
    checks = CheckPairs(pool, run.worst_rate, rng) if run.checks and pool else None
    least = 0 if checks is None else _FEWEST_QUESTIONS
    return ActiveSearch(
        posterior=posterior,
        panel=_panel(run),
        source=(
            SpherePairs(run.space, rng)
            if pool is None
            else AttainablePairs(pool, rng, effort.candidates)
        ),
        goal=Goal(
            agreement=run.agreement,
            precision=run.precision,
            most=run.max_queries or max(least, 20 + 10 * posterior.family.size),
            compared=run.space.dim if run._problem.has_ratios else 0,
            draws=effort.kept,
            reach=_reach(run, pool),
        ),
        checks=checks,
        rivals=rivals,
        tries=2 if run._problem.wider is not None or run.carried else 1,
    )


def _reach(run: "Elicitation", pool: Pool | None) -> tuple[float, float]:
    """Return the angles of trade-offs of two classes that questions about the pool tell apart."""
    if pool is None or not isinstance(run.space, BinarySpace):
        return 0.0, np.pi / 2
    return told_apart(pool.points)


def _affordable(n: int, family: Family) -> int:
    """Return how many particles to use: fewer where each has very many parameters."""
    return max(min(n, _MOST_NUMBERS // family.size), n // 5)


def _panel(run: "Elicitation") -> AgreementPanel:
    space, n = run.question_space, run.effort.panel
    key = ("panel", run.space.fingerprint, type(space).__name__, n)
    return cached(key, lambda: AgreementPanel.of(space, n, np.random.default_rng(1)))


def typical_margin(run: "Elicitation", family: Family) -> float:
    """Return the difference that metrics of a family typically see between two classifiers."""
    return _typical(run, family, _panel(run))


def _typical(run: "Elicitation", family: Family, panel: AgreementPanel) -> float:
    """Return the difference that metrics typically see between two classifiers."""
    if run.pairs == "sphere":
        return float(run.space.radius)
    drawn = np.random.default_rng(2).normal(size=(_SOME, family.size))
    return panel.typical_margin(family, np.where(family.signed, drawn, np.abs(drawn)))


def _pool(run: "Elicitation") -> Pool:
    space, effort = run.question_space, run.effort
    inside, worst, out_of = run._problem.curved, run.worst_rate, run.out_of
    key = ("pool", run.space.fingerprint, type(space).__name__, effort.pool, inside, worst)
    return cached(
        (*key, out_of),
        lambda: draw_pool(space, effort.pool, inside=inside, worst_rate=worst, out_of=out_of),
    )
