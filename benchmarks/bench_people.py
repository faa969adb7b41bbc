"""Elicitation from simulated people who err: coverage, questions, certificates, misfit and state.

Usage: python benchmarks/bench_people.py [--quick] [--people N] [--processes N] [--only PART ...]
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial

import _people_runs
import numpy as np
from _figures import Figure, Line
from _people_monotone import monotone_rows
from _people_runs import ENDLESS, Seen, ask_people, seen_at
from _people_settings import SETTINGS
from _people_shared import FAMILIES, Group, ask_group
from _people_state import States, states
from bench_elicit import many_rows

from karat.datasets import load_shared
from karat.exceptions import MissingDatasetError

PEOPLE, FEW = 100, 2  # for each row
TARGET = 0.95  # agreement that is asked for
PEOPLE_WHO_ERR = ("slip 0", "slip 10", "slip 20", "logistic 6", "logistic 3", "first 15")
QUICK_KINDS = ("slip 10",)
COVERAGE = ("binary", "fair", "linear")  # settings whose coverage has a limit
QUESTIONS = {"binary": (14, 24), "fair": (26, 35)}  # medians at 10 % slips without and with checks
WORDS = {
    "slip": "{} % slips",
    "logistic": "logistic noise of 1/{} of the typical margin",
    "first": "{} % first whatever is shown",
}


def in_words(kind: str) -> str:
    """Return how people err, in words."""
    word, _, number = kind.partition(" ")
    return WORDS[word].format(number) if number else {"coin": "a coin"}.get(word, f"always {word}")


def mean(found: list[Seen], what: Callable[[Seen], float]) -> float:
    """Return the mean of something over people."""
    return float(np.mean([what(seen) for seen in found])) if found else np.nan


def described(found: list[Seen]) -> str:
    """Return all that was seen of people at one time."""
    asked = [seen.questions for seen in found]
    agreement = [seen.agreement for seen in found]
    parts = [
        f"questions {np.median(asked):.0f} (p90 {np.quantile(asked, 0.9):.0f})",
        f"true agreement {np.median(agreement):.3f} (predicted {mean(found, _predicted):.3f})",
        f"below {TARGET:g} {np.mean(np.array(agreement) < TARGET):.2f}",
        *(
            f"{status} {mean(found, lambda seen, s=status: seen.status == s):.2f}"
            for status in ("certified", "undecided", "flagged")
        ),
    ]
    if np.isfinite(found[0].covered):
        parts.insert(0, f"covered {mean(found, _covered):.3f}, hi/lo {_width(found):.2g}")
    return ", ".join(parts)


def _covered(seen: Seen) -> float:
    return seen.covered


def _predicted(seen: Seen) -> float:
    return seen.predicted


def _below(seen: Seen) -> float:
    return seen.agreement < TARGET


def _flagged(seen: Seen) -> float:
    return seen.status == "flagged"


def _certified(seen: Seen) -> float:
    return seen.status == "certified"


def _outside(seen: Seen) -> float:
    return seen.outside


def _width(found: list[Seen]) -> float:
    return float(np.median([seen.width for seen in found]))


def is_there(setting: str) -> bool:
    """Whether the data of a setting can be read."""
    data = SETTINGS[setting].data
    try:
        return data is None or load_shared(data) is not None
    except MissingDatasetError as error:
        print(f"{SETTINGS[setting].words}: skipped, {error}", flush=True)
        return False


def erring(setting: str, people: int, quick: bool) -> Iterator[Line]:
    """Ask people who have a metric of the family in mind and err."""
    if not is_there(setting):
        return
    for kind in QUICK_KINDS if quick else PEOPLE_WHO_ERR:
        found = ask_people(setting, kind, people)
        name = f"{SETTINGS[setting].words}, {in_words(kind)}, {people} people"
        per = 1000 * mean(found, lambda s: s.seconds) / mean(found, lambda s: s.questions)
        rest = f"{described(found)}, {per:.0f} ms CPU a question"
        yield Line(f"{name}, at the stop", tuple(at_stop(setting, kind, found)), rest)
        later = ask_people(setting, kind, people, (20, 40), **ENDLESS)
        for at in (20, 40):
            there = seen_at(later, at)
            figures = [_coverage(setting, there)] if setting in COVERAGE else []
            yield Line(f"{name}, after {at}", tuple(figures), described(there))
        if setting == "fair":
            yield false_alarms(name, seen_at(later, 40), limited=kind == "slip 10")


def _coverage(setting: str, found: list[Seen]) -> Figure:
    single = len(found) if setting != "linear" else None  # five ratios of a person go together
    return Figure("coverage", mean(found, _covered), 0.93, single, at_least=True)


def at_stop(setting: str, kind: str, found: list[Seen]) -> Iterator[Figure]:
    """Yield the figures that have a limit where the procedure stops."""
    n = len(found)
    if setting in COVERAGE:
        yield _coverage(setting, found)
    if setting != "linear" and setting != "diagonal":  # there the default of worst_rate gives way
        shown = sum(seen.questions for seen in found)
        yield Figure("share of absurd questions", sum(s.absurd for s in found) / shown, 0.0)
    if kind in ("slip 10", "slip 20"):
        most = 0.05 if kind == "slip 10" else 0.10
        yield Figure("flagged", mean(found, _flagged), most, n)
    if kind == "slip 10" and setting in QUESTIONS:
        yield Figure("below target", mean(found, _below), 0.10, n)
        median = float(np.median([seen.questions for seen in found]))
        yield Figure("median questions", median, QUESTIONS[setting][1])


def false_alarms(name: str, found: list[Seen], *, limited: bool) -> Line:
    """Return how often a wider family is suspected of people of the family."""
    figure = Figure("false alarms", mean(found, _outside), 0.05, len(found))
    rest = f"false alarms {figure.value:.2f}, {_factors(found)}"
    return Line(f"{name}, wider family after 40", (figure,) if limited else (), rest)


def _factors(found: list[Seen]) -> str:
    factors = np.array([seen.factor for seen in found])
    above = ", ".join(f"above {at:g} {np.mean(factors >= at):.2f}" for at in (1, 1.5, 2, 3))
    return f"log Bayes factor median {np.median(factors):.1f}, {above}"


def unchecked(people: int, quick: bool) -> Iterator[Line]:
    """Count the questions without check pairs."""
    for setting, (most, _) in QUESTIONS.items():
        if not is_there(setting):
            continue
        found = ask_people(setting, "slip 10", people, checks=False)
        figure = Figure("median questions", float(np.median([s.questions for s in found])), most)
        name = f"{SETTINGS[setting].words}, 10 % slips, {people} people, without check pairs"
        yield Line(name, (figure,), described(found))


def careless(people: int, quick: bool) -> Iterator[Line]:
    """Ask people who have no metric in mind."""
    for setting in ("binary", "fair", "linear"):
        if not is_there(setting):
            continue
        for kind in ("coin", "first", "tie"):
            found = ask_people(setting, kind, people)
            name = f"{SETTINGS[setting].words}, {in_words(kind)}, {people} people"
            if kind == "coin":
                figure = Figure("certified", mean(found, _certified), 0.05, len(found))
            else:
                figure = Figure("flagged", mean(found, _flagged), 1.0, at_least=True)
            yield Line(name, (figure,), described(found))


def outside(people: int, quick: bool) -> Iterator[Line]:
    """Ask people whose metric is outside the family, and on other data some who are inside."""
    for setting in ("bent", "bent credit", "credit"):
        if not is_there(setting):
            continue
        for kind in QUICK_KINDS if quick else ("slip 10", "logistic 6"):
            found = seen_at(ask_people(setting, kind, people, (40,), **ENDLESS), 40)
            name = f"{SETTINGS[setting].words}, {in_words(kind)}, {len(found)} people"
            if setting == "credit":
                yield false_alarms(name, found, limited=kind == "slip 10")
                continue
            power = Figure("found", mean(found, _flagged), 0.8, len(found), at_least=True)
            rest = f"found {power.value:.2f}, {_factors(found)}, {described(found)}"
            yield Line(f"{name}, after 40", (power,) if kind == "slip 10" else (), rest)


def kept_state(people: int, quick: bool) -> Iterator[Line]:
    """Measure snapshots: their size, restoring, and restoring with one more answer."""
    for state in states(quick):
        yield _of_state(state)


def _of_state(state: States) -> Line:
    figures = [
        Figure("restore, median ms", state.restore, 10),
        Figure("restore+tell+ask, median ms", state.step, 10 if state.small else 200),
    ]
    if state.most_bytes is not None:
        figures.insert(0, Figure("kB", state.bytes / 1000, state.most_bytes / 1000))
    size = "" if state.most_bytes is not None else f"{state.bytes / 1000:.0f} kB, "
    rest = (
        f"{size}p90 {state.restore_p90:.1f} and {state.step_p90:.1f} ms, first question "
        f"{state.first:.0f} ms, {state.parameters} parameters"
    )
    return Line(f"state, {state.name}, {state.answers} answers", tuple(figures), rest)


def shared(people: int, quick: bool) -> Iterator[Line]:
    """Measure the law of groups of people: 40 for two classes, 20 with groups, else fewer."""
    for family, space in FAMILIES[: 2 if quick else None]:
        wanted = {("linear", "binary"): 40, ("linear", "groups"): 20}.get((family, space), 4)
        found = [ask_group(family, space, seed) for seed in range(min(people, wanted))]
        yield _of_groups(f"{family} metrics, {space} space", found)


def _of_groups(name: str, found: list[Group]) -> Line:
    held = np.concatenate([group.covered for group in found])
    r_hat = max(group.r_hat for group in found)
    effective = min(group.effective for group in found)
    figures = (
        Figure("spread covered", float(held.mean()), 0.9, len(held), at_least=True),
        Figure("greatest R-hat", r_hat, 1.05),
        Figure("least effective draws", effective, 400, at_least=True),
    )
    mixed = np.mean([g.r_hat <= 1.05 and g.effective >= 400 for g in found])
    rest = (
        f"{held.sum():.0f} of {len(held)} spreads covered, R-hat {r_hat:.3f}, {effective:.0f} "
        f"effective draws, mixed {mixed:.2f} of groups, center covered "
        f"{np.mean([g.center for g in found]):.2f}, "
        f"{np.median([g.seconds for g in found]):.1f} s CPU (median)"
    )
    return Line(f"shared, {name}, {len(found)} groups", figures, rest)


def monotone(people: int, quick: bool) -> Iterator[Line]:
    """Compare the agreement that is claimed for monotone metrics with the true one."""
    for row in monotone_rows(people):
        figure = Figure("claimed less true agreement", row.excess, 0.02)
        rest = (
            f"claimed {row.claimed:.3f}, true {row.true:.3f}, standard error {row.error:.3f}, "
            f"questions {row.questions:.0f}, certified {row.certified:.2f}, agreement of the "
            f"tangent {row.tangent:.3f}"
        )
        name = f"monotone, {row.space}, {row.people}, {row.n_people} people"
        yield Line(name, (figure,), rest)


def scale(people: int, quick: bool) -> Iterator[Line]:
    """Measure the first question where rows are very many."""
    return many_rows(10**5 if quick else 10**7, people)


PARTS = {
    "scale": scale,
    "shared": shared,
    "state": kept_state,
    "careless": careless,
    "unchecked": unchecked,
    "outside": outside,
    "monotone": monotone,
    **{setting: partial(erring, setting) for setting in ("binary", "fair", "linear", "diagonal")},
}


def main() -> int:
    """Print one line per row; return 1 if a limit is missed by enough people to tell."""
    parser = argparse.ArgumentParser(description="Elicitation from simulated people.")
    parser.add_argument("--people", type=int, help=f"simulated people per row, {PEOPLE} by default")
    parser.add_argument("--quick", action="store_true", help="few people: does it run?")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), help="some parts")
    parser.add_argument("--processes", type=int, default=2, help="people asked at the same time")
    options = parser.parse_args()
    _people_runs.PROCESSES = options.processes
    people = options.people or (FEW if options.quick else PEOPLE)
    start, figures = time.perf_counter(), []
    for part in options.only:
        for line in PARTS[part](people, options.quick):
            print(line, flush=True)
            figures += line.figures
    missed = sum(not figure.kept for figure in figures)
    print(
        f"{len(figures) - missed} of {len(figures)} limits kept, {people} people for each row, "
        f"{time.perf_counter() - start:.0f} s"
        + (", too few people for shares to mean anything" if options.quick else "")
    )
    return int(missed > 0 and not options.quick)


if __name__ == "__main__":
    sys.exit(main())
