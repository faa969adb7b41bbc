"""Packages that are imported late, and what to install where one of them is missing."""

from importlib import import_module
from types import ModuleType

from karat.exceptions import MissingExtraError


def require(module: str, *, purpose: str, extra: str | None = None) -> ModuleType:
    """Import ``module``, or say what to install.

    Without ``extra`` the package comes with karat, or is one that karat does not bring.

    >>> require("json", purpose="reading a file").__name__
    'json'
    >>> require("no_such_package", purpose="drawing a result")
    Traceback (most recent call last):
    ...
    karat.exceptions.MissingExtraError: drawing a result needs the package 'no_such_package', \
which is not installed; run: pip install no_such_package
    >>> require("no_such_package", purpose="a loss", extra="torch")
    Traceback (most recent call last):
    ...
    karat.exceptions.MissingExtraError: a loss needs the package 'no_such_package', \
which is not installed; run: pip install 'karat[torch]'
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name is None or error.name.partition(".")[0] != package:
            raise
        raise MissingExtraError(
            f"{purpose} needs the package {package!r}, which is not installed; "
            f"run: pip install {package if extra is None else repr(f'karat[{extra}]')}"
        ) from error
