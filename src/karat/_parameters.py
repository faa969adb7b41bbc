"""What lets scikit-learn's ``clone`` copy an estimator, without importing scikit-learn."""

import inspect
from typing import Any, Self

from karat.exceptions import OptionError


class Parameters:
    """Base of estimators whose ``fit`` takes no X and y, such as label models.

    The constructor keeps its arguments as they are, under their names; ``fit`` checks them, and
    what it learns ends in an underscore. Then ``sklearn.base.clone``, ``get_params`` and
    ``set_params`` work as they do in scikit-learn. `sklearn.base.BaseEstimator` would give the
    same, and takes a second to import, five times as long as `karat.weak` itself.
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the arguments of the constructor.

        Parameters
        ----------
        deep : bool, default True
            Without effect, because no argument is an estimator itself.

        Returns
        -------
        dict
            Values by name.
        """
        return {name: getattr(self, name) for name in _names(type(self))}

    def set_params(self, **params: Any) -> Self:
        """Set arguments of the constructor.

        Parameters
        ----------
        **params
            New values by name; they are checked by ``fit``.

        Returns
        -------
        estimator
            Itself.
        """
        known = _names(type(self))
        for name in params:
            if name not in known:
                raise OptionError(
                    f"a parameter of {type(self).__name__} is {name!r}; expected one of {known}"
                )
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn asks before ``check_is_fitted``."""
        from sklearn.utils import Tags, TargetTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=False))

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items())
        return f"{type(self).__name__}({given})"


def _names(kind: type) -> list[str]:
    return list(inspect.signature(kind).parameters)
