"""The pages, as thin as they can be: read the request, call one service, render or redirect.

Every route of a person needs their token, every route of a researcher a session; all that is
posted carries a CSRF token. ``include_routes`` adds all of them to the application.
"""

from karat.studio.routes._include import include_routes
from karat.studio.routes.deps import (
    COOKIE,
    AdminDep,
    FormDep,
    HereDep,
    StoreDep,
    admin_csrf,
    client_address,
    limited,
    templates,
)

__all__ = [
    "COOKIE",
    "AdminDep",
    "FormDep",
    "HereDep",
    "StoreDep",
    "admin_csrf",
    "client_address",
    "include_routes",
    "limited",
    "templates",
]
