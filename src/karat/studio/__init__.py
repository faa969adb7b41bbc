"""A web study that turns people's preferences between classifiers into a metric."""

__all__: list[str] = []
