"""Sphinx extension: tables that can be read on a phone.

Names in cells may break at their dots, so that they do not squeeze the sentences beside them, and
cells are marked by how much text they hold, so that the style sheet can keep them wide enough.
"""

import html
import re

_CELL = re.compile(r"<td(?: class=\"([^\"]*)\")?>(.*?)</td>", re.DOTALL)
_NAME = re.compile(r'(?<=<span class="pre">)[^<]+(?=</span>)')
_FIGURES = re.compile(r"[\d.,/ %+=()−–-]*\d[\d.,/ %+=()−–-]*")  # ".90 / .96" stays on one line
_PHRASE, _SENTENCE = 16, 50  # letters


def _marked(found):
    """Return a cell with its class, and with places at which its names may break."""
    kinds, content = found[1] or "", found[2]
    words = html.unescape(re.sub(r"<[^>]+>", "", content)).strip()
    if _FIGURES.fullmatch(words):
        kinds += " figures"
    elif len(words) > _PHRASE:
        kinds += " sentence" if len(words) > _SENTENCE else " phrase"
    content = _NAME.sub(lambda name: re.sub(r"(?<=\w)([._/])(?=\w)", r"\1<wbr>", name[0]), content)
    return f'<td class="{kinds.strip()}">{content}</td>' if kinds else f"<td>{content}</td>"


def mark(app, pagename, templatename, context, doctree):
    """Mark all cells of a page."""
    if "<td" in context.get("body", ""):
        context["body"] = _CELL.sub(_marked, context["body"])


def setup(app):
    app.connect("html-page-context", mark)
    return {"parallel_read_safe": True, "parallel_write_safe": True, "version": "1"}
