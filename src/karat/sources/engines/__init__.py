"""What differs between Polars, DuckDB and Spark: running a query, hashing, sketches.

Everything else is one path through narwhals. `collect` runs a lazy table once, in streaming mode
where there is one, and says in a sentence why it could not. `with_folds` adds the fold of each
identifier, which is the same on every engine; `about_distinct` asks how many values there are,
and `batches` gives rows that are in this process a few at a time.
"""

from karat.sources.engines._batches import batches
from karat.sources.engines._collect import collect, engine_errors, engine_of
from karat.sources.engines._distinct import about_distinct
from karat.sources.engines._folds import FOLDS, fold_of, with_folds

__all__ = [
    "FOLDS",
    "about_distinct",
    "batches",
    "collect",
    "engine_errors",
    "engine_of",
    "fold_of",
    "with_folds",
]
