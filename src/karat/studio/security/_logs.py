"""What is never written into a log."""

import logging
import re
from typing import Any

__all__ = ["HideSecrets"]

_PATHS = re.compile(r"(/(?:p|join|enter)/|[?&](?:key|token|PROLIFIC_PID)=)[^/\s?&\"']+")


class HideSecrets(logging.Filter):
    """A filter of logs that takes the tokens out of addresses.

    >>> HideSecrets.hidden("GET /p/abc.def/answer and /admin/enter/xyz?token=uvw")
    'GET /p/***/answer and /admin/enter/***?token=***'
    """

    @staticmethod
    def hidden(text: str) -> str:
        """Return a text without tokens."""
        return _PATHS.sub(r"\1***", text)

    def filter(self, record: logging.LogRecord) -> bool:
        """Take the tokens out of a record, and let it pass."""

        def clean(value: Any) -> Any:
            return self.hidden(value) if isinstance(value, str) else value

        record.msg = clean(record.msg)
        if isinstance(record.args, tuple):
            record.args = tuple(clean(value) for value in record.args)
        return True
