"""Procedures that find a metric from its slopes at several places."""

from abc import abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from karat._validate import refuse_option
from karat.elicit.procedure._procedure import Procedure
from karat.elicit.search import Brackets, Site, Steps, find_slope, site_brackets, trace_slope
from karat.elicit.spaces import Space

__all__ = ["SlopeProcedure"]


class SlopeProcedure(Procedure):
    """A procedure whose metric is determined by its slopes at several places.

    ``bisection`` finds each slope by one sweep of antipodal pairs, ``published`` by the signs of
    all entries and cycles of four questions a halving.
    """

    cycles: ClassVar[int] = 4
    curved: ClassVar[bool] = True
    straight: ClassVar[bool] = False
    sparse: bool = False

    def __init__(self, space: Space, **options: Any) -> None:
        orientation = options.get("orientation", "increasing")
        if orientation != "increasing":
            refuse_option(
                orientation,
                "orientation",
                f"'increasing': {type(self).__name__} finds the signs of all weights, or takes "
                "errors as costs",
            )
        super().__init__(space, **options)
        self._family(flipped=False)  # refuses what the strategy cannot use before anyone is asked

    @cached_property
    def _sites(self) -> list[Site]:
        """Where slopes are searched, in this order."""
        return list(
            self._published_sites() if self.strategy == "published" else self._chosen_sites()
        )

    @abstractmethod
    def _chosen_sites(self) -> Iterator[Site]:
        """Return the sites of ``bisection``: those whose slopes say most."""

    @abstractmethod
    def _published_sites(self) -> Iterator[Site]:
        """Return the sites of ``published``."""

    def _before(self, i: int) -> None:
        """Prepare the search of slope i, such as by a plane that the slope lies in."""

    def _first_brackets(self) -> Brackets:
        if self.strategy == "active":
            return Brackets.of(0.0, 0.0, 0)
        return site_brackets(self._sites)

    def _bisection(self) -> Steps:
        for i in range(len(self._sites)):
            self._before(i)
            # What every other slope is measured against is found four times as finely.
            tol = self.tol / 4 if self._sites[i].positive else self.tol
            yield from find_slope(self._brackets, self._sites, i, tol, sparse=self.sparse)

    def _published(self) -> Steps:
        for i in range(len(self._sites)):
            self._before(i)
            yield from trace_slope(self._brackets, self._sites, i, self.tol, self.cycles)

    def _flat_sites(self) -> list[int]:
        """Return the sites at which no direction made a difference."""
        return [i for i, signs in enumerate(self._brackets.signs) if not signs.any()]

    def _check_structure(self, **options: bool) -> None:
        """Refuse structure that the published algorithms cannot use."""
        asked = [name for name, value in options.items() if value]
        if asked and self.strategy == "published":
            refuse_option(
                True,
                asked[0],
                "False with strategy='published', whose algorithm does not use it",
            )

    def _n_comparable(self, n: int) -> int:
        return self.space.dim  # the weights of the rates; those of their products are not

    def _affordable(self, draws: int) -> int:
        # a metric takes about size³ steps; 40 is the size at which that begins to be slow
        return int(np.clip(draws * (40.0 / self._largest_system) ** 3, min(draws, 20), draws))

    @property
    @abstractmethod
    def _largest_system(self) -> int:
        """Return the number of unknowns that are solved for at once."""
