"""The frozen answers about models of votes: which domains share, and which model predicts best."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from karat._result import Result
from karat._typing import FloatArray, IntArray

__all__ = ["CoClustering", "ModelComparison"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CoClustering(Result):
    """Which domains, or which voters in which domains, share their error rates.

    Attributes
    ----------
    structure : str
        "coupled": domains share those of all voters. "hierarchical": voters in domains share one.
    names : tuple
        What is clustered.
    labels : array (items,)
        The partition that disagrees least with the draws, the largest cluster first.
    certainty : array (items,)
        Posterior probability that an item is together with another of its cluster, on average.
    probability : array (items, items)
        Posterior probability that two items are together; empty for more than 1,000 items.
    n_clusters : array (3,)
        Number of clusters: posterior mean and 95 % limits.
    concentration : array (c, 3)
        Concentration parameters, α or (α, γ): posterior mean and 95 % limits.
    """

    structure: str
    names: tuple[Any, ...]
    labels: IntArray
    certainty: FloatArray
    probability: FloatArray
    n_clusters: FloatArray
    concentration: FloatArray

    _COLUMNS = ("name=names", "label=labels", "certainty")

    def summary(self) -> str:
        """Return how many clusters there are, and how sure that is."""
        found = int(self.labels.max()) + 1
        what = "domains" if self.structure == "coupled" else "voters in domains"
        mean, low, high = self.n_clusters
        return (
            f"{len(self.names)} {what} share error rates in {found} cluster"
            f"{'s' if found > 1 else ''} (posterior mean {mean:.1f}, 95 %: {low:.0f} to "
            f"{high:.0f}); the largest has {int((self.labels == 0).sum())}"
        )

    def _table(self) -> list[tuple[str, str]]:
        rows = []
        for cluster in range(min(int(self.labels.max()) + 1, 30)):
            members = [n for n, k in zip(self.names, self.labels, strict=True) if k == cluster]
            listed = ", ".join(members[:8]) + (", ..." if len(members) > 8 else "")
            rows.append((f"cluster {cluster}", listed))
        return rows


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ModelComparison(Result):
    """Models of the votes, compared on votes that were held out; no labels are used.

    Attributes
    ----------
    n : float
        Items, by weight.
    structure, errors, dependence : tuple of str
        The models.
    log_likelihood : array (models,)
        Held-out log-likelihood of all items.
    behind, behind_error : array (models,)
        How far each is behind the best, and the standard error of that.
    weight : array (models,)
        Stacking weights: the mixture that predicts best.
    """

    n: float
    structure: tuple[str, ...]
    errors: tuple[str, ...]
    dependence: tuple[str, ...]
    log_likelihood: FloatArray
    behind: FloatArray
    behind_error: FloatArray
    weight: FloatArray

    _COLUMNS = (
        "structure", "errors", "dependence", "log_likelihood", "behind", "behind_error", "weight",
        "n",
    )  # fmt: skip

    def summary(self) -> str:
        """Return the best model and how clear that is."""
        order = np.argsort(self.behind, kind="stable")
        best = int(order[0])
        text = f"{self._name(best)} predicts held-out votes best"
        if len(order) == 1:
            return text
        second = int(order[1])
        clear = self.behind[second] > 2 * self.behind_error[second]
        return (
            f"{text}; {self._name(second)} is behind by {self.behind[second]:.1f} ± "
            f"{self.behind_error[second]:.1f}, {'clearly' if clear else 'which is not clear'}"
        )

    def _name(self, model: int) -> str:
        if self.structure[model] != "independent":
            return f"{self.errors[model]} errors, {self.structure[model]} domains"
        return f"{self.errors[model]} errors with dependence {self.dependence[model]!r}"

    def _table(self) -> list[tuple[str, str]]:
        return [
            (self._name(m), f"behind {self.behind[m]:.1f} ± {self.behind_error[m]:.1f}")
            for m in range(len(self.weight))
        ]
