"""Sphinx configuration."""

from karat import __version__

project = "karat"
author = "The karat developers"
copyright = "The karat developers"
release = version = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
]
myst_enable_extensions = ["dollarmath", "deflist"]
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"karat {__version__}"
# Types in docstrings are words ("column (n,)"), not references to look up.
suppress_warnings = ["ref.python"]
