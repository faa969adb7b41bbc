"""The revisions of the tables, each with the step up from the one before and the step back down."""

__all__ = list[str]()
