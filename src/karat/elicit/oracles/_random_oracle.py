"""Someone who answers without looking: what a study must not take for a person with a metric."""

import numpy as np

from karat._validate import check_choice, check_rng
from karat.elicit.transcript import Answer, Query

__all__ = ["RandomOracle"]

_COIN: tuple[Answer, Answer] = ("first", "second")
_ALWAYS: dict[str, Answer] = {"first": "first", "second": "second", "tie": "tie"}


class RandomOracle:
    """Answers queries without looking at them, to test that nobody is fooled by it.

    Parameters
    ----------
    kind : {"coin", "first", "second", "tie"}, default "coin"
        A coin, or the same answer always.
    rng : int or generator, optional
        Randomness of the coin.

    Examples
    --------
    >>> from karat.elicit import Query
    >>> import numpy as np
    >>> RandomOracle("first")(Query(np.full((2, 2), 0.25), np.diag([0.5, 0.5])))
    'first'
    """

    def __init__(self, kind: str = "coin", *, rng: int | np.random.Generator | None = None) -> None:
        self.kind = check_choice(kind, "kind", ("coin", *_ALWAYS))
        self.rng = check_rng(rng)
        self.n_answers = 0

    def __call__(self, query: Query) -> Answer:
        """Answer a query."""
        self.n_answers += 1
        return _ALWAYS.get(self.kind) or _COIN[int(self.rng.integers(2))]
