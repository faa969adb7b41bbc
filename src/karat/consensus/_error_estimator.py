"""Error rates of classifiers, judges or annotators, from their votes alone."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np

from karat._parameters import Parameters
from karat._result import call_columns, keeps_kind
from karat._sentences import Option, Remedy
from karat._typing import AnyArray, Column, FloatArray, Frame
from karat._validate import (
    check_choice,
    check_count,
    check_fitted,
    check_flag,
    check_rng,
    check_scores,
    collected_alone,
    is_lazy,
    named,
    refuse_option,
)
from karat.consensus._answers import (
    backend_of,
    by_item,
    check_design,
    clusters_table,
    counted_arguments,
    diagnostics_table,
    error_table,
    gold_rates_table,
    inference_data,
    labels_table,
    next_items,
    posterior_states,
    prevalence_table,
    ranking_robustness,
    summarise,
    voter_agreement,
    warn_of_inverted_gold,
    warn_of_limits_of_the_fit,
)
from karat.consensus._fitting import Settings, VotesFit, fit_votes
from karat.consensus._from_labels import blind_consensus
from karat.consensus._label_model import ConsensusLabelModel
from karat.consensus.result import (
    CoClustering,
    ErrorRates,
    Explanations,
    RankingRobustness,
    VoterAgreement,
)
from karat.exceptions import DataError, LazyFrameError
from karat.statistics import VoteCounts
from karat.statistics.patterns import Patterns
from karat.votes.agreement import NearCopies
from karat.votes.domains import read_votes


class ErrorEstimator(Parameters):
    r"""How often voters err, from their votes and no labels, or a few.

    Items of a domain have a hidden class; a voter errs given the class, at rates of its own:

    .. math:: P(\text{votes}) = \sum_k p_k \prod_j \theta_j(v_j \mid k)

    The posterior is sampled by Gibbs sweeps over distinct vote patterns. Votes are not taken to be
    independent: models with easy and hard items, and with voters who copy one another, are weighed
    by how well they predict votes held out. The limits span all models that are not clearly worse,
    and every explanation of the votes that competes with the consensus.

    Parameters
    ----------
    structure : {"independent", "coupled", "hierarchical"}, default "independent"
        Whether domains share error rates: none does; or domains are in clusters, each with one set
        of error rates of all voters (CBEE of Platanios et al. 2016); or voters in domains are in
        clusters, each with one rate (HCBEE). Sharing pays with few items in domains that are alike.
        With ``dependence="auto"`` the model that shares is weighed, domain by domain, against
        models of that domain alone. "difficulty" and "pairs" are for domains that share nothing.
    errors : {"class-conditional", "symmetric"}, default "class-conditional"
        A confusion row per class, or one rate for all classes (the model of Platanios et al.).
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
    slack : float, default 0.02
        Share of the items on which most voters may be fooled together without a trace in the votes:
        where votes are consistent, every limit allows for it.
    progress : bool, default False
        Whether to show progress on the terminal.
    rng : int or Generator, optional
        Randomness of the chains, and of ``label_next``. The weights of the models and the starts of
        the chains depend on the votes alone.

    Attributes
    ----------
    result_ : ErrorRates
        Everything below as one frozen answer, with ``summary()`` and ``plot()``.
    error_rates_ : frame
        The table of error rates to use: that of ``from_votes_``.
    from_votes_ : frame
        Error rates by the model of the votes: ``domain``, ``classifier``, ``value``, ``lower``,
        ``upper``, votes, status and recalls, the lowest error rate of a domain first. Frames are of
        the library that was passed in; names keep the dtype that was passed, and columns of voters,
        items and domains the names that they have in a long table.
    from_labels_ : frame or None
        With gold labels and no weights: error rates from the labels, with the votes as control
        (prediction-powered), valid whatever the model for labels that were drawn with known
        probabilities. Use it before ``from_votes_``. None for labels that were picked;
        ``from_labels()`` says why.
    label_proba_ : array (items, k)
        P(class) of every item.
    labels_ : frame
        ``item``, the most probable class (``vote``, or as votes are called in a long table) and its
        ``probability``.
    prevalence_ : frame
        Share of each class in each domain.
    status_ : dict
        By domain: ``"not identified"``, and votes cannot tell; ``"consistent"``, nothing in the
        votes speaks against the rates; and with random gold labels ``"contradicted"`` by an exact
        test of the consensus, or ``"confirmed"``, if they are enough to notice that it errs.
    identified_ : dict
        By domain, whether the status is consistent or confirmed. Where not, no ranking can be
        trusted, and the limits are those of every explanation of the votes together.
    diagnostics_ : frame
        By domain: the models and their weights, R-hat, effective draws, and the checks.
    clusters_ : frame or None
        With a structure that shares: the cluster of each domain, or of each voter in each domain,
        and how certain it is.
    co_clustering_ : CoClustering or None
        The same with the probability that any two share, and ``plot()``.
    classes_ : array (k,)
        The classes.
    classifiers_ : tuple
        The voters, named as they were passed.
    items_ : array or None
        The names of the items, in the order of ``label_proba_``; None if they have none but the
        numbers of their rows.

    Notes
    -----
    An error rate is the chance of a wrong vote when the voter votes; abstentions are reported in
    the confusion. Weights count items; a fraction of an item counts its complete-data likelihood
    to that power. With no domain but one, its name is "all".

    References
    ----------
    E. A. Platanios, A. Dubey and T. Mitchell, Estimating accuracy from unlabeled data: a Bayesian
    approach, ICML 2016, supplement.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 1000)
    >>> wrong = rng.random((1000, 4)) < [0.05, 0.1, 0.2, 0.3]
    >>> est = ErrorEstimator(draws=200, rng=0).fit(np.where(wrong, 1 - y[:, None], y[:, None]))
    >>> bool((abs(est.result_.value - [0.05, 0.1, 0.2, 0.3]) < 0.05).all())
    True
    >>> est.status_
    {'all': 'consistent'}
    """

    result_: ErrorRates
    label_proba_: FloatArray
    status_: dict[Any, str]
    identified_: dict[Any, bool]
    co_clustering_: CoClustering | None
    classes_: AnyArray
    classifiers_: tuple[Any, ...]
    items_: AnyArray | None

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
        slack: float = 0.02,
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
        self.slack = slack
        self.progress = progress
        self.rng = rng

    @keeps_kind
    def fit(
        self,
        votes: Frame | Patterns | VoteCounts,
        domains: Column | None = None,
        y_true: Column | Mapping[Any, Any] | None = None,
        *,
        labels: Literal["random", "probability", "picked"] = "random",
        label_probability: Column | Mapping[Any, float] | None = None,
        same: Mapping[Any, Sequence[Any]] | None = None,
        classes: Column | None = None,
        sample_weight: Column | None = None,
        weighting: str | None = None,
        threshold: float | list[float] | Mapping[Any, float] | None = None,
        null: str = "not asked",
    ) -> Self:
        """Estimate the error rates.

        Parameters
        ----------
        votes : matrix or frame
            Wide: one row per item, one column per voter; null where a voter was not asked, -1
            where it abstained; a column ``item`` names the items, a column ``domain`` their
            domains. Or long: a frame with columns of items, voters and votes, known by their names
            as in `karat.votes.read_patterns`, and perhaps ``domain``. Or patterns that were counted
            (`karat.statistics.patterns`, `karat.votes.read_patterns`); an item is then a pattern,
            weighted by its count. Or counts by domain and true label
            (`karat.sources.Source.vote_counts`), alone. A lazy frame is collected once, and must
            come alone; the rows of ``label_proba_`` are then in the order in which they came.
        domains : column, optional
            Domain of each row; error rates are estimated domain by domain.
        y_true : column or mapping, optional
            Gold labels, null or -1 where there is none: one value per row, or a mapping from item
            (row number of a wide table without names; (domain, item) if domains share items) to
            label. A label that no vote holds is refused unless ``classes`` names it.
        labels : {"random", "probability", "picked"}, default "random"
            How the items with a gold label were chosen: at random within each domain; with
            probabilities that ``label_probability`` holds, as ``label_next()`` draws them; or
            picked, as with ``label_next(how="contested")``. Picked labels help to see which
            explanation of the votes is right, but are no sample of the items: there are no
            rates from labels then, and the consensus is not tested.
        label_probability : column or mapping, optional
            With ``labels="probability"``, the chance with which each labelled item was drawn.
        same : mapping, optional
            Families of voters that count as one, by name, such as ``{"gpt": ["gpt-a", "gpt-b"]}``.
            Near copies are found in any case.
        classes : column (k,), optional
            The classes in the wanted order; by default those found, sorted.
        sample_weight : column, optional
            Weights of at least 0, one per row, in any unit.
        weighting : {"importance", "frequency"}, optional
            What ``sample_weight`` means. By default weights are importances: only their ratios
            count, and limits rest on Kish's effective number of items of each domain, (Σw)² / Σw².
            ``"frequency"`` says that a weight of 2 stands for two equal items.
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
        settings = Settings.checked(self.get_params())
        rng = check_rng(self.rng)
        counted = isinstance(votes, VoteCounts)
        if isinstance(votes, VoteCounts):
            votes, domains, y_true = counted_arguments(
                votes, domains, y_true, sample_weight, label_probability, classes
            )
        lazy = is_lazy(votes) or counted
        votes = collected_alone(votes, "votes", domains, y_true, sample_weight, label_probability)
        data = read_votes(
            votes,
            domains=domains,
            y_true=y_true,
            label_probability=label_probability,
            classes=classes,
            sample_weight=sample_weight,
            weighting=weighting,
            threshold=threshold,
            abstain=settings.abstain,
            null=null,
        )
        design = check_design(labels, y_true, label_probability)
        warn_of_inverted_gold(data)
        fit = fit_votes(data, settings, rng, same=same, tested=design != "picked")
        # An interrupt leaves an earlier fit as it was: nothing is set before all is known.
        self._keep(
            fit,
            confidence=settings.confidence,
            backend="polars" if counted else backend_of(votes),
            seed=int(rng.integers(2**63)),
            lazy=lazy,
            null=null,
            design=design,
        )
        warn_of_limits_of_the_fit(self.result_, same)
        return self

    def as_label_model(self, domain: Any = None) -> ConsensusLabelModel:
        """Return the consensus of one domain as a label model for `karat.bounds`.

        Parameters
        ----------
        domain : name, optional
            Name of the domain; optional when there is one.

        Returns
        -------
        ConsensusLabelModel
            P(Y | votes); its ``draws()`` go to ``label_model_draws=``.
        """
        d = self._domain(domain)
        here, fit = self._votes.domains[d], self._fits[d]
        return ConsensusLabelModel(
            self.classes_,
            tuple(self.classifiers_[j] for j in here.voters),
            *posterior_states(fit),
            abstentions=fit.table.n_outcomes > fit.table.n_classes,
            # Copies that were found and did not count once in the fit do not here either.
            copies=fit.copies if fit.table.counted is not None else NearCopies((), (), ()),
            null=self._null,
            rng=np.random.default_rng(self._seed),
        )

    def _keep(
        self,
        fit: VotesFit,
        *,
        confidence: float,
        backend: Any,
        seed: int,
        lazy: bool,
        null: str,
        design: str,
    ) -> None:
        """Set every answer.

        ``backend`` is the library of the frames, ``seed`` that of draws after the fit, ``lazy``
        says that the votes came from a lazy frame, ``null`` what a null in them was, and ``design``
        how the items with a gold label were chosen.
        """
        data = fit.data
        self._design = design
        self._votes, self._fits, self.co_clustering_ = data, fit.domains, fit.co_clustering
        call_columns(self, data.called)
        self._backend, self._seed, self._null = backend, seed, null
        self._rows_unknown = lazy and data.item_names is None
        self._blind = tuple(
            blind_consensus(one) if (one.table.gold >= 0).any() else None for one in fit.domains
        )
        self.classes_, self.classifiers_ = data.classes, data.classifiers
        self.items_ = None if data.item_names is None else data.item_names.to_numpy()
        self.label_proba_ = by_item(data, [one.label_proba() for one in fit.domains])
        self.result_ = summarise(data, fit.domains, self._blind, confidence)
        self.status_ = dict(zip(self.result_.domains, self.result_.status, strict=True))
        self.identified_ = dict(
            zip(self.result_.domains, self.result_.identified.tolist(), strict=True)
        )
        self.from_votes_ = self.error_rates()
        self.error_rates_ = self.from_votes_
        self.clusters_ = clusters_table(data, fit.co_clustering, backend)
        self.prevalence_ = prevalence_table(data, self.result_, backend)
        self.diagnostics_ = diagnostics_table(data, fit.domains, backend)
        has_gold = bool((data.gold >= 0).any())
        sampled = has_gold and not data.weighted and design != "picked"
        self.from_labels_ = self.from_labels() if sampled else None

    @property
    def labels_(self) -> Any:
        """The most probable class of every item with its probability: a frame."""
        check_fitted(self, "result_", "fit(votes)")
        data, where = self._votes, None
        if not data.single:
            code = np.empty(data.n_items, dtype=np.int64)
            for d, domain in enumerate(data.domains):
                code[domain.items] = d
            where = data.domain_names.take(code)
        return labels_table(
            self.label_proba_, data.classes, data.item_names, where, data.called, self._backend
        )

    def __getstate__(self) -> dict[str, Any]:
        """Return what is stored: every answer, and a part of the draws, which are most of it."""
        state: dict[str, Any] = dict(vars(self))
        if "result_" in state:
            level = state["result_"].confidence
            state["_fits"] = tuple(one.compact(level) for one in state["_fits"])
        return state

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
        check_fitted(self, "result_", "fit(votes)")
        on_items = check_flag(finite, "finite")
        return error_table(self._votes, self.result_, on_items, self._backend)

    def from_labels(self, *, finite: bool = False) -> Any:
        """Return error rates from the gold labels, with the votes as control.

        Parameters
        ----------
        finite : bool, default False
            Whether to report the error on exactly these items and not the rate in the population.

        Returns
        -------
        frame
            By domain and voter: ``value``, ``lower``, ``upper`` (normal), the limits that hold
            for any number of labels (``bernstein_``), those from the labels alone (``labels_``),
            the weight of the consensus, and the number of gold votes. NaN with fewer than five.
        """
        check_fitted(self, "result_", "fit(votes)")
        on_items = check_flag(finite, "finite")
        if not (self._votes.gold >= 0).any():
            raise DataError(
                "there are no gold labels",
                Remedy("pass ", Option("y_true"), " to fit"),
            )
        if self._design == "picked":
            raise DataError(
                Option("labels", "picked"),
                " was passed: items that were picked are no sample of the others, so "
                "their labels say nothing of error rates; draw items with label_next(), "
                "and fit with ",
                Option("labels", "probability"),
                " and its probabilities",
            )
        if self._votes.weighted:
            raise DataError(
                "error rates from labels are not defined with ",
                Option("sample_weight"),
                Remedy("fit without weights, or repeat the items"),
            )
        level = self.result_.confidence
        return gold_rates_table(self._votes, self._blind, level, on_items, self._backend)

    def label_next(self, n: int = 20, *, domain: Any = None, how: str = "strata") -> Any:
        """Draw the items to label next, with the probability of each.

        Parameters
        ----------
        n : int, default 20
            How many.
        domain : name, optional
            Take them from this domain only; by default from all, in proportion to their items.
        how : {"strata", "random", "contested"}, default "strata"
            Items without a label are sorted by doubt and cut into ``n`` strata of equal size, of
            each of which one is drawn: every item has about the same chance, and both sure and
            doubtful ones are seen. Pass the labels to ``fit`` with ``labels="probability"``. Or at
            random (``labels="random"``). Or those on which competing explanations disagree most,
            then those whose label is least certain: their labels decide fastest which
            explanation is right, and are no sample (``labels="picked"``).

        Returns
        -------
        frame
            ``domain``, ``item`` (its name, or the row number of a wide table without names; a
            long table's own column name),
            ``probability`` with which it was drawn among the items of its domain without a label,
            NaN if it was picked, and ``doubt``: how much the explanations differ on it, plus the
            uncertainty of its label.
        """
        check_fitted(self, "result_", "fit(votes)")
        if self._rows_unknown:
            raise LazyFrameError(
                "label_next names rows by their number, and this ErrorEstimator was fitted to "
                "counts or to a lazy frame, whose rows come in no fixed order; collect the rows "
                "once and fit again, or pass a long table with a column 'item'"
            )
        return next_items(
            self._votes,
            self._fits,
            check_count(n, "n"),
            domain=None if domain is None else self._domain(domain),
            how=check_choice(how, "how", ("strata", "random", "contested")),
            seed=self._seed,
            backend=self._backend,
        )

    @keeps_kind
    def explanations(self, domain: Any = None) -> Explanations:
        """Return the competing explanations of the votes of one domain.

        Parameters
        ----------
        domain : name, optional
            Name of the domain; optional when there is one.

        Returns
        -------
        Explanations
            Error rates under each explanation, side by side.
        """
        d = self._domain(domain)
        return self.result_.explanations[d]

    @keeps_kind
    def robustness_curve(
        self, domain: Any = None, *, gamma: Sequence[float] | None = None
    ) -> RankingRobustness:
        """Return what error rates and their order are worth if most voters are fooled together.

        Votes cannot show it when a panel errs together. If the consensus is wrong on a share γ of
        the items, a rate moves by at most γ, and two voters can change places from
        :math:`γ = (e_i - e_j) / 2` on.

        Parameters
        ----------
        domain : name, optional
            Name of the domain; optional when there is one.
        gamma : sequence of float, optional
            Shares of the items, by default 0 to .2.

        Returns
        -------
        RankingRobustness
            Limits at each share, and where the order of the voters can change.
        """
        d = self._domain(domain)
        shares = np.linspace(0, 0.2, 41) if gamma is None else check_scores(gamma, "gamma")
        if ((shares < 0) | (shares > 1)).any():
            refuse_option(gamma, "gamma", "shares of the items between 0 and 1")
        here = self._votes.domains[d]
        level = self.result_.confidence
        return ranking_robustness(self._votes, here, self._fits[d], level, shares)

    @keeps_kind
    def agreement(self, domain: Any = None) -> VoterAgreement:
        """Return how often pairs of voters agree, beside what the best model expects.

        Parameters
        ----------
        domain : name, optional
            Name of the domain; optional when there is one.

        Returns
        -------
        VoterAgreement
            Observed and expected agreement of each pair: the posterior predictive check.
        """
        d = self._domain(domain)
        return voter_agreement(self._votes, self._votes.domains[d], self._fits[d])

    def to_inference_data(self, domain: Any = None) -> Any:
        """Return the draws of the best model as ArviZ inference data.

        Parameters
        ----------
        domain : name, optional
            Name of the domain; optional when there is one.

        Returns
        -------
        arviz.InferenceData
            Groups ``posterior`` (``error_rate``, ``error_on_items``, ``prevalence``) and
            ``sample_stats`` (``lp``, the log-likelihood). An estimator that was stored and loaded
            has 250 draws of each chain.
        """
        d = self._domain(domain)
        return inference_data(self._votes, self._votes.domains[d], self._fits[d])

    def _domain(self, domain: Any) -> int:
        """Return the position of a domain by its name."""
        check_fitted(self, "result_", "fit(votes)")
        names = list(self.result_.domains)
        if domain is None and len(names) == 1:
            return 0
        if domain not in names:
            refuse_option(domain, "domain", f"one of {named(names)}")
        return names.index(domain)
