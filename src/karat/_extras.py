"""Optional packages: import them late, and say which extra brings them."""

from importlib import import_module
from types import ModuleType

from karat.exceptions import MissingExtraError

__all__ = ["require"]


def require(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Import ``module``, or say which extra of karat would bring it.

    >>> require("json", extra="cli", purpose="reading a file").__name__
    'json'
    >>> require("no_such_package", extra="plot", purpose="drawing a result")
    Traceback (most recent call last):
    ...
    karat.exceptions.MissingExtraError: drawing a result needs the package 'no_such_package', \
which is not installed; run: pip install 'karat[plot]'
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name is None or error.name.partition(".")[0] != package:
            raise
        raise MissingExtraError(
            f"{purpose} needs the package {package!r}, which is not installed; "
            f"run: pip install 'karat[{extra}]'"
        ) from error
