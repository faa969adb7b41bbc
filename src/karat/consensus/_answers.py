"""What a fit of votes answers: tables of error rates, summaries, warnings, what to label next."""

import warnings
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from karat._callers import caller_level
from karat._extras import require
from karat._result import Estimate
from karat._sentences import Argument, Option, Remedy
from karat._typing import AnyArray, FloatArray, IntArray
from karat._validate import (
    check_choice,
    check_fitted,
    named,
    native_frame,
)
from karat.consensus._fitting import DomainFit
from karat.consensus._from_labels import cross_predictions, rates_with_votes
from karat.consensus.model import Model, labelled_errors
from karat.consensus.result import (
    CoClustering,
    ErrorRates,
    Explanations,
    RankingRobustness,
    VoterAgreement,
    basis_of_votes,
)
from karat.exceptions import DataError, KaratWarning, NotIdentifiedWarning
from karat.statistics import VoteCounts
from karat.statistics.patterns import Patterns, effective_counts
from karat.votes.domains import Domain, Votes
from karat.votes.em import State
from karat.votes.table import PassedValues, TableOfVotes


def counted_arguments(
    votes: VoteCounts,
    domains: Any,
    y_true: Any,
    sample_weight: Any,
    label_probability: Any,
    classes: Any,
) -> tuple[Patterns, Any, Any]:
    """Return counted votes as patterns, with the domain and the true label of each."""
    beside = {
        "domains": domains,
        "y_true": y_true,
        "sample_weight": sample_weight,
        "label_probability": label_probability,
        "classes": classes,
    }
    for name, value in beside.items():
        if value is not None:
            raise DataError(
                f"votes are counts by domain and true label, and {name}= was passed; say it where "
                "the rows are counted, with the roles of karat.scan"
            )
    found = Patterns(
        patterns=votes.votes,
        counts=(
            votes.counts
            if votes.squares is None
            else effective_counts(votes.counts, votes.squares, votes.domain)
        ),
        ids=np.arange(len(votes.votes)),
        classes=votes.classes,
        names=votes.names,
        in_order=False,
    )
    labels = None
    if votes.label is not None and (votes.label >= 0).any():
        listed = votes.classes.tolist()
        labels = [None if code < 0 else listed[code] for code in votes.label.tolist()]
    where = None
    if votes.domains is not None and votes.domain is not None:
        where = votes.domains[votes.domain]
    return found, where, labels


def check_design(labels: Any, y_true: Any, label_probability: Any) -> str:
    """Return how items were chosen; probabilities and the word for them come together."""
    design = check_choice(labels, "labels", ("random", "probability", "picked"))
    if design == "probability" and y_true is not None and label_probability is None:
        raise DataError(
            Option("labels", "probability"),
            " was passed without ",
            Argument("label_probability"),
            Remedy("pass the probability of every labelled item, as label_next() gives it"),
        )
    if design != "probability" and label_probability is not None:
        raise DataError(
            Argument("label_probability"),
            " was passed with ",
            Option("labels", design),
            Remedy("pass ", Option("labels", "probability"), " too"),
        )
    return design


# --- What a user should know of a fit before reading its numbers.


def warn_of_inverted_gold(data: Votes) -> None:
    """Say so if every voter is wrong on most of its gold labels."""
    for domain in data.domains:
        table = domain.table
        labelled = table.gold >= 0
        if table.count[labelled].sum() < 5:
            continue
        known = table.with_counts(np.where(labelled, table.count, 0.0))
        truth = np.eye(table.n_classes)[np.maximum(table.gold, 0)]
        errors = labelled_errors(known, truth)
        asked = known.votes_cast >= 5
        if asked.any() and (errors[asked] > 0.5).all():
            where = "" if data.single else f" of domain {domain.name!r}"
            warnings.warn(
                f"every voter is wrong on more than half of its gold labels{where}; are the labels "
                "of y_true coded like those of votes?",
                KaratWarning,
                stacklevel=caller_level(),
            )


def warn_of_limits_of_the_fit(
    result: ErrorRates,
    same: Mapping[Any, Sequence[Any]] | None = None,
    *,
    holder: str = "",
) -> None:
    """Warn of copies that count once, of labels that contradict, and of what votes cannot tell.

    ``same`` are the families that the user named, who needs not hear of them; ``holder`` is where
    the estimator stands whose methods are advised, such as ``"estimator_."``.
    """
    _warn_of_copies(result, [{str(name) for name in family} for family in (same or {}).values()])
    domains = len(result.domains)
    lost = [d for d, status in enumerate(result.status) if status == "contradicted"]
    if lost:
        where = "" if domains == 1 else f" in {named([result.domains[d] for d in lost])}"
        warnings.warn(
            f"gold labels contradict the consensus{where}: it is {result.evidence[lost[0]]}. No "
            f"ranking from votes there can be trusted; use {holder}from_labels_",
            NotIdentifiedWarning,
            stacklevel=caller_level(),
        )
    unknown = sum(status == "not identified" for status in result.status)
    if unknown:
        where = "" if domains == 1 else f" in {unknown} of {domains} domains"
        warnings.warn(
            f"votes do not identify the error rates{where}: no ranking there can be trusted, and "
            "the limits are those of every explanation of the votes together. "
            f"{holder}explanations() shows them, and {holder}label_next() draws items to label",
            NotIdentifiedWarning,
            stacklevel=caller_level(),
        )


def _warn_of_copies(result: ErrorRates, families: list[set[str]]) -> None:
    """Name the voters that count once, in the domain with most of them."""
    # Where fewer than three voters are left, the reasons say it.
    voters = np.bincount(result.domain, minlength=len(result.domains))
    found = [
        [group for group in groups if not any(set(map(str, group)) <= one for one in families)]
        for groups in result.copies
    ]
    with_copies = [
        d
        for d, groups in enumerate(result.copies)
        if found[d] and voters[d] - sum(len(group) - 1 for group in groups) >= 3
    ]
    if not with_copies:
        return
    most = max(with_copies, key=lambda d: sum(map(len, found[d])))
    groups = [" = ".join(map(str, group)) for group in found[most]]
    more = f" and {len(groups) - 5} more groups" if len(groups) > 5 else ""
    where = "" if len(result.domains) == 1 else f" in {result.domains[most]!r}"
    others = len(with_copies) - 1
    also = f", and others in {others} more domain{'s' * (others > 1)}" if others else ""
    warnings.warn(
        f"near copies count as one voter{where}: {'; '.join(groups[:5])}{more}{also}",
        KaratWarning,
        stacklevel=caller_level(),
    )


def check_judges(judges: Any) -> None:
    """Refuse what is no fitted `ErrorEstimator` or `PairEstimator`, such as the votes."""
    if hasattr(type(judges), "fit"):
        return check_fitted(judges, "label_proba_", "fit(votes)")
    raise DataError(
        f"judges: pass a fitted ErrorEstimator, not a {type(judges).__name__}; such as "
        "ErrorEstimator().fit(votes)"
    )


# --- Posterior draws of a domain, for other tools.


def posterior_states(fit: DomainFit) -> tuple[tuple[tuple[Model, State], ...], FloatArray]:
    """Return drawn states with their models, and how much each counts; the weights sum to 1."""
    members: list[tuple[Model, State]] = []
    weights: list[float] = []
    for f in fit.fitted:
        members += [(f.problem.model, state) for state in f.draws.states]
        weights += [f.weight / len(f.draws.states)] * len(f.draws.states)
    return tuple(members), np.array(weights) / sum(weights)


def inference_data(data: Votes, domain: Domain, fit: DomainFit) -> Any:
    """Return the draws of the best model of a domain as ArviZ inference data."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # ArviZ announces its own next version
        arviz: Any = require("arviz", extra="arviz", purpose="inference data")
    draws, levels = fit.best.draws, fit.best.problem.model.levels
    shape = (*draws.weights.shape[:2], len(data.classes), levels)
    return arviz.from_dict(
        posterior={
            "error_rate": draws.rates,
            "error_on_items": draws.finite,
            "prevalence": draws.weights.reshape(shape).sum(axis=3),
        },
        sample_stats={"lp": draws.value},
        coords={
            "classifier": [data.classifiers[j] for j in domain.voters],
            "class": data.classes.tolist(),
        },
        dims={
            "error_rate": ["classifier"],
            "error_on_items": ["classifier"],
            "prevalence": ["class"],
        },
    )


# --- Which items to label next, and with what probability each was drawn.

# Weight of the uncertainty of a label beside the disagreement of explanations: it orders the items
# on which the explanations agree.
_ENTROPY = 0.1


def next_items(
    data: Votes,
    fits: Sequence[DomainFit],
    n: int,
    *,
    domain: int | None,
    how: str,
    seed: int,
    backend: Any,
) -> Any:
    """Return a table of ``n`` items without a gold label: strata, a random sample or contested.

    ``domain`` is the position of the domain to take them from; None for all domains.
    """
    rng = np.random.default_rng(seed)  # the same at every call
    some = [d for d in range(len(fits)) if domain is None or domain == d]
    free = {d: data.domains[d].items[data.gold[data.domains[d].items] < 0] for d in some}
    doubt = {
        d: _doubt(fits[d])[data.domains[d].pattern[data.gold[data.domains[d].items] < 0]]
        for d in some
    }
    if how == "contested":
        place, chance = _contested(list(doubt.values()), n, rng)
    else:
        place, chance = _sampled(list(doubt.values()), n, rng, at_random=how == "random")
    at = np.concatenate([np.full(len(free[d]), d) for d in some])[place]
    item = np.concatenate(list(free.values()))[place]
    return to_frame(
        {
            "domain": data.domain_names.take(at),
            "item": item if data.item_names is None else data.item_names.take(item),
            "probability": chance,
            "doubt": np.concatenate(list(doubt.values()))[place],
        },
        backend,
        data.called,
    )


def _contested(
    doubts: Sequence[FloatArray], n: int, rng: np.random.Generator
) -> tuple[IntArray, FloatArray]:
    """Return the positions of the most doubtful items, which nobody drew."""
    doubt = np.concatenate(doubts)
    best = np.lexsort((rng.random(len(doubt)), -doubt))[:n]  # random numbers break ties
    return best, np.full(len(best), np.nan)


def _sampled(
    doubts: Sequence[FloatArray], n: int, rng: np.random.Generator, *, at_random: bool
) -> tuple[IntArray, FloatArray]:
    """Return the positions of items drawn in proportion from all domains, with their chances."""
    sizes = np.array([len(doubt) for doubt in doubts])
    places, chances, before = [], [], 0
    for doubt, size in zip(doubts, in_proportion(sizes, n), strict=True):
        if at_random:
            drawn: IntArray = rng.permutation(len(doubt))[:size].astype(np.int64)
            chance = np.full(size, size / max(len(doubt), 1))
        else:
            drawn, chance = draw_strata(doubt, int(size), rng)
        places.append(drawn + before)
        chances.append(chance)
        before += len(doubt)
    return np.concatenate(places), np.concatenate(chances)


def draw_strata(doubt: FloatArray, n: int, rng: np.random.Generator) -> tuple[IntArray, FloatArray]:
    """Return one item of each of ``n`` strata of equal size, sorted by doubt, and their chances."""
    order = np.lexsort((rng.random(len(doubt)), -doubt))
    # Which strata are larger by one is random, so that all items have nearly the same chance.
    edges = np.floor(np.arange(n + 1) * (len(doubt) / max(n, 1)) + 1e-9).astype(np.int64)
    size = rng.permutation(np.diff(edges))
    start = np.cumsum(size) - size
    drawn = order[start + np.floor(rng.random(n) * size).astype(np.int64)]
    return drawn, 1.0 / size


def in_proportion(sizes: IntArray, n: int) -> IntArray:
    """Return how many of ``n`` each part gets: in proportion, by the largest remainders."""
    total = int(sizes.sum())
    n = min(n, total)
    share = n * sizes / max(total, 1)
    whole = np.floor(share + 1e-9).astype(np.int64)
    left = np.argsort(-(share - whole), kind="stable")[: n - int(whole.sum())]
    whole[left] += 1
    return whole


def _doubt(fit: DomainFit) -> FloatArray:
    """Return, per pattern, how far the explanations differ, and a tenth of its entropy."""
    consensus = fit.label_proba()
    apart = np.zeros(len(consensus))
    for other in fit.explanations:
        apart = np.maximum(apart, 0.5 * np.abs(other.label_proba - consensus).sum(axis=1))
    entropy = -(consensus * np.log(np.maximum(consensus, 1e-300))).sum(axis=1)
    return np.asarray(apart + _ENTROPY * entropy / np.log(consensus.shape[1]))


# --- From the fits of all domains to the frozen results.

_CLOSE = 0.1  # explanations that move the error rates by less need no gold labels


def by_item(data: Votes, by_pattern: Sequence[FloatArray]) -> FloatArray:
    """Return one row per item from one row per pattern of each domain."""
    proba = np.empty((data.n_items, len(data.classes)))
    for domain, rows in zip(data.domains, by_pattern, strict=True):
        proba[domain.items] = rows[domain.pattern]
    return proba


def summarise(
    data: Votes,
    fits: Sequence[DomainFit],
    blind: Sequence[FloatArray | None],
    confidence: float,
) -> ErrorRates:
    """Put the domains together.

    ``blind`` holds the `blind_consensus` of each domain, None without gold labels.
    """
    parts: dict[str, list[Any]] = {}
    for d, (domain, fit, proba) in enumerate(zip(data.domains, fits, blind, strict=True)):
        entries = _entries(fit, proba, confidence)
        entries |= {"domain": np.full(len(domain.voters), d), "classifier": domain.voters}
        for name, array in entries.items():
            parts.setdefault(name, []).append(array)
    identified = np.array([fit.identified for fit in fits])
    prevalence = np.stack([fit.prevalence(confidence) for fit in fits], axis=1)
    columns = {name: np.concatenate(arrays) for name, arrays in parts.items()}

    def estimate(value: FloatArray, lower: FloatArray, upper: FloatArray) -> Estimate[FloatArray]:
        basis = basis_of_votes(identified)
        return Estimate(value=value, lower=lower, upper=upper, confidence=confidence, basis=basis)

    return ErrorRates(
        estimate=estimate(*(columns.pop(name) for name in ("value", "lower", "upper"))),
        finite=estimate(*(columns.pop(f"finite_{name}") for name in ("value", "lower", "upper"))),
        domains=tuple(d.name for d in data.domains),
        classifiers=data.classifiers,
        classes=data.classes,
        prevalence=estimate(*prevalence),
        status=tuple(fit.status for fit in fits),
        identified=identified,
        slack=fits[0].slack,
        copies=tuple(
            _names_of_copies(data, domain, fit)
            for domain, fit in zip(data.domains, fits, strict=True)
        ),
        evidence=tuple("" if fit.gold_test is None else str(fit.gold_test) for fit in fits),
        reasons=tuple(fit.reasons for fit in fits),
        explanations=tuple(
            _explanations(data, domain, fit) for domain, fit in zip(data.domains, fits, strict=True)
        ),
        **columns,
    )


def _names_of_copies(data: Votes, domain: Domain, fit: DomainFit) -> tuple[tuple[Any, ...], ...]:
    return tuple(
        tuple(data.classifiers[domain.voters[j]] for j in block) for block in fit.copies.blocks
    )


def ranking_robustness(
    data: Votes, domain: Domain, fit: DomainFit, confidence: float, gamma: FloatArray
) -> RankingRobustness:
    """Return what rates are worth if the panel is fooled on a share of the items."""
    mean = fit.mean()
    order = np.argsort(mean, kind="stable")
    low, high = (limit[order] for limit in fit.span_limits(confidence))
    lower, upper = (limit[order] for limit in fit.interval(confidence))  # those of the result
    first = max(upper[0], mean[order[0]])
    return RankingRobustness(
        domain=domain.name,
        classifiers=tuple(data.classifiers[domain.voters[j]] for j in order),
        status=fit.status,
        gamma=gamma,
        estimate=Estimate(
            value=np.tile(mean[order], (len(gamma), 1)),
            lower=np.clip(np.minimum(low, mean[order]) - gamma[:, None], 0, 1),
            upper=np.clip(np.maximum(high, mean[order]) + gamma[:, None], 0, 1),
            confidence=confidence,
            basis=basis_of_votes(fit.identified),
        ),
        changes=np.diff(mean[order]) / 2,
        rivals=int((np.minimum(lower, mean[order])[1:] <= first).sum()),
    )


def _entries(fit: DomainFit, blind: FloatArray | None, confidence: float) -> dict[str, Any]:
    """Return the columns of one domain, a value per voter."""
    mean, on_items = fit.mean(), fit.mean(finite=True)
    lower, upper = fit.interval(confidence)
    low, high = fit.interval(confidence, finite=True)
    labelled = np.where(fit.table.gold >= 0, fit.table.count, 0)
    moved = np.full(len(mean), np.nan)
    if blind is not None:
        moved = on_items - labelled_errors(fit.table, blind)
    return {
        "votes": fit.table.votes_cast,
        "value": mean,
        "lower": np.minimum(lower, mean),
        "upper": np.maximum(upper, mean),
        "finite_value": on_items,
        "finite_lower": np.minimum(low, on_items),
        "finite_upper": np.maximum(high, on_items),
        "confusion": fit.confusions(),
        "gold_votes": fit.table.with_counts(labelled).votes_cast,
        "gold_moved": moved,
        "r_hat": fit.r_hat,
        "bulk_ess": fit.bulk,
        "tail_ess": fit.tail,
    }


def _explanations(data: Votes, domain: Domain, fit: DomainFit) -> Explanations:
    favourite = fit.label_proba().argmax(axis=1)
    contested = np.zeros(fit.table.n_patterns, dtype=bool)
    for other in fit.explanations:
        contested |= other.label_proba.argmax(axis=1) != favourite
    moved = np.array([0.0, *(e.moved for e in fit.explanations)])
    # A share of m labels is known to ±1.96·.5/√m, and moves the rates by that part of the gap.
    needed = int(np.ceil((1.96 * moved.max() / _CLOSE) ** 2)) if moved.max() > _CLOSE else 0
    count = fit.table.count
    return Explanations(
        domain=domain.name,
        classifiers=tuple(data.classifiers[j] for j in domain.voters),
        names=("the consensus", *(e.name for e in fit.explanations)),
        rates=np.stack([fit.mean(), *(e.rates for e in fit.explanations)]),
        moved=moved,
        contested=float(count[contested].sum() / max(count.sum(), 1e-300)),
        identified=fit.identified,
        reasons=fit.reasons,
        labels_needed=needed,
    )


def voter_agreement(data: Votes, domain: Domain, fit: DomainFit) -> VoterAgreement:
    """Return the posterior predictive check of one domain."""
    pairs = fit.agreement
    return VoterAgreement(
        domain=domain.name,
        names=tuple(data.classifiers[j] for j in domain.voters),
        first=pairs.first,
        second=pairs.second,
        n=pairs.n,
        observed=pairs.observed,
        expected=pairs.expected,
        z=pairs.z,
    )


# --- The tables that an estimator shows, with names as they were passed.

_FROM_LABELS = (
    "value",
    "lower",
    "upper",
    "bernstein_lower",
    "bernstein_upper",
    "labels_value",
    "labels_lower",
    "labels_upper",
    "weight",
    "n_gold",
)


def error_table(data: Votes, result: ErrorRates, finite: bool, backend: Any) -> Any:
    """Return one row per domain and voter, named as they were passed."""
    rates = result.finite if finite else result.estimate
    rows = np.lexsort((rates.value, result.domain))
    domain = result.domain[rows]
    columns: dict[str, Any] = {
        "domain": data.domain_names.take(domain),
        "classifier": data.classifier_names.take(result.classifier[rows]),
        "value": rates.value[rows],
        "lower": rates.lower[rows],
        "upper": rates.upper[rows],
        "votes": result.votes[rows],
        "status": [result.status[d] for d in domain],
        "identified": result.identified[domain],
    }
    k = len(result.classes)
    cast = np.maximum(result.confusion[:, :, :k].sum(axis=2), 1e-300)  # abstentions apart
    recall = (result.confusion[:, np.arange(k), np.arange(k)] / cast)[rows]
    names = ("specificity", "sensitivity")  # of the smaller label and of the larger
    for c in range(k):
        larger = int(k == 2 and result.classes[c] > result.classes[1 - c])
        columns[names[larger] if k == 2 else f"recall_{result.classes[c]}"] = np.array(recall[:, c])
    return to_frame(columns, backend, data.called)


def prevalence_table(data: Votes, result: ErrorRates, backend: Any) -> Any:
    """Return one row per domain and class."""
    share = result.prevalence
    domains, k = share.value.shape
    return to_frame(
        {
            "domain": data.domain_names.take(np.repeat(np.arange(domains), k)),
            "class": np.tile(result.classes, domains),
            "value": share.value.ravel().copy(),
            "lower": share.lower.ravel().copy(),
            "upper": share.upper.ravel().copy(),
        },
        backend,
        data.called,
    )


def clusters_table(data: Votes, found: CoClustering | None, backend: Any) -> Any:
    """Return one row per domain, or per voter of each domain: its cluster."""
    if found is None:
        return None
    columns: dict[str, Any] = {"domain": data.domain_names.take(np.arange(len(data.domains)))}
    if found.structure == "hierarchical":
        pairs = [(d, j) for d, domain in enumerate(data.domains) for j in _who_voted(domain)]
        columns = {
            "domain": data.domain_names.take([d for d, _ in pairs]),
            "classifier": data.classifier_names.take([j for _, j in pairs]),
        }
    columns |= {"cluster": found.labels.copy(), "certainty": found.certainty.copy()}
    return to_frame(columns, backend, data.called)


def _who_voted(domain: Domain) -> list[int]:
    """Return the voters of a domain that cast a vote or abstained, in their order."""
    return sorted(int(j) for j in domain.voters[np.unique(domain.table.voter)])


def diagnostics_table(data: Votes, fits: Sequence[DomainFit], backend: Any) -> Any:
    """Return one row per domain: how the chains went and what the checks say."""
    rows = [
        {
            "status": fit.status,
            "identified": fit.identified,
            "models": ", ".join(f"{f.name} {f.weight:.2f}" for f in fit.fitted),
            "draws": int(np.prod(fit.best.draws.value.shape)),
            "r_hat": float(np.max(fit.r_hat)),
            "bulk_ess": float(np.min(fit.bulk)),
            "tail_ess": float(np.min(fit.tail)),
            "restarted": fit.restarted,
            "moved": max((e.moved for e in fit.explanations), default=0.0),
            "pairs": len(fit.agreement.z),
            "pairs_off": fit.pairs_off,
            "pairs_apart": _apart(fit),
            "copies": "; ".join(
                " = ".join(str(data.classifiers[domain.voters[j]]) for j in block)
                for block in fit.copies.blocks
            ),
            "gold": "" if fit.gold_test is None else str(fit.gold_test),
            "reasons": "; ".join(fit.reasons),
        }
        for domain, fit in zip(data.domains, fits, strict=True)
    ]
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    names = data.domain_names.take(np.arange(len(fits)))
    return to_frame({"domain": names, **columns}, backend, data.called)


def _apart(fit: DomainFit) -> float:
    """Return how far pairs are from the agreement that the best model expects, on average."""
    pairs = fit.agreement
    return float(np.abs(pairs.observed - pairs.expected).mean()) if len(pairs.z) else float("nan")


def gold_rates_table(
    data: Votes,
    blind: Sequence[FloatArray | None],
    confidence: float,
    finite: bool,
    backend: Any,
) -> Any:
    """Return one row per voter of every domain that has gold labels."""
    rows: dict[str, list[Any]] = {name: [] for name in ("domain", "classifier", *_FROM_LABELS)}
    for d, (domain, proba) in enumerate(zip(data.domains, blind, strict=True)):
        if proba is None:
            continue
        predictions = cross_predictions(domain, proba)
        chance = data.label_probability
        answers = rates_with_votes(
            domain,
            predictions,
            confidence=confidence,
            finite=finite,
            probability=None if chance is None else chance[domain.items],
        )
        order = np.argsort([answer.value for answer in answers], kind="stable")
        rows["domain"] += [d] * len(answers)
        rows["classifier"] += domain.voters[order].tolist()
        for field in _FROM_LABELS:
            rows[field] += [getattr(answers[i], field) for i in order]
    names = {
        "domain": data.domain_names.take(rows["domain"]),
        "classifier": data.classifier_names.take(rows["classifier"]),
    }
    return to_frame(rows | names, backend, data.called)


def labels_table(
    proba: FloatArray,
    classes: AnyArray,
    items: PassedValues | None,
    domains: Any,
    called: Mapping[str, str],
    backend: Any,
) -> Any:
    """Return one row per item: its most probable class, and the probability of that class.

    ``domains`` is the column of the items' domains, None where there is one.
    """
    best, rows = proba.argmax(axis=1), np.arange(len(proba))
    columns: dict[str, Any] = {} if domains is None else {"domain": domains}
    columns["item"] = rows if items is None else items.take(rows)
    columns |= {"vote": np.asarray(classes)[best], "probability": proba[rows, best]}
    return to_frame(columns, backend, called)


# --- Tables of answers, of the kind that was passed in.


def backend_of(votes: Any) -> Any:
    """Return the dataframe library of what was passed, None for arrays and lists."""
    if isinstance(votes, TableOfVotes):
        return votes.library
    frame = native_frame(votes, "votes")
    return None if frame is None else frame.implementation


def to_frame(
    columns: Mapping[str, Any], backend: Any, called: Mapping[str, str] | None = None
) -> Any:
    """Return a frame of the wanted kind; by default pandas, or Polars where that is missing.

    A column is a list, an array, or a narwhals Series, which keeps its dtype. ``called`` holds
    what a long table calls its items, classifiers and domains: they come back under these names.
    """
    import narwhals as nw

    if called:
        own = {name: called.get(name, name) for name in columns}
        columns = {n if own[n] in columns else own[n]: c for n, c in columns.items()}

    if backend is None:
        backend = "pandas" if find_spec("pandas") else "polars"
        require(backend, purpose="a table of error rates")
    plain = {name: c for name, c in columns.items() if not isinstance(c, nw.Series)}
    frame = nw.from_dict(plain, backend=backend)
    named = [
        _of_library(c, frame.implementation).alias(name)
        for name, c in columns.items()
        if isinstance(c, nw.Series)
    ]
    return frame.with_columns(*named).select(list(columns)).to_native()


def _of_library(series: Any, library: Any) -> Any:
    """Return a narwhals Series as one of ``library``; it keeps its dtype where there is one."""
    import narwhals as nw

    if series.implementation == library:
        return nw.maybe_reset_index(series)
    values, dtype = series.to_list(), series.dtype
    if isinstance(dtype, nw.Enum) and library.is_pyarrow():
        dtype = nw.Categorical()  # PyArrow has no Enum
    if isinstance(dtype, nw.Categorical) and not all(isinstance(v, str) for v in values):
        return nw.new_series("values", values, backend=library)  # only pandas has such categories
    return nw.new_series("values", values, dtype, backend=library)
