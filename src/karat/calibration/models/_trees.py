"""Boosted trees of all probabilities, one model per label."""

from typing import Any

import numpy as np

from karat._typing import FloatArray

__all__ = ["Trees"]

_MANY = 50_000  # rows


class Trees:
    """Gradient-boosted trees, one per label: they see interactions that a copula cannot."""

    def __init__(self, y: FloatArray, h: FloatArray) -> None:
        from sklearn.ensemble import HistGradientBoostingClassifier
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

        self.models: list[Any] = []
        for j in range(y.shape[1]):
            share = y[:, j].mean()
            if share in (0.0, 1.0):
                self.models.append(float(share))
                continue
            model = HistGradientBoostingClassifier(
                max_iter=60, learning_rate=0.08, max_leaf_nodes=8, min_samples_leaf=20,
                l2_regularization=1.0, early_stopping=False, random_state=0,
            )  # fmt: skip
            # Trees of few rows lose more time to waiting threads than these save.
            with threadpool_limits(1 if len(h) < _MANY else None, user_api="openmp"):
                self.models.append(model.fit(h, y[:, j]))
        self.rows = h

    @property
    def fitted(self) -> FloatArray:
        """E[y | h] of the rows that the model was fitted to."""
        return self(self.rows)

    def __call__(self, h: FloatArray) -> FloatArray:
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1 if len(h) < _MANY else None, user_api="openmp"):
            columns = [
                np.full(len(h), m) if isinstance(m, float) else m.predict_proba(h)[:, 1]
                for m in self.models
            ]
        return np.column_stack(columns)
