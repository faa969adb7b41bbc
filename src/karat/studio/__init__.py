"""A web study that turns people's preferences into a metric; needs the extra ``studio``.

A researcher makes a study of a file of predictions, sends links, and people compare two classifiers
at a time (Hiranandani 2021, chapter 8). Every answer is committed before the next question is
shown. ``create_app`` assembles the application; ``karat studio`` starts it.
"""

from typing import TYPE_CHECKING, Any

from karat._extras import require
from karat.studio.settings import Settings

if TYPE_CHECKING:
    from karat.studio.main import create_app

__all__ = ["Settings", "create_app"]


def __getattr__(name: str) -> Any:
    """Import the application on first use: all that serves pages is loaded there."""
    if name != "create_app":
        raise AttributeError(f"module 'karat.studio' has no attribute {name!r}")
    for package in (
        "fastapi",
        "sqlalchemy",
        "alembic",
        "itsdangerous",
        "python_multipart",
        "argon2",
    ):
        require(package, extra="studio", purpose="karat.studio")
    from karat.studio.main import create_app

    return create_app
