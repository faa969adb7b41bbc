"""Which columns are what: roles by names, lists of names and patterns.

`choose_roles` finds the columns of each role. A pattern such as ``lf_*`` takes every column that it
fits and that no other role names outright; a name that is no column is answered with the closest.
`ChosenRoles` is the answer, and says what to do where a role is missing.
"""

from karat.sources.columns._roles import ROLES, ChosenRoles, Roles, choose_roles

__all__ = ["ROLES", "ChosenRoles", "Roles", "choose_roles"]
