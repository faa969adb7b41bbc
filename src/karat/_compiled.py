"""The one decorator of every loop that numba compiles."""

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar, overload

from karat._callers import caller_level
from karat._extras import require
from karat.exceptions import KaratWarning

_Loop = TypeVar("_Loop", bound=Callable[..., Any])
_NOT_KEPT = (
    "compiled code cannot be kept here, so every process compiles it anew, which takes seconds: "
    "set the environment variable NUMBA_CACHE_DIR to a folder that this user can write to, and "
    "run 'karat doctor --warm' once"
)
_warned = False


@overload
def compiled(loop: _Loop) -> _Loop: ...
@overload
def compiled(*, part: bool) -> Callable[[_Loop], _Loop]: ...
def compiled(loop: _Loop | None = None, *, part: bool = False) -> Any:
    """Compile ``loop`` at its first call, without the interpreter's lock, and keep the result.

    There is no ``parallel=True``: threads that numba starts do not survive a fork, and one of its
    threading layers ends the process when two threads call it. Callers that want several threads
    start them, because compiled loops hold no lock.

    Compiled code is kept in ``NUMBA_CACHE_DIR``, beside the source file, or in the user's cache
    folder. Where none of them can be written to, nothing is kept, and one warning says so.

    Parameters
    ----------
    loop : function
        A function of numbers, arrays, named tuples of arrays and a NumPy ``Generator``.
    part : bool, default False
        Whether the function is one step of one other loop: its text is put into that loop, which
        compiles in half the time that both take apart. It costs time in a function that is called
        in several places.

    Returns
    -------
    function
        The compiled function. Its module is imported only where it is called, because numba takes
        long to import.
    """
    return partial(_compile, part) if loop is None else _compile(part, loop)


def _compile(part: bool, loop: Any) -> Any:
    njit = require("numba", purpose="sampling and counting in compiled loops").njit
    # Division by zero gives inf or NaN as in NumPy; tests for it would be compiled as well.
    jit = partial(njit, nogil=True, error_model="numpy", inline="always" if part else "never")
    try:
        return jit(cache=True)(loop)
    except RuntimeError:
        # Where it compiles without being kept, there is no folder for it; else this fails as well.
        made = jit()(loop)
    _warn_once()
    return made


def _warn_once() -> None:
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(_NOT_KEPT, KaratWarning, stacklevel=caller_level())
