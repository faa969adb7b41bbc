"""From what users pass to one table of vote patterns per domain."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from karat._callers import caller_level
from karat._sentences import Argument, Expected, Given, Option, Remedy
from karat._typing import AnyArray, Column, FloatArray, Frame, IntArray
from karat._validate import (
    encode_gold,
    encode_names,
    named,
    present_gold,
    quoted_text,
    read_column,
    require_two_classes,
    shown,
)
from karat.exceptions import (
    ColumnError,
    DataError,
    EmptyDataError,
    KaratWarning,
    LabelError,
    ShapeError,
    WeightError,
)
from karat.votes.patterns import VoteTable
from karat.votes.reading import Ballots, item_weights, read_ballots
from karat.votes.table import PassedValues


@dataclass(frozen=True, slots=True)
class Domain:
    """The voters and items of one domain."""

    name: Any  # as it was passed
    table: VoteTable
    voters: IntArray  # which of all classifiers voted here
    items: IntArray  # which of all items are here
    pattern: IntArray  # the pattern of each of these items


@dataclass(frozen=True, slots=True)
class Votes:
    """Everything that was passed, checked and reduced."""

    classes: AnyArray
    classifiers: tuple[Any, ...]  # as they were passed
    domains: tuple[Domain, ...]
    classifier_names: PassedValues
    domain_names: PassedValues
    item_names: PassedValues | None  # None: items are the rows of a wide table
    gold: IntArray  # class of each item, -1 unknown
    label_probability: FloatArray | None  # chance with which each item was labelled
    weight: FloatArray | None
    n_items: int
    single: bool  # no domains were passed
    called: Mapping[str, str] = field(default_factory=dict)  # a long table's own names of columns

    @property
    def weighted(self) -> bool:
        """Whether some items count more than others."""
        return self.weight is not None and bool((self.weight != self.weight[0]).any())


def read_votes(
    votes: Frame,
    *,
    domains: Column | None = None,
    y_true: Column | Mapping[Any, Any] | None = None,
    label_probability: Column | Mapping[Any, float] | None = None,
    classes: Column | None = None,
    sample_weight: Column | None = None,
    weighting: str | None = None,
    threshold: Any = None,
    abstain: str = "outcome",
    null: str = "not asked",
) -> Votes:
    """Check the votes and reduce them to patterns, domain by domain."""
    labels = _gold_values(y_true)
    cast = read_ballots(votes, classes, labels=labels, threshold=threshold, null=null)
    require_two_classes(cast.classes, "votes")
    voters = cast.voters.tolist()
    if len(voters) < 2:
        raise ShapeError(
            Argument("votes"),
            f" has one voter only, {named(voters)}; its errors show only where another disagrees",
            Remedy("Pass at least two, three to learn anything without gold labels", after=". "),
        )
    gold = _gold_codes(y_true, cast)
    if classes is None and threshold is None and cast.counts is None:
        _refuse_gold_that_nobody_votes(gold, cast)
    codes, names = _domain_codes(domains, cast)
    weight = item_weights(sample_weight, weighting, cast, codes)
    outcome = cast.drop_abstentions() if abstain == "missing" else cast
    _refuse_voters_without_votes(outcome)
    _warn_of_one_answer(outcome)
    built = tuple(
        _domain(name, np.flatnonzero(codes == d), outcome, gold, weight)
        for d, name in enumerate(names.tolist())
    )
    if cast.weighted_out(weight):
        raise EmptyDataError("every item that has a vote has weight 0; pass a positive weight")
    return Votes(
        classes=cast.classes,
        classifiers=tuple(voters),
        domains=built,
        classifier_names=cast.voters,
        domain_names=names,
        item_names=cast.items,
        gold=gold,
        label_probability=_label_probability(label_probability, cast, gold),
        weight=weight,
        n_items=cast.n_items,
        single=domains is None and cast.domain_column is None,
        called=cast.called or {},
    )


def _gold_values(y_true: Column | Mapping[Any, Any] | None) -> AnyArray | None:
    """Return the gold labels that are there, whose values count as classes."""
    if y_true is None:
        return None
    column = list(y_true.values()) if isinstance(y_true, Mapping) else y_true
    values, present = present_gold(column)
    return np.unique(values[present])


def _gold_codes(y_true: Column | Mapping[Any, Any] | None, cast: Ballots) -> IntArray:
    """Return the class of each item, -1 where it is not known."""
    if y_true is None:
        return np.full(cast.n_items, -1)
    if isinstance(y_true, Mapping):
        place = _places(cast)
        unknown = [item for item in y_true if item not in place]
        if unknown:
            raise LabelError(
                Argument("y_true"),
                f" labels the item {shown(unknown[0])}, which has no vote; its keys are "
                "items of votes, or (domain, item) if domains share items, such as "
                f"{named(list(place)[:3])}",
            )
        codes = np.full(cast.n_items, -1)
        codes[[place[item] for item in y_true]] = encode_gold(list(y_true.values()), cast.classes)
        return codes
    found = cast.per_item(encode_gold(y_true, cast.classes), "y_true", absent=-1)
    return np.full(cast.n_items, -1) if found is None else found.astype(np.int64)


def _refuse_gold_that_nobody_votes(gold: IntArray, cast: Ballots) -> None:
    """Refuse a gold label that no voter uses: more often a slip than a class nobody saw."""
    labels = cast.classes.tolist()
    voted = np.isin(np.arange(len(labels)), cast.outcome)
    strange = np.flatnonzero((gold >= 0) & ~voted[gold])
    if not strange.size:
        return
    at = int(strange[0])
    value = labels[gold[at]]
    known = [label for label, used in zip(labels, voted, strict=True) if used]
    alike = [k for k in known if str(k).strip().casefold() == str(value).strip().casefold()]
    item = f"row {at}" if cast.items is None else f"item {shown(cast.items.tolist()[at])}"
    hint = f"did you mean {shown(alike[0])}? " if alike else ""
    raise LabelError(
        Argument("y_true"),
        " holds ",
        Given(value),
        f" ({item}), which no vote does; the votes hold {named(known)}. "
        f"{hint}If it is a class that nobody voted for, name all classes with ",
        Option("classes"),
    )


def _label_probability(
    given: Column | Mapping[Any, float] | None, cast: Ballots, gold: IntArray
) -> FloatArray | None:
    """Return the chance with which each item was labelled; every labelled item needs one."""
    if given is None:
        return None
    name = "label_probability"
    chance = np.full(cast.n_items, np.nan)
    if isinstance(given, Mapping):
        place = _places(cast)
        unknown = [item for item in given if item not in place]
        if unknown:
            raise LabelError(
                Argument.of(name),
                f" names the item {shown(unknown[0])}, which has no vote",
            )
        chance[[place[item] for item in given]] = np.array(list(given.values()), dtype=np.float64)
    else:
        values, mask = read_column(given, name)
        if values.dtype.kind not in "biuf":
            raise ColumnError(
                Argument.of(name),
                f" holds text ({quoted_text(values, mask)})",
                Remedy("pass numbers"),
            )
        numbers = values.astype(np.float64)
        numbers = np.where(np.isfinite(numbers), numbers, -1.0)
        if mask is not None:
            numbers[mask] = -1.0
        found = cast.per_item(numbers, name, absent=-1.0)
        assert found is not None
        chance = np.where(found < 0, np.nan, found)
    labelled = np.flatnonzero(gold >= 0)
    bad = labelled[~((chance[labelled] > 0) & (chance[labelled] <= 1))]
    if bad.size:
        names = range(cast.n_items) if cast.items is None else cast.items.tolist()
        raise DataError(
            Argument.of(name),
            f" of the labelled item {shown(names[int(bad[0])])} is {chance[bad[0]]:g}; expected ",
            Expected(
                "a number above 0 and at most 1 for every item with a gold label, as "
                "label_next() gives it"
            ),
        )
    return chance


def _places(cast: Ballots) -> dict[Any, int]:
    """Return the position of each item, by its name, or (domain, name) if domains share names."""
    listed = list(range(cast.n_items)) if cast.items is None else cast.items.tolist()
    if cast.domain_column is None or len(set(listed)) == len(listed):
        return {name: i for i, name in enumerate(listed)}
    codes, domains = cast.domain_column
    of_item = cast.per_item(codes, "domain")
    assert of_item is not None
    of_code = domains.tolist()
    return {(of_code[d], name): i for i, (d, name) in enumerate(zip(of_item, listed, strict=True))}


def _domain_codes(domains: Column | None, cast: Ballots) -> tuple[IntArray, PassedValues]:
    """Return the domain of each item, and the names."""
    if domains is not None and cast.domain_column is not None:
        raise ColumnError(
            Argument("votes"),
            " has a column 'domain' and ",
            Option("domains"),
            " was passed",
            Remedy("pass one of them"),
        )
    codes, names = None, None
    if domains is not None:
        codes, found = encode_names(domains, "domains")
        names = PassedValues.of_column(domains, codes, len(found))
    if cast.domain_column is not None:
        codes, names = cast.domain_column
    if codes is None or names is None:
        return np.zeros(cast.n_items, dtype=np.int64), PassedValues(np.array(["all"]))
    of_item = cast.per_item(codes, "domains")
    assert of_item is not None
    return of_item.astype(np.int64), names


def _refuse_voters_without_votes(cast: Ballots) -> None:
    votes = np.bincount(cast.voter, minlength=len(cast.voters))
    if (votes == 0).any():
        absent = cast.voters.take(np.flatnonzero(votes == 0))
        listed = PassedValues(absent).tolist()
        raise DataError(
            f"{named(listed)} cast{'s' * (len(listed) == 1)} no vote",
            Remedy("leave out a voter that was never asked"),
            argument="votes",
            column=listed[0],
        )


def _warn_of_one_answer(cast: Ballots) -> None:
    votes = cast.outcome[cast.outcome < len(cast.classes)]  # abstentions apart
    if votes.size and (votes == votes[0]).all():
        warnings.warn(
            f"every vote is {shown(cast.classes[votes[0]])}: voters who never disagree show no "
            "errors, so the estimates rest on the prior alone",
            KaratWarning,
            stacklevel=caller_level(),
        )


def _domain(
    name: Any, items: IntArray, cast: Ballots, gold: IntArray, weight: FloatArray | None
) -> Domain:
    """Reduce the items of one domain to patterns."""
    n = len(items) if cast.counts is None else int(cast.counts[items].sum())
    if n < 3:
        warnings.warn(
            f"domain {name!r} has {n} item{'s' * (n > 1)}; its error rates "
            "rest almost wholly on the prior. Merge it with another domain or drop it",
            KaratWarning,
            stacklevel=caller_level(),
        )
    some, start, voter, outcome, pattern = cast.patterns_of(items, gold)
    if not len(voter):
        raise EmptyDataError(f"nobody votes in domain {name!r}; drop its {len(items)} items")
    voters, local = np.unique(voter, return_inverse=True)
    if weight is not None and not weight[items].sum() > 0:
        raise WeightError(f"every item of domain {name!r} has weight 0; drop the domain")
    count = np.bincount(
        pattern, weights=None if weight is None else weight[items], minlength=len(start) - 1
    )
    table = VoteTable(
        start=start,
        voter=local.astype(np.int64),
        outcome=outcome,
        count=count.astype(np.float64),
        gold=gold[items[some]],
        n_voters=len(voters),
        n_classes=len(cast.classes),
        n_outcomes=len(cast.classes) + int(cast.abstentions),
    )
    return Domain(name, table, voters, items, pattern)
