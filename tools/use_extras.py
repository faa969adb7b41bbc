"""Use what one extra adds, where only that extra is installed: ``python use_extras.py duckdb``.

Each function ends with an error if the extra does not do what it is for.
"""

import json
import subprocess
import sys
import tempfile
import warnings

import numpy as np

import karat

__all__ = ["USES"]


def _votes(n: int = 300) -> np.ndarray:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, (n, 1))
    return np.where(rng.random((n, 4)) < [0.1, 0.15, 0.2, 0.25], 1 - truth, truth)


def arviz() -> None:
    """Hand posterior draws to ArviZ."""
    from karat.consensus import ErrorEstimator

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = ErrorEstimator(draws=100, rng=0).fit(_votes()).to_inference_data()
    assert found.posterior["error_rate"].shape[-1] == 4


def duckdb() -> None:
    """Count a relation of DuckDB."""
    import duckdb as engine

    relation = engine.sql("select i % 2 as y, i % 3 = 0 as p from range(600) t(i)")
    counts = karat.scan(relation).roles(label="y", pred="p").counts()
    assert counts.confusions["p"].n == 600, counts


def spark() -> None:
    """Count a frame of Spark."""
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "localhost")
        .getOrCreate()
    )
    frame = session.range(600).selectExpr("id % 2 as y", "cast(id % 3 = 0 as int) as p")
    counts = karat.scan(frame).roles(label="y", pred="p").counts()
    session.stop()
    assert counts.confusions["p"].n == 600, counts


def studio() -> None:
    """Let two bots play the demo study in a database of its own."""
    with tempfile.TemporaryDirectory() as folder:
        database = f"sqlite:///{folder}/studio.db"
        command = [sys.executable, "-m", "karat", "studio", "simulate", "--database-url", database]
        done = subprocess.run(
            [*command, "--people", "2", "--json"], capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["bots"]) == 2, done.stdout


def torch() -> None:
    """Follow the gradient of a loss."""
    import torch as engine

    from karat.torch import WeightedAUCLoss

    generator = engine.Generator().manual_seed(0)
    score = engine.randn(64, generator=generator, requires_grad=True)
    WeightedAUCLoss()(score, engine.arange(64) % 2).backward()
    assert float(score.grad.abs().sum()) > 0


USES = {use.__name__: use for use in (arviz, duckdb, spark, studio, torch)}

if __name__ == "__main__":
    USES[sys.argv[1]]()
