"""Which column of a table plays which part.

`find_roles` reads names, lists and patterns that a user passed; `guess_roles` reads the names of
the columns, and its guess is shown before anybody uses it.
"""

from karat.evaluation.roles._guess import guess_roles
from karat.evaluation.roles._roles import Roles, find_roles

__all__ = ["Roles", "find_roles", "guess_roles"]
