"""Someone at a terminal: shows both confusions as counts, reads the answer."""

import sys
from typing import Any, TextIO

from karat._validate import check_classes, check_count
from karat.elicit.oracles._comparison_text import comparison_text
from karat.elicit.oracles._leave_at_once import leave_at_once
from karat.elicit.transcript import Query

__all__ = ["TerminalOracle"]

_KEYS = {
    "1": "first",
    "f": "first",
    "first": "first",
    "2": "second",
    "second": "second",
    "t": "tie",
    "=": "tie",
    "tie": "tie",
    "s": "skip",
    "skip": "skip",
}


class TerminalOracle:
    """Asks a person at the terminal, which of two classifiers is better.

    Confusions are shown as numbers of cases, not as rates (Hiranandani 2021, guideline G2). Ctrl-C
    raises `KeyboardInterrupt` at once; the procedure then still has every answer that was given.

    Parameters
    ----------
    classes : column (k,), optional
        Names of the classes, in the order of the confusions; by default they are numbered from 0.
    out_of : int, default 1000
        Number of cases that each confusion is shown for, in every group if there are groups.
    groups : column (m,), optional
        Names of the groups, in the order of the confusions; by default they are numbered from 0.
    stream_in, stream_out : text streams, optional
        Where answers come from and questions go; by default the terminal.
    """

    def __init__(
        self,
        classes: Any = None,
        *,
        out_of: int = 1000,
        groups: Any = None,
        stream_in: TextIO | None = None,
        stream_out: TextIO | None = None,
    ) -> None:
        self.classes = None if classes is None else check_classes(classes)
        self.groups = None if groups is None else check_classes(groups)
        self.out_of = check_count(out_of, "out_of")
        self.stream_in, self.stream_out = stream_in, stream_out
        self.n_answers = 0

    def __call__(self, query: Query) -> str:
        """Show a query and read the answer; asks again until it is one."""
        out = self.stream_out or sys.stdout
        self.n_answers += 1
        print(f"\nQuestion {self.n_answers}: which classifier is better?\n", file=out)
        print(comparison_text(query, self.classes, self.out_of, self.groups), file=out)
        leave_at_once()
        while True:
            print("1 the first, 2 the second, t a tie, s skip > ", end="", file=out, flush=True)
            line = (self.stream_in or sys.stdin).readline()
            if not line:
                raise EOFError("the answers ended before the questions; nothing given is lost")
            answer = _KEYS.get(line.strip().lower())
            if answer is not None:
                return answer
            print(f"{line.strip()!r} is no answer.", file=out)
