"""Open a table of any kind and size."""

import sys
from pathlib import Path
from typing import Any

from karat._frames import keeps_kind
from karat._validate import check_choice, refuse_option
from karat.exceptions import DataError
from karat.sources._source import Source
from karat.sources.columns import ChosenRoles
from karat.sources.logs import read_log
from karat.sources.opening import (
    is_query,
    list_files,
    open_bytes,
    open_files,
    open_frame,
    open_query,
    open_spark_table,
)
from karat.sources.stored import is_counts

__all__ = ["scan"]


@keeps_kind
def scan(
    source: Any,
    *,
    format: str | None = None,  # noqa: A002  (what readers of files call it)
    connection: Any = None,
    session: Any = None,
) -> Source:
    """Open a table of any kind and size, without reading its rows.

    Parameters
    ----------
    source : path, frame, query or table name
        A file (``.csv``, ``.tsv``, ``.jsonl``, each perhaps with ``.gz``, ``.parquet``,
        ``.arrow``), a folder of such files, a pattern such as ``"scores/*.parquet"``, ``"-"`` for
        the standard input; a frame of pandas, Polars or Arrow, a lazy Polars frame, a DuckDB
        relation or a query (``"select … from 'scores.parquet'"``), a PySpark frame, or with
        ``session`` the name of a table; or an evaluation log of inspect, lm-eval, promptfoo,
        deepeval, MLflow or Label Studio, a Snorkel matrix (``.npy``) or a WRENCH file.
    format : str, optional
        What a file is where its name does not say: ``csv``, ``tsv``, ``jsonl``, ``parquet``,
        ``arrow``, or a kind of log: ``inspect``, ``lm-eval``, ``promptfoo``, ``deepeval``,
        ``mlflow``, ``label-studio``, ``snorkel``, ``wrench``.
    connection : duckdb.DuckDBPyConnection, optional
        Where a query is run; by default DuckDB's default connection.
    session : pyspark.sql.SparkSession, optional
        The session whose table ``source`` names.

    Returns
    -------
    Source
        Its ``roles(...)`` say what the columns are; then it gives columns or counts.

    Examples
    --------
    >>> import polars as pl
    >>> data = scan(pl.DataFrame({"y": ["ham", "spam"], "score": [0.1, 0.8]}))
    >>> data.roles(label="y", score="score").roc_counts().scores.tolist()
    [0.1, 0.8]
    """
    import narwhals as nw

    if not isinstance(source, str | Path):
        return Source(
            frame=open_frame(source), name=f"a frame of {type(source).__module__.partition('.')[0]}"
        )
    if not str(source).strip():
        raise DataError(
            f"source is {str(source)!r}; expected a path, a query or the name of a table"
        )
    if session is not None:
        return Source(frame=open_spark_table(str(source), session), name=f"the table {source}")
    if isinstance(source, str) and is_query(source):
        return Source(frame=open_query(source, connection), name="a query")
    if connection is not None:
        refuse_option(source, "source", "a query such as 'select * from scores' with connection=")
    if str(source) == "-":
        table = open_bytes(sys.stdin.buffer.read(), format, "the standard input")
        return Source(frame=nw.from_native(table), name="the standard input")
    files = list_files(source)
    if len(files) == 1 and is_counts(files[0]):
        raise DataError(
            f"{files[0].name} holds counts, and this needs rows; karat bounds, judges and auc "
            "answer from counts, and Counts.load reads them"
        )
    log = read_log(files, format)
    if log is not None:
        return Source(
            frame=nw.from_native(log.rows.lazy()), name=_named(files), log=log.facts,
            chosen=ChosenRoles({role: (c,) for role, c in log.facts.roles.items()}),
        )  # fmt: skip
    check_choice(format, "format", ("csv", "tsv", "jsonl", "parquet", "arrow"), none=True)
    return Source(frame=nw.from_native(open_files(files, format)), name=_named(files))


def _named(files: list[Path]) -> str:
    return files[0].name if len(files) == 1 else f"{len(files)} files ({files[0].name} …)"
