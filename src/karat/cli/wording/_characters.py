"""Characters that a terminal's encoding lacks."""

import codecs
import io
from typing import Any

__all__ = ["plain_characters"]

# What karat's own sentences, tables and bars are made of, as ASCII has it. Names that a file holds
# are not changed: any other character is shown as its number.
_PLAIN = {
    "–": "-", "—": "-", "−": "-", "‑": "-", "…": "...", "×": "x", "·": "*", "•": "*", "°": " deg",
    "“": '"', "”": '"', "‘": "'", "’": "'", "≤": "<=", "≥": ">=", "≈": "~", "→": "->", "∞": "inf",
    "±": "+-", "½": "1/2", "¼": "1/4", "¾": "3/4", "²": "^2", "√": "sqrt", "\u00a0": " ",
    "│": "|", "─": "-", "━": "-", "┃": "|", "█": "#", "░": ".", "✓": "yes", "✗": "no",
    "λ": "lambda", "γ": "gamma", "α": "alpha", "ε": "epsilon", "Ŷ": "Y^",
}  # fmt: skip


def plain_characters(*streams: Any) -> None:
    """Let streams print what their encoding lacks: signs as ASCII has them, others as numbers."""
    codecs.register_error("karat-plain", _plain)
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="karat-plain")


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    known = (_PLAIN.get(c) or c.encode("ascii", "backslashreplace").decode() for c in missing)
    return "".join(known), error.end
