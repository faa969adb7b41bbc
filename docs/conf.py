"""Sphinx configuration."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from docutils.nodes import SkipNode
from latex2mathml.converter import convert

from karat import __version__

project = "karat"
author = "The karat developers"
copyright = "The karat developers"
release = version = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
]
myst_enable_extensions = ["dollarmath", "deflist"]
autodoc_typehints = "none"
# The reference of karat.torch needs no PyTorch, which is large.
autodoc_mock_imports = ["torch"]
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"karat {__version__}"
# Types in docstrings are words ("column (n,)"), not references to look up.
suppress_warnings = ["ref.python"]


# Formulas become MathML when the pages are built, so that they show without a network.
html_math_renderer = "mathml"


def _inline(self, node):
    self.body.append(convert(node.astext()))
    raise SkipNode


def _display(self, node):
    self.body.append(f'<div class="math">{convert(node.astext(), display="block")}</div>')
    raise SkipNode


# The commands of this page run while the documentation is built, and their output is shown.
_TRANSCRIPT = "how-to/ten-tasks"


def _run_commands(app, docname, source):
    if docname != _TRANSCRIPT:
        return
    sys.path.insert(0, str(Path(__file__).parent))
    from ten_tasks import with_output, write_files

    with TemporaryDirectory() as folder:
        write_files(Path(folder))
        source[0] = with_output(source[0], Path(folder))


def setup(app):
    app.connect("source-read", _run_commands)
    app.add_html_math_renderer("mathml", (_inline, None), (_display, None))
