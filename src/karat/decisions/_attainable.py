"""What classifiers can be made of given probabilities."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from karat._sentences import Argument, Remedy
from karat._typing import AnyArray, Column, FloatArray, Frame, IntArray
from karat._validate import (
    check_classes,
    check_count,
    check_flag,
    check_probabilities,
    check_same_length,
    check_weights,
    encode_groups,
    encode_labels,
    require_two_classes,
    shown,
)
from karat.decisions.population import Population
from karat.decisions.solvers import Columns
from karat.exceptions import DataError, LabelError

_FIRST = 24  # rules to start from, best for random gains, besides the obvious ones


class AttainableSet(Protocol):
    """What `maximise` needs: a sum of convex sets of confusions, one for each block of items."""

    @property
    def n_classes(self) -> int:
        """Number of classes."""

    @property
    def n_groups(self) -> int | None:
        """Number of groups that a metric compares; None if the confusion is of all items."""

    @property
    def groups(self) -> AnyArray:
        """The names of these groups; empty if there are none."""

    @property
    def exact(self) -> bool:
        """Whether the oracle of the columns finds the best there is."""

    def columns(self) -> Columns:
        """Return classifiers to start from, with the oracle that finds more.

        Points are confusions (k, k), or (groups, k, k), written as one row.
        """


class Attainable:
    """The confusions of all mixtures of rules that decide by given class probabilities.

    Items are in blocks, and each block has rules of its own: where a classifier sees the group of
    an item, every group is a block. A rule predicts ``argmax_j Σ_i W_ij·P(Y=i | x)`` with any
    weights W; for each item of a block one rule of a mixture is drawn.

    Parameters
    ----------
    blocks : sequence of Population
        Items of each block; their masses sum to 1 together. With groups the rows of a mass are
        (group, class), groups first, unless ``group`` says which group a block is.
    n_groups : int, optional
        Number of groups that a metric compares; None if the confusion is of all items.
    group : sequence of int, optional
        The group that each block is.
    groups : sequence, optional
        The names of the groups; by default their numbers.
    classes : column (k,), optional
        The classes in the order of the columns of probabilities; `maximise` refuses a metric that
        is about them in another order. Without them the order is taken to be that of the metric.

    Examples
    --------
    >>> import numpy as np
    >>> from karat.decisions import Attainable, maximise
    >>> from karat.metrics import f_beta
    >>> p = np.random.default_rng(0).beta(1, 4, 2000)
    >>> some = Attainable.from_calibrated(np.column_stack([1 - p, p]))
    >>> best = maximise(f_beta(1), some)
    >>> round(best.value, 3), best.gap <= 1e-9
    (0.493, True)
    """

    def __init__(
        self,
        blocks: Sequence[Population],
        *,
        n_groups: int | None = None,
        group: Sequence[int] | None = None,
        groups: Sequence[Any] | AnyArray | None = None,
        classes: Column | None = None,
    ) -> None:
        self.blocks = tuple(blocks)
        self.classes = None if classes is None else check_classes(classes)
        self.stated = classes is not None
        self._n_groups = None if n_groups is None else check_count(n_groups, "n_groups")
        self.group = None if group is None else tuple(group)
        self._groups = np.arange(self._n_groups or 0) if groups is None else np.asarray(groups)
        if len(self._groups) != (self._n_groups or 0):
            raise DataError(
                Argument("groups"),
                f" names {len(self._groups)} groups and n_groups is {self._n_groups}",
                Remedy("pass one name for each group"),
            )

    @classmethod
    def from_proba(
        cls,
        y_true: Column,
        proba: Frame,
        *,
        groups: Column | None = None,
        sees_groups: bool = True,
        classes: Column | None = None,
        sample_weight: Column | None = None,
    ) -> "Attainable":
        """Build the set from a sample: decisions by the probabilities, counts of the labels.

        Parameters
        ----------
        y_true : column (n,)
            True labels.
        proba : matrix (n, k)
            Estimated class probabilities, best from data that the model was not fitted to.
        groups : column (n,), optional
            Group of each item, for a metric that compares groups.
        sees_groups : bool, default True
            Whether a classifier may decide by the group too.
        classes : column (k,), optional
            The classes in the order of the columns; by default those found, sorted.
        sample_weight : column (n,), optional
            Weights of at least 0.
        """
        (codes,), order = encode_labels({"y_true": y_true}, classes)
        require_two_classes(order, "y_true")
        checked = check_probabilities(proba, "proba", classes=order)
        weight = check_weights(sample_weight)
        members, names = encode_groups(groups)
        check_same_length(y_true=codes, proba=checked, sample_weight=weight, groups=members)
        check_flag(sees_groups, "sees_groups")
        weight = np.ones(len(codes)) if weight is None else weight
        made = _attainable_of(
            checked, np.eye(len(order))[codes], weight, members, names, sees_groups
        )
        made.classes, made.stated = order, classes is not None
        return made

    @classmethod
    def from_calibrated(
        cls,
        proba: Frame,
        *,
        groups: Column | None = None,
        sees_groups: bool = True,
        sample_weight: Column | None = None,
    ) -> "Attainable":
        """Build the set from calibrated probabilities, with no labels.

        Parameters
        ----------
        proba : matrix (n, k)
            ``P(Y=i | item)`` of each item, from a calibrated model or a law.
        groups : column (n,), optional
            Group of each item, for a metric that compares groups.
        sees_groups : bool, default True
            Whether a classifier may decide by the group too.
        sample_weight : column (n,), optional
            Weights of at least 0.
        """
        checked = check_probabilities(proba, "proba")
        weight = check_weights(sample_weight)
        members, names = encode_groups(groups)
        check_same_length(proba=checked, sample_weight=weight, groups=members)
        check_flag(sees_groups, "sees_groups")
        weight = np.ones(len(checked)) if weight is None else weight
        return _attainable_of(checked, checked, weight, members, names, sees_groups)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.blocks[0].proba.shape[1])

    @property
    def n_groups(self) -> int | None:
        """Number of groups that a metric compares; None if the confusion is of all items."""
        return self._n_groups

    @property
    def groups(self) -> AnyArray:
        """The names of these groups; empty if there are none."""
        return self._groups

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of a confusion: (k, k), or (groups, k, k)."""
        k = self.n_classes
        return (k, k) if self.n_groups is None else (self.n_groups, k, k)

    @cached_property
    def exact(self) -> bool:
        """Whether the best rule of every linear gain is found, and not only the plug-in rule.

        It is for two classes, and for any number of them where the probabilities are calibrated.
        """
        return self.n_classes == 2 or all(block.calibrated for block in self.blocks)

    @property
    def truth(self) -> FloatArray:
        """``P(Y=i)``, or ``P(G=g, Y=i)``: (k,) or (groups, k)."""
        total = np.zeros((self.n_groups or 1) * self.n_classes)
        for rows, block in zip(self._rows, self.blocks, strict=True):
            total[rows] += block.prior
        return total.reshape(self.shape[:-1])

    def columns(self) -> Columns:
        """Return a few rules of each block, with the oracle that finds the best of any gain."""
        rows, k = (self.n_groups or 1) * self.n_classes, self.n_classes
        right = np.tile(np.eye(k), (rows // k, 1))
        prior = self.truth.reshape(-1, 1)
        always = np.broadcast_to(np.eye(k)[:, None, :], (k, rows, k))
        drawn = np.random.default_rng(0).normal(size=(_FIRST, rows, k))
        first = np.concatenate(
            [right[None], (right / np.where(prior > 0, prior, 1.0))[None], always, drawn]
        )
        return Columns(self._best, first.reshape(len(first), -1))

    @cached_property
    def _rows(self) -> list[IntArray]:
        """The rows of the confusion that each block has a part in."""
        k, everything = self.n_classes, np.arange((self.n_groups or 1) * self.n_classes)
        if self.group is None:
            return [everything for _ in self.blocks]
        return [everything[g * k : (g + 1) * k] for g in self.group]

    def _best(self, directions: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the rules (b, blocks, k, k) and confusions (b, blocks, d) of greatest gain."""
        k = self.n_classes
        gains = directions.reshape(len(directions), -1, k)
        rules = np.empty((len(gains), len(self.blocks), k, k))
        points = np.zeros((len(gains), len(self.blocks), *gains.shape[1:]))
        for b, (rows, block) in enumerate(zip(self._rows, self.blocks, strict=True)):
            rules[:, b], points[:, b, rows] = block.best(gains[:, rows])
        return rules, points.reshape(*points.shape[:2], -1)


def _attainable_of(
    proba: FloatArray,
    truth: FloatArray,
    weight: FloatArray,
    members: IntArray | None,
    names: AnyArray | None,
    sees_groups: bool,
) -> Attainable:
    """Return what rules attain on weighted items whose classes are ``truth`` (n, k)."""
    if members is None or names is None:
        return Attainable([Population(proba, truth * (weight / weight.sum())[:, None])])
    n_groups = len(names)
    require_every_class(truth * weight[:, None], members, names)
    if sees_groups:
        shares = np.bincount(members, weight, n_groups) / weight.sum()
        blocks = []
        for g, share in enumerate(shares):
            own = members == g
            within = truth[own] * (weight[own] / weight[own].sum())[:, None]
            blocks.append(Population(proba[own], share * within))
        return Attainable(blocks, n_groups=n_groups, group=range(n_groups), groups=names)
    apart = np.zeros((len(proba), n_groups, proba.shape[1]))
    apart[np.arange(len(proba)), members] = truth * (weight / weight.sum())[:, None]
    together = Population(proba, apart.reshape(len(proba), -1))
    return Attainable([together], n_groups=n_groups, groups=names)


def require_every_class(mass: FloatArray, members: IntArray, names: AnyArray) -> None:
    """Refuse groups without some class: they have no rates to compare."""
    total = np.stack([mass[members == g].sum(axis=0) for g in range(len(names))])
    if (total <= 0).any():
        g, i = np.argwhere(total <= 0)[0]
        raise LabelError(
            f"the group {shown(names[g])} has no item with weight of class number {i}; merge it "
            "with another group, or leave it out"
        )
