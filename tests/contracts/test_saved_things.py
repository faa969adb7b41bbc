"""Everything that is saved says its version: another one, none, and half a file are refused.

Whatever is saved has its version in a constant that ends in VERSION or REVISION. They are found by
looking, so a new kind of file needs a place in `SAVED`.
"""

import ast
import json
import re
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest

import karat
from karat import audit, elicit
from karat.exceptions import KaratError
from karat.metrics import accuracy, cost_matrix, load_metric
from karat.sources import Counts

SOURCE = Path(karat.__file__).parent
# A reader that stands below what is written has the version once more.
AGAIN = {("metrics", "_STUDY_VERSION")}
NOT_SAVED = {("elicit", "_VERSIONS"), ("sources", "_VERSIONS")}  # of particles, and of others' logs
NAME = re.compile(r"(VERSIONS?|REVISION)$")


class Saved(NamedTuple):
    """How a thing is written to a file, given another version, and read; what is current."""

    write: Callable[[Path], None]
    change: Callable[[Path, Any], None]
    read: Callable[[Path], Any]
    now: Any
    older: Any
    newer: Any


def set_in_json(path: Path, version: Any) -> None:
    data = json.loads(path.read_text(encoding="utf-8"))
    data = {k: v for k, v in data.items() if k != "version"}
    path.write_text(json.dumps(data | ({} if version is None else {"version": version})))


def in_json(write: Any, read: Any, now: int) -> Saved:
    return Saved(write, set_in_json, read, now, now - 1, now + 1)


# --- Metrics, and the export of a study.


def write_metric(path: Path) -> None:
    path.write_text(cost_matrix([[0, 1], [4, 0]]).to_json())


def write_study(path: Path) -> None:
    body = {"schema": "karat.study", "version": 2, "metric": accuracy.to_dict()}
    path.write_text(json.dumps(body))


# --- Audits and counts.


def write_audit(path: Path) -> None:
    found = audit.Audit([0, 1] * 20, metric="f1", rng=0)
    found.tell({i: i % 2 for i in found.ask(4)["item"]})
    found.save(path)


def write_counts(path: Path) -> None:
    table = pl.DataFrame({"y": [0, 1, 0, 1], "a": [0, 1, 1, 1], "s": [0.1, 0.9, 0.4, 0.7]})
    karat.scan(table).roles(label="y", pred="a", score="s").counts().save(path)


def set_in_counts(path: Path, version: Any) -> None:
    table = pl.read_parquet(path)
    header = json.loads(table["votes"][0]) | {"version": version}
    first = pl.when(pl.col("karat") == "header").then(pl.lit(json.dumps(header)))
    table.with_columns(votes=first.otherwise(pl.col("votes"))).write_parquet(path)


# --- The result of a query that counts.


def write_result(path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    roles = {"label": "y", "pred": "a"}
    query = Counts.query("select i % 2 as y, i % 3 > 0 as a from range(9) t(i)", "duckdb", **roles)
    duckdb.sql(query).write_parquet(str(path))


def set_in_result(path: Path, version: Any) -> None:
    table = pl.read_parquet(path)
    others = '"version": 1, ', "" if version is None else f'"version": {version}, '
    table.with_columns(pl.col("karat_of").str.replace(*others, literal=True)).write_parquet(path)


# --- Transcripts and snapshots of questions.


def asked() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 300)
    space = elicit.BinarySpace.from_scores(truth, truth + rng.normal(size=300))
    procedure = elicit.Elicitation(space, max_queries=4, worst_rate=1.0, rng=0)
    procedure.run(elicit.MetricOracle(cost_matrix([[0, 1], [4, 0]])))
    return space, procedure


def write_transcript(path: Path) -> None:
    asked()[1].transcript.save(path)


def read_transcript(path: Path) -> Any:
    return elicit.Elicitation.resume(asked()[0], elicit.load_transcript(path))


def write_snapshot(path: Path) -> None:
    path.write_bytes(asked()[1].snapshot())


def set_in_snapshot(path: Path, version: Any) -> None:
    data, start = path.read_bytes(), len(b"KARAT-ELICIT")
    path.write_bytes(data[:start] + (version or 0).to_bytes(2, "little") + data[start + 2 :])


def read_snapshot(path: Path) -> Any:
    return elicit.Elicitation.restore(asked()[0], path.read_bytes())


# --- The database of studies.


def store_at(path: Path) -> Any:
    from karat.studio import Settings
    from karat.studio.storage import Store

    return Store(Settings(database_url=f"sqlite:///{path}"))


def write_database(path: Path) -> None:
    store = store_at(path)
    store.migrate()
    assert store.secret
    store.close()


def set_in_database(path: Path, version: Any) -> None:
    from sqlalchemy import text

    store = store_at(path)
    with store.engine.begin() as connection:
        if version is None:
            connection.execute(text("DELETE FROM alembic_version"))
        else:
            connection.execute(text("UPDATE alembic_version SET version_num = :v"), {"v": version})
    store.close()


def read_database(path: Path) -> None:
    store = store_at(path)
    try:
        store.migrate()
    finally:
        store.close()


SAVED: dict[tuple[str, str], Saved] = {
    ("metrics", "SCHEMA_VERSION"): in_json(write_metric, load_metric, 2),
    ("studio", "SCHEMA_VERSION"): in_json(write_study, load_metric, 2),
    ("audit", "_VERSION"): in_json(
        write_audit, lambda path: audit.Audit.resume(path, [0, 1] * 20), 1
    ),
    ("sources", "VERSION"): Saved(write_counts, set_in_counts, Counts.load, 2, 1, 3),
    ("sources", "QUERY_VERSION"): Saved(write_result, set_in_result, Counts.from_query, 1, 0, 2),
    ("elicit", "SCHEMA_VERSION"): in_json(write_transcript, read_transcript, 3),
    ("elicit", "_VERSION"): Saved(write_snapshot, set_in_snapshot, read_snapshot, 3, 2, 4),
    ("studio", "REVISION"): Saved(
        write_database, set_in_database, read_database, "0004", None, "9999"
    ),
}  # of the database an older version is none that is refused: it is migrated


def versions() -> set[tuple[str, str]]:
    """Return the package and the name of every constant that holds a version of something saved."""
    found = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            targets = node.targets if isinstance(node, ast.Assign) else []
            names = [name for target in targets for name in ast.walk(target)]
            found |= {
                (path.relative_to(SOURCE).parts[0], name.id)
                for name in names
                if isinstance(name, ast.Name) and re.search(r"(VERSIONS?|REVISION)$", name.id)
            }
    return found - NOT_SAVED - AGAIN


def test_every_saved_kind_is_tried():
    assert versions() == set(SAVED)


KINDS = [
    pytest.param(one, id=".".join(key))
    for key, one in SAVED.items()
    if key[0] != "studio" or key[1] != "REVISION" or find_spec("fastapi")
]


@pytest.mark.parametrize("kind", KINDS)
def test_the_current_version_is_read(kind, tmp_path):
    path = tmp_path / "saved.parquet"
    kind.write(path)
    kind.read(path)
    kind.change(path, kind.now)
    kind.read(path)


@pytest.mark.parametrize("which", ["older", "newer", "none"])
@pytest.mark.parametrize("kind", KINDS)
def test_another_version_is_refused_with_the_remedy(kind, which, tmp_path):
    path = tmp_path / "saved.parquet"
    kind.write(path)
    version = None if which == "none" else getattr(kind, which)
    kind.change(path, version)
    with pytest.raises(KaratError) as caught:
        kind.read(path)
    said = str(caught.value)
    assert "version" in said or "without the names" in said
    assert re.search(r"[;.:] .*(again|update|new audit|new file|Name|resume)", said), said
    if which == "newer":
        assert str(version) in said
        assert str(kind.now) in said


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("kind", KINDS)
def test_half_a_file_is_refused(kind, share, tmp_path):
    path = tmp_path / "saved.parquet"
    kind.write(path)
    if kind.read is read_database and not share:
        pytest.skip("an empty file is a new database")
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    with pytest.raises(KaratError):
        kind.read(path)
