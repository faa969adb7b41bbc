"""Error rates of classifiers, judges or annotators, from their votes alone."""

import warnings
from collections.abc import Mapping
from typing import Any, Literal, Self

import numpy as np

from karat._extras import require
from karat._parameters import Parameters
from karat._typing import Column, Frame
from karat._validate import (
    check_choice,
    check_confidence,
    check_count,
    check_fitted,
    check_rng,
    collected_alone,
    is_lazy,
)
from karat.consensus._domain_fit import Settings, fit_domain
from karat.consensus._fit_together import fit_together
from karat.consensus._frames import backend_of, to_frame
from karat.consensus._gold_warning import warn_of_upside_down_gold
from karat.consensus._label_model import ConsensusLabelModel
from karat.consensus._progress import Progress
from karat.consensus._summaries import (
    blind_consensus,
    by_item,
    clusters_table,
    diagnostics_table,
    doubt_of,
    error_table,
    powered_table,
    prevalence_table,
    summarise,
    voter_agreement,
)
from karat.consensus.result import Explanations, VoterAgreement
from karat.exceptions import DataError, KaratWarning, LazyFrameError, NotIdentifiedWarning
from karat.statistics import Patterns
from karat.votes.reading import read_votes

__all__ = ["ErrorEstimator"]

_MIXED = 1.1  # R-hat beyond which the chains do not tell one story


class ErrorEstimator(Parameters):
    r"""How often voters err, from their votes and no labels, or a few.

    Items of a domain have a hidden class; a voter errs given the class, at rates of its own:

    .. math:: P(\text{votes}) = \sum_k p_k \prod_j \theta_j(v_j \mid k)

    The posterior is sampled by Gibbs sweeps over distinct vote patterns. What makes the limits
    honest is that votes are not taken to be independent: models in which items come easy and hard,
    and in which voters copy one another, are weighed by how well they predict votes held out, and
    the limits span all that are not clearly worse, and every explanation of the votes that
    competes with the consensus.

    Parameters
    ----------
    structure : {"independent", "coupled", "hierarchical"}, default "independent"
        Whether domains share what they know. Each on its own; or domains in clusters, each with one
        set of error rates of all voters (CBEE of seed 002); or voters in domains in clusters, each
        with one rate (HCBEE). Sharing pays with few items in domains that are alike. Voters that
        share err independently; with ``dependence="auto"`` that model is weighed, domain by domain,
        against the domain on its own and models of dependent votes. "difficulty" and "pairs" are
        for domains on their own.
    errors : {"class-conditional", "symmetric"}, default "class-conditional"
        A confusion row per class, or one rate for all classes (the model of seed 002).
    dependence : {"auto", "none", "difficulty", "pairs"}, default "auto"
        How voters err together: not at all, because items come easy and hard, or because some copy
        others; or whichever predicts the votes, which takes five voters for "difficulty".
    chains : int, default 4
        Chains from dispersed starts.
    draws : int, optional
        Draws kept per chain, after as many that are not. By default 1,000; 4,000 for a handful of
        voters, where they cost nothing; fewer, at least 100 after half as many, on very large
        tables of votes.
    abstain : {"outcome", "missing"}, default "outcome"
        Whether an abstention (-1) depends on the class, or is as if nobody had asked.
    confidence : float, default 0.95
        Level of the limits.
    progress : bool, default False
        Whether to show progress on the terminal.
    rng : int or Generator, optional
        Randomness.

    Attributes
    ----------
    result_ : ErrorRates
        Everything below as one frozen answer, with ``summary()`` and ``plot()``.
    error_rates_ : frame
        ``domain``, ``classifier``, ``mean``, ``lower``, ``upper``, and what goes with them.
    label_proba_ : array (items, k)
        P(class) of every item.
    prevalence_ : frame
        Share of each class in each domain.
    identified_ : dict
        By domain, whether votes alone settle the error rates. Where not, no ranking can be
        trusted, however narrow the limits of a single model are.
    diagnostics_ : frame
        By domain: the models and their weights, R-hat, effective draws, and the checks.
    powered_ : frame or None
        With gold labels and no weights: prediction-powered error rates, valid whatever the model,
        if the labelled items are a random sample of the domain's.
    clusters_ : frame or None
        With a structure that shares: the cluster of each domain, or of each voter in each domain,
        and how certain it is.
    co_clustering_ : CoClustering or None
        The same with the probability that any two share, and ``plot()``.
    classes_ : array (k,)
        The classes.
    classifiers_ : tuple of str
        The voters.
    items_ : array or None
        The items of a long table, in the order of ``label_proba_``.

    Notes
    -----
    An error rate is the chance of a wrong vote when the voter votes; abstentions are reported in
    the confusion. Weights count items; a fraction of an item counts its complete-data likelihood
    to that power. With no domain but one, its name is "all".

    References
    ----------
    Seed 002: E. A. Platanios, A. Dubey and T. Mitchell, Estimating accuracy from unlabeled data:
    a Bayesian approach, ICML 2016, supplement.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 1000)
    >>> wrong = rng.random((1000, 4)) < [0.05, 0.1, 0.2, 0.3]
    >>> est = ErrorEstimator(draws=200, rng=0).fit(np.where(wrong, 1 - y[:, None], y[:, None]))
    >>> bool((abs(est.result_.mean - [0.05, 0.1, 0.2, 0.3]) < 0.05).all())
    True
    >>> est.identified_
    {'all': True}
    """

    def __init__(
        self,
        *,
        structure: Literal["independent", "coupled", "hierarchical"] = "independent",
        errors: Literal["class-conditional", "symmetric"] = "class-conditional",
        dependence: Literal["auto", "none", "difficulty", "pairs"] = "auto",
        chains: int = 4,
        draws: int | None = None,
        abstain: Literal["outcome", "missing"] = "outcome",
        confidence: float = 0.95,
        progress: bool = False,
        rng: int | np.random.Generator | None = None,
    ) -> None:
        self.structure = structure
        self.errors = errors
        self.dependence = dependence
        self.chains = chains
        self.draws = draws
        self.abstain = abstain
        self.confidence = confidence
        self.progress = progress
        self.rng = rng

    def fit(
        self,
        votes: Frame | Patterns,
        domains: Column | None = None,
        y_true: Column | Mapping[Any, Any] | None = None,
        *,
        classes: Column | None = None,
        sample_weight: Column | None = None,
        threshold: float | list[float] | Mapping[str, float] | None = None,
        null: str = "not asked",
    ) -> Self:
        """Estimate the error rates.

        Parameters
        ----------
        votes : matrix or frame
            Wide: one row per item, one column per voter; null where a voter was not asked, -1
            where it abstained. Or long: a frame with columns ``item``, ``classifier``, ``vote``
            and perhaps ``domain``. Or patterns that were counted (`karat.statistics.patterns`,
            `karat.votes.read_patterns`); an item is then a pattern, weighted by its count. A lazy
            frame is collected once, and must come alone; the rows of ``label_proba_`` are then in
            the order in which they came.
        domains : column, optional
            Domain of each row; error rates are estimated domain by domain.
        y_true : column or mapping, optional
            Gold labels, null or -1 where there is none: one value per row, or a mapping from item
            (row number of a wide table; (domain, item) if domains share items) to label.
        classes : column (k,), optional
            The classes in the wanted order; by default those found, sorted.
        sample_weight : column, optional
            Weights of at least 0, one per row; a weight of 2 counts as two equal items.
        threshold : float, list or mapping, optional
            Cut probabilities: a vote for class 1 where at least this, for class 0 below. One for
            all voters, or one for each. Nothing is cut unless asked.
        null : {"not asked", "abstain"}, default "not asked"
            What a null is. It is not asked unless said otherwise; -1 is always an abstention.

        Returns
        -------
        ErrorEstimator
            Itself.
        """
        settings = self._settings()
        rng = check_rng(self.rng)
        lazy = is_lazy(votes)
        votes = collected_alone(votes, "votes", domains, y_true, sample_weight)
        data = read_votes(
            votes, domains=domains, y_true=y_true, classes=classes, sample_weight=sample_weight,
            threshold=threshold, abstain=self.abstain, null=null,
        )  # fmt: skip
        warn_of_upside_down_gold(data)
        progress = Progress(self.progress, len(data.domains))
        fits, together, co_clustering = [], None, None
        try:
            if settings.structure != "independent":
                step = progress.all_domains()
                together, co_clustering = fit_together(data, settings, rng.spawn(1)[0], step)
            for d, domain in enumerate(data.domains):
                step = progress.domain(domain.name)
                shared = None if together is None else together[d]
                fits.append(fit_domain(domain.table, settings, rng.spawn(1)[0], step, shared))
        except SystemError as error:
            # A signal that arrives while a compiled loop returns its arrays is raised inside it.
            if isinstance(error.__cause__ or error.__context__, KeyboardInterrupt):
                raise KeyboardInterrupt from None
            raise
        finally:
            progress.close()
        # An interrupt leaves an earlier fit as it was: nothing is set before all is known.
        self.co_clustering_ = co_clustering
        self._votes, self._fits = data, tuple(fits)
        self._backend, self._seed = backend_of(votes), int(rng.integers(2**63))
        self._blind = tuple(
            blind_consensus(fit) if (fit.table.gold >= 0).any() else None for fit in fits
        )
        self.classes_, self.classifiers_ = data.classes, data.classifiers
        self.items_ = data.item_names
        self._rows_unknown = lazy and data.item_names is None
        self.label_proba_ = by_item(data, [fit.label_proba() for fit in fits])
        self.result_ = summarise(data, self._fits, self._blind, settings.confidence)
        self.identified_ = {
            d: bool(i) for d, i in zip(self.result_.domains, self.result_.identified, strict=True)
        }
        self.error_rates_ = self.error_rates()
        self.clusters_ = clusters_table(data, self.co_clustering_, self._backend)
        self.prevalence_ = prevalence_table(data, self.result_, self._backend)
        self.diagnostics_ = diagnostics_table(data, self._fits, self._backend)
        has_gold = bool((data.gold >= 0).any())
        self.powered_ = self.powered() if has_gold and not self._weighted() else None
        self._warn_of_what_is_not_known()
        return self

    def error_rates(self, *, finite: bool = False) -> Any:
        """Return the table of error rates.

        Parameters
        ----------
        finite : bool, default False
            Whether to report the errors on these very items and not the rate in the population.

        Returns
        -------
        frame
            One row per domain and voter that voted in it, of the kind that was passed to ``fit``.
        """
        self._require_fit()
        return error_table(self._votes, self.result_, finite, self._backend)

    def powered(self, *, finite: bool = False) -> Any:
        """Return prediction-powered error rates from the gold labels.

        Parameters
        ----------
        finite : bool, default False
            Whether to report the error on exactly these items and not the rate in the population.

        Returns
        -------
        frame
            By domain and voter: ``estimate``, ``lower``, ``upper`` (normal), the limits that hold
            for any number of labels (``bernstein_``), those from the labels alone (``labels_``),
            the weight of the consensus, and the number of gold votes. NaN with fewer than five.
        """
        self._require_fit()
        if not (self._votes.gold >= 0).any():
            raise DataError("there are no gold labels; pass y_true= to fit")
        if self._weighted():
            raise DataError(
                "powered error rates are not defined with sample_weight=; fit without weights, or "
                "repeat the items"
            )
        return powered_table(self._votes, self._blind, self.confidence, finite, self._backend)

    def label_next(self, n: int = 20, *, domain: str | None = None, how: str = "contested") -> Any:
        """Return the items to label next.

        Parameters
        ----------
        n : int, default 20
            How many.
        domain : str, optional
            Take them from this domain only.
        how : {"contested", "random"}, default "contested"
            The items on which competing explanations disagree most, then those whose label is
            least certain: they settle fastest which explanation holds. Or a random sample, which
            ``powered_`` needs.

        Returns
        -------
        frame
            ``domain``, ``item`` (row number of a wide table) and ``doubt``: how much the
            explanations differ on it, plus the uncertainty of its label.
        """
        self._require_fit()
        if self._rows_unknown:
            raise LazyFrameError(
                "label_next names rows by their number, and this ErrorEstimator was fitted to a "
                "lazy frame, whose rows come in no fixed order; collect it once and fit again, or "
                "pass a long table with a column 'item'"
            )
        count = check_count(n, "n")
        check_choice(how, "how", ("contested", "random"))
        domains, items, doubts = [], [], []
        for d, (here, fit) in enumerate(zip(self._votes.domains, self._fits, strict=True)):
            if domain is not None and here.name != str(domain):
                continue
            open_items = here.items[self._votes.gold[here.items] < 0]
            doubt = doubt_of(fit)[here.pattern[self._votes.gold[here.items] < 0]]
            domains += [d] * len(open_items)
            items.append(open_items)
            doubts.append(doubt)
        if not items:
            names = [d.name for d in self._votes.domains]
            raise DataError(f"there is no domain {domain!r}; there are {names}")
        at, doubt = np.concatenate(items), np.concatenate(doubts)
        noise = np.random.default_rng(self._seed).random(len(at))
        order = np.argsort(noise) if how == "random" else np.lexsort((noise, -doubt))
        best = order[:count]
        named = at if self.items_ is None else self.items_[at]
        return to_frame(
            {
                "domain": [self._votes.domains[domains[i]].label for i in best],
                "item": named[best],
                "doubt": doubt[best],
            },
            self._backend,
        )

    def explanations(self, domain: str | None = None) -> Explanations:
        """Return the competing accounts of the votes of one domain.

        Parameters
        ----------
        domain : str, optional
            Which; may be left out if there is one only.

        Returns
        -------
        Explanations
            Error rates under each account, side by side.
        """
        d = self._domain(domain)
        return self.result_.explanations[d]

    def agreement(self, domain: str | None = None) -> VoterAgreement:
        """Return how often pairs of voters agree, beside what the best model expects.

        Parameters
        ----------
        domain : str, optional
            Which; may be left out if there is one only.

        Returns
        -------
        VoterAgreement
            Observed and expected agreement of each pair: the posterior predictive check.
        """
        d = self._domain(domain)
        return voter_agreement(self._votes, self._votes.domains[d], self._fits[d])

    def as_label_model(self, domain: str | None = None) -> ConsensusLabelModel:
        """Return the consensus of one domain as a label model for `karat.bounds`.

        Parameters
        ----------
        domain : str, optional
            Which; may be left out if there is one only.

        Returns
        -------
        ConsensusLabelModel
            P(Y | votes); its ``draws()`` go to ``label_model_draws=``.
        """
        d = self._domain(domain)
        here, fit = self._votes.domains[d], self._fits[d]
        members, weights = [], []
        for f in fit.fitted:
            members += [(f.problem.model, state) for state in f.draws.states]
            weights += [f.weight / len(f.draws.states)] * len(f.draws.states)
        return ConsensusLabelModel(
            self.classes_,
            tuple(self.classifiers_[j] for j in here.voters),
            tuple(members),
            np.array(weights) / sum(weights),
            abstentions=fit.table.n_outcomes > fit.table.n_classes,
            rng=np.random.default_rng(self._seed),
        )

    def to_inference_data(self, domain: str | None = None) -> Any:
        """Return the draws of the best model as ArviZ inference data.

        Parameters
        ----------
        domain : str, optional
            Which; may be left out if there is one only.

        Returns
        -------
        arviz.InferenceData
            Groups ``posterior`` (``error_rate``, ``error_on_items``, ``prevalence``) and
            ``sample_stats`` (``lp``, the log-likelihood).
        """
        d = self._domain(domain)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # ArviZ announces its own next version
            arviz: Any = require("arviz", extra="arviz", purpose="inference data")
        here, fit = self._votes.domains[d], self._fits[d]
        best = fit.best
        draws = best.draws
        shape = (*draws.weights.shape[:2], len(self.classes_), best.problem.model.levels)
        return arviz.from_dict(
            posterior={
                "error_rate": draws.rates,
                "error_on_items": draws.finite,
                "prevalence": draws.weights.reshape(shape).sum(axis=3),
            },
            sample_stats={"lp": draws.value},
            coords={
                "classifier": [self.classifiers_[j] for j in here.voters],
                "class": self.classes_.tolist(),
            },
            dims={
                "error_rate": ["classifier"],
                "error_on_items": ["classifier"],
                "prevalence": ["class"],
            },
        )

    def _settings(self) -> Settings:
        check_choice(self.structure, "structure", ("independent", "coupled", "hierarchical"))
        check_choice(self.errors, "errors", ("class-conditional", "symmetric"))
        check_choice(self.dependence, "dependence", ("auto", "none", "difficulty", "pairs"))
        check_choice(self.abstain, "abstain", ("outcome", "missing"))
        confidence = check_confidence(self.confidence)
        if self.structure != "independent" and self.dependence in ("difficulty", "pairs"):
            raise DataError(
                f"structure is {self.structure!r} and dependence is {self.dependence!r}; voters "
                'whose error rates domains share err independently. Pass dependence="auto", which '
                'weighs that against dependent votes, or "none", or structure="independent"'
            )
        return Settings(
            structure=self.structure,
            errors=self.errors,
            dependence=self.dependence,
            chains=check_count(self.chains, "chains", at_least=2),
            draws=None if self.draws is None else check_count(self.draws, "draws", at_least=20),
            confidence=confidence,
        )

    def _warn_of_what_is_not_known(self) -> None:
        apart = {
            d.name: float(np.max(fit.r_hat))
            for d, fit in zip(self._votes.domains, self._fits, strict=True)
            if fit.identified and np.max(fit.r_hat) > _MIXED
        }
        if apart:
            worst = max(apart, key=lambda name: apart[name])
            where = "" if len(self._fits) == 1 else f" in {len(apart)} domains, worst in {worst!r}"
            warnings.warn(
                f"chains have not mixed{where} (R-hat {apart[worst]:.2f}): raise draws=, unless "
                "they sit on modes of their own, which the limits span",
                KaratWarning,
                stacklevel=3,
            )
        unknown = [name for name, known in self.identified_.items() if not known]
        if unknown:
            many = len(self.identified_)
            where = "" if many == 1 else f" in {len(unknown)} of {many} domains"
            warnings.warn(
                f"votes alone do not settle the error rates{where}: no ranking there can be "
                "trusted. explanations() shows the competing accounts, and label_next() the items "
                "whose labels would tell",
                NotIdentifiedWarning,
                stacklevel=3,
            )

    def _domain(self, domain: str | None) -> int:
        self._require_fit()
        names = [d.name for d in self._votes.domains]
        if domain is None and len(names) == 1:
            return 0
        if domain is not None:
            domain = str(domain)  # names are text, whatever the column held
        if domain not in names:
            asked = "domain is not given" if domain is None else f"there is no domain {domain!r}"
            raise DataError(f"{asked}; name one of {names}")
        return names.index(domain)

    def _weighted(self) -> bool:
        weight = self._votes.weight
        return weight is not None and bool((weight != weight[0]).any())

    def _require_fit(self) -> None:
        check_fitted(self, "result_", "fit(votes)")
