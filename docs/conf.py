"""Sphinx configuration."""

import logging
import re
import sys
from pathlib import Path

from docutils.nodes import FixedTextElement, SkipNode, Text, literal, math
from latex2mathml.converter import convert

from karat import __version__

sys.path.insert(0, str(Path(__file__).parent / "_tools"))
logging.getLogger("alembic").setLevel(logging.WARNING)  # karat.studio's storage tells its plugins

project = "karat"
author = "The karat developers"
copyright = "The karat developers"
release = version = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "reference_pages",
    "executed",
    "ten_tasks",
    "promises",
    "tables",
]
myst_enable_extensions = ["attrs_block", "dollarmath", "deflist"]
myst_heading_anchors = 3
# A link to a heading that is not there is a warning, and a warning ends the build.
autodoc_typehints = "none"
# The reference of karat.torch needs no PyTorch, which is large.
autodoc_mock_imports = ["torch"]
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
exclude_patterns = ["_build", "_generated", "_tools"]
html_theme = "furo"
html_title = "karat"
html_static_path = ["_static"]
html_css_files = ["karat.css"]
html_extra_path = ["llms.txt"]
html_copy_source = False
html_show_sourcelink = False
# Types in docstrings are words ("column (n,)"), not references to look up.
suppress_warnings = ["ref.python"]


# Formulas become MathML when the pages are built, so that they show without a network.
html_math_renderer = "mathml"


def _mathml(text, display):
    made = convert(text, display=display)
    # A prime is drawn high already; as an exponent it would stand above the line.
    return re.sub(r"<msup>(<mi>\w</mi>)<mi>(&#x02032;)</mi></msup>", r"\1<mo>\2</mo>", made)


def _inline(self, node):
    self.body.append(_mathml(node.astext(), "inline"))
    raise SkipNode


def _display(self, node):
    text, number = node.astext(), ""
    if tag := re.search(r"\\tag\{(.*?)\}", text):  # the number stands at the right
        text, number = text.replace(tag[0], ""), f'<span class="number">({tag[1]})</span>'
    self.body.append(f'<div class="math">{_mathml(text, "block")}{number}</div>')
    raise SkipNode


def _percent(app, doctree, docname):
    """Keep a number and its percent sign on one line."""
    for text in list(doctree.findall(Text)):
        if " %" in text and not isinstance(text.parent, FixedTextElement | literal | math):
            text.parent.replace(text, Text(re.sub(r"(?<=\d) %", "\N{NO-BREAK SPACE}%", text)))


def _others(app, docname, content):
    """Put the pages of a folder that are not named yet in place of ``folder/*`` in the contents."""

    def pages(found):
        folder = found[1]
        names = sorted(name for name in app.env.found_docs if name.startswith(f"{folder}/"))
        return "\n".join(name for name in names if f"\n{name}\n" not in content[0])

    content[0] = re.sub(r"^([\w-]+)/\*$", pages, content[0], flags=re.MULTILINE)


def setup(app):
    app.connect("source-read", _others)
    app.connect("doctree-resolved", _percent)
    app.add_html_math_renderer("mathml", (_inline, None), (_display, None))
