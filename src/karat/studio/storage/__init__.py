"""Where everything is kept: one `Store` a process, over SQLite or PostgreSQL.

``store.reading()`` and ``store.writing()`` give sessions; what is written is on disk when the block
ends. ``store.migrate()`` brings an older database up to date.
"""

from karat.studio.storage._migrate import REVISION, migrate
from karat.studio.storage._store import Store

__all__ = ["REVISION", "Store", "migrate"]
