"""What can be asked of votes after a fit."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from karat._frames import keeps_kind
from karat._typing import AnyArray, FloatArray
from karat._validate import (
    check_choice,
    check_count,
    check_fitted,
    check_flag,
    check_scores,
    named,
    refuse_option,
)
from karat.consensus.answers._exports import inference_data
from karat.consensus.answers._next_items import next_items
from karat.consensus.answers._powered import blind_consensus
from karat.consensus.answers._summaries import (
    by_item,
    ranking_robustness,
    summarise,
    voter_agreement,
)
from karat.consensus.answers._tables import (
    clusters_table,
    diagnostics_table,
    error_table,
    powered_table,
    prevalence_table,
)
from karat.consensus.explanation_result import Explanations, RankingRobustness, VoterAgreement
from karat.consensus.fitting import VotesFit
from karat.consensus.model_result import CoClustering
from karat.consensus.result import ErrorRates
from karat.exceptions import DataError, LazyFrameError

__all__ = ["FittedVotes"]


class FittedVotes:
    """Base of `ErrorEstimator`: the answers that a fit leaves, and the questions it can be asked.

    An estimator fits and calls ``_keep``; everything here reads what that has set.
    """

    result_: ErrorRates
    label_proba_: FloatArray
    status_: dict[Any, str]
    identified_: dict[Any, bool]
    co_clustering_: CoClustering | None
    classes_: AnyArray
    classifiers_: tuple[Any, ...]
    items_: AnyArray | None

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
        self.error_rates_ = self.error_rates()
        self.clusters_ = clusters_table(data, fit.co_clustering, backend)
        self.prevalence_ = prevalence_table(data, self.result_, backend)
        self.diagnostics_ = diagnostics_table(data, fit.domains, backend)
        has_gold = bool((data.gold >= 0).any())
        sampled = has_gold and not data.weighted and design != "picked"
        self.powered_ = self.powered() if sampled else None

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
        check_fitted(self, "result_", "fit(votes)")
        on_items = check_flag(finite, "finite")
        if not (self._votes.gold >= 0).any():
            raise DataError("there are no gold labels; pass y_true= to fit")
        if self._design == "picked":
            raise DataError(
                "labels='picked' was passed: items that were picked are no sample of the others, "
                "so their labels say nothing of error rates; draw items with label_next(), and fit "
                "with labels='probability' and its probabilities"
            )
        if self._votes.weighted:
            raise DataError(
                "powered error rates are not defined with sample_weight=; fit without weights, or "
                "repeat the items"
            )
        level = self.result_.confidence
        return powered_table(self._votes, self._blind, level, on_items, self._backend)

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
            ``domain``, ``item`` (its name, or the row number of a wide table without names),
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
