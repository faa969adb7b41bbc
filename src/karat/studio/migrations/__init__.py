"""How the tables came to be what they are: one file a revision, run in order by `storage.migrate`.

A revision is never changed once it is released; what changes the tables is a new one.
"""

__all__ = list[str]()
