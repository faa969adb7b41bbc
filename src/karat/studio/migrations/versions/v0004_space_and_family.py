"""A study names its space and its family of metrics apart, where one word said both."""

import io
import json
from typing import Any

import numpy as np
import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

# What each word of before says of the family and of the space.
_APART = {
    "linear": ("linear", None),
    "ratio": ("ratio", None),
    "diagonal": ("linear", "diagonal"),
    "diagonal-ratio": ("ratio", "diagonal"),
    "monotone": ("monotone", None),
    "quadratic": ("quadratic", None),
    "fair": ("linear", "groups"),
    "fair-quadratic": ("quadratic", "groups"),
}
_study = sa.table(
    "study",
    sa.column("id", sa.String),
    sa.column("config", sa.JSON),
    sa.column("data", sa.LargeBinary),
)


def upgrade() -> None:
    """Part the word in every study."""
    kept = sa.select(_study.c.id, _study.c.config, _study.c.data)
    for key, config, data in op.get_bind().execute(kept).all():
        family, space = _APART[config["options"].get("family", "linear")]
        if family == "monotone" and _n_classes(data) == 2:
            family = "linear"  # which is what two classes were asked about
        options = config["options"] | {"family": family, "space": space}
        _save(key, config | {"version": 2, "options": options})


def downgrade() -> None:
    """Say both in one word again; a family that had none is called by its nearest."""
    one = {parts: word for word, parts in _APART.items()}
    kept = sa.select(_study.c.id, _study.c.config)
    for key, config in op.get_bind().execute(kept).all():
        options = dict(config["options"])
        parts = (options["family"], options.pop("space", None))
        options["family"] = one.get(parts, one.get((parts[0], None), "quadratic"))
        _save(key, config | {"version": 1, "options": options})


def _save(key: str, config: dict[str, Any]) -> None:
    op.execute(_study.update().where(_study.c.id == key).values(config=config))


def _n_classes(data: bytes) -> int:
    """Return the number of classes of a study's data; 0 where they cannot be read."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            return len(json.loads(file["names"].tobytes())["classes"])
    except (OSError, ValueError, KeyError, EOFError):
        return 0
