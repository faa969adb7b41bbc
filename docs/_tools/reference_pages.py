"""Sphinx extension: one page of the reference per public name, and one per package.

The pages are made when the build starts, from ``__all__`` of every package, so that no public name
can be left out; they stand in ``docs/reference/karat``, which is not kept in the repository.
"""

import importlib
import inspect
import re
from pathlib import Path

# What a reader looks for first, in the order of ARCHITECTURE.md; all others follow by name.
GROUPS = {
    "Start here": ("evaluation",),
    "One question each": (
        "metrics", "elicit", "optimize", "bounds", "weak", "consensus", "audit", "ranking",
        "calibration", "torch",
    ),
    "What they share": ("limits", "decisions", "votes", "statistics"),
    "Data in, answers out": ("sources", "datasets", "plot", "report", "studio", "exceptions"),
}  # fmt: skip
# Classes whose methods every subclass has; they are told once, not on each page.
_BASES = "Result, Frozen, Parameters, BaseEstimator, ClassifierMixin, TransformerMixin, object"
_BASES += ", MetaEstimatorMixin, tuple, dict, BaseException, Exception, BaseSettings, Protocol"
_SHARED = {
    "summary": "`summary()` (one sentence)",
    "plot": "`plot(ax=None)` (its picture)",
    "to_dict": "`to_dict()`",
    "to_frame": "`to_frame()`",
}


def first_sentence(thing):
    """Return the first sentence of a docstring, on one line."""
    text = (inspect.getdoc(thing) or "").split("\n\n")[0]
    text = re.sub(r":\w+:`~?([^`]*)`", r"`\1`", " ".join(text.split())).replace("|", r"\|")
    # An estimate's docstring may be its class's; a sentence ends where a capital follows.
    return re.split(r"(?<=[.?!]) (?=[A-Z`])", text)[0].replace("``", "`")


def kind_of(thing):
    """Return under which heading a name stands."""
    if isinstance(thing, type):
        names = {base.__name__ for base in thing.__mro__}
        if "Result" in names:
            return "Results"
        if issubclass(thing, Warning):
            return "Warnings"
        if issubclass(thing, Exception):
            return "Errors"
        return "Classes"
    return "Functions" if inspect.isroutine(thing) else "Values"


def _also_has(thing):
    """Return a sentence about what every result has."""
    has = ", ".join(words for method, words in _SHARED.items() if hasattr(thing, method))
    return f"\nIt also has {has}; [the gallery](/gallery.md) shows pictures of results.\n"


def _listed(thing):
    """Return whether a class has a page of its own."""
    package = importlib.import_module(".".join(thing.__module__.split(".")[:2]))
    return getattr(package, thing.__name__, None) is thing and thing.__name__ in package.__all__


def returned(thing):
    """Return the classes without a page that a function, or the methods of a class, return.

    They are described where somebody meets them.
    """
    if inspect.isclass(thing):
        members = [m for n, m in vars(thing).items() if n[0] != "_"]
        makers = [getattr(m, "fget", None) or getattr(m, "__func__", m) for m in members]
        makers = [m for m in makers if inspect.isfunction(m)]
    else:
        makers = [thing] if inspect.isfunction(thing) else []
    said = [
        (plain.__annotations__.get("return"), plain.__globals__)
        for plain in map(inspect.unwrap, makers)
    ]
    if inspect.isclass(thing):  # what an estimator keeps, such as ``result_``
        here = vars(importlib.import_module(thing.__module__))
        kept = vars(thing).get("__annotations__", {})
        said += [(kind, here) for name, kind in kept.items() if name.endswith("_")]
    found = {}
    for kind, known in said:
        text = kind if isinstance(kind, str) else getattr(kind, "__name__", str(kind))
        for one in (known.get(name) for name in re.findall(r"\w+", text)):
            own = inspect.isclass(one) and one.__module__.startswith("karat.") and one is not thing
            if own and inspect.getdoc(one) and kind_of(one) == "Results" and not _listed(one):
                found[one.__name__] = one
    return list(found.values())


def page_of(package, name, thing):
    """Return the text of one name's page."""
    full = f"karat.{package}.{name}"
    kind = kind_of(thing)
    if kind in ("Functions",):
        directive = f".. autofunction:: {full}"
    elif kind == "Values":
        directive = f".. autodata:: {full}\n   :no-value:"
    else:
        call = "\n   :special-members: __call__" if "__call__" in vars(thing) else ""
        directive = f".. autoclass:: {full}\n   :members:\n   :inherited-members: {_BASES}{call}"
    more = _also_has(thing) if kind == "Results" else ""
    for other in returned(thing):
        place = f"{other.__module__}.{other.__name__}"
        rest = f":members:\n   :inherited-members: {_BASES}"
        shown = f"```{{eval-rst}}\n.. autoclass:: {place}\n   {rest}\n```\n"
        more += f"\n## {other.__name__}\n\n{shown}{_also_has(other)}"
    back = f"[karat.{package}](../{package}.md)"
    # In no table of contents, which would stand on every page: hundreds of lines, megabytes in all.
    top = f"---\norphan: true\n---\n\n# {name}\n\nIn {back}.\n"
    return f"{top}\n```{{eval-rst}}\n{directive}\n```\n{more}"


def package_page(package, module, names):
    """Return the text of a package's page: what it is for, and its names with one line each."""
    text = [f"# karat.{package}\n\n```{{eval-rst}}\n.. automodule:: karat.{package}\n```\n"]
    kinds = {}
    for name in names:
        kinds.setdefault(kind_of(getattr(module, name)), []).append(name)
    for kind in ("Functions", "Classes", "Values", "Results", "Errors", "Warnings"):
        if kind in kinds:
            rows = "\n".join(
                f"| [`{n}`]({package}/{n}.md) | {first_sentence(getattr(module, n))} |"
                for n in sorted(kinds[kind], key=str.lower)
            )
            text.append(f"\n## {kind}\n\n| name | what it is |\n|---|---|\n{rows}\n")
    return "".join(text)


def write(path, text):
    """Write a page where it differs, so that an unchanged one is not built again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def make_pages(app):
    """Write the pages of the reference."""
    from sphinx.ext.autodoc.mock import mock

    folder = Path(app.srcdir) / "reference" / "karat"
    wanted = set()
    with mock(app.config.autodoc_mock_imports):
        for package in sum(GROUPS.values(), ()):
            module = importlib.import_module(f"karat.{package}")
            names = [n for n in module.__all__ if not inspect.ismodule(getattr(module, n))]
            pages = {f"{package}/{n}.md": page_of(package, n, getattr(module, n)) for n in names}
            pages[f"{package}.md"] = package_page(package, module, names)
            for name, text in pages.items():
                write(folder / name, text)
                wanted.add(folder / name)
    for path in set(folder.rglob("*.md")) - wanted:
        path.unlink()


def skip(app, what, name, thing, skipped, options):
    """Leave out what scikit-learn gives every estimator."""
    routing = re.fullmatch(r"get_metadata_routing|set_\w+_request|[gs]et_params", name)
    return True if routing else None


def keep_underscores(app, what, name, thing, options, lines):
    """Escape the underscore that ends names of fitted attributes: else it would mark a link."""
    lines[:] = [re.sub(r"^(:(?:ivar|vartype) \w+)_:", r"\1\\_:", line) for line in lines]


def plain_words(app, doctree):
    """Take links off the words of types: in "column (n,)" the n is no attribute of that name."""
    from sphinx.addnodes import pending_xref

    for link in list(doctree.findall(pending_xref)):
        if link.get("refdomain") == "py" and re.fullmatch(r"[a-z]\w*", link["reftarget"]):
            link.replace_self(link.children)


def setup(app):
    from sphinx.domains.python import PyObject

    for field in PyObject.doc_field_types:
        if field.name == "variable":
            field.label = "Attributes"
    # Before pages are looked for, and before those that hold code are run.
    app.connect("builder-inited", make_pages, priority=100)
    app.connect("autodoc-skip-member", skip)
    app.connect("autodoc-process-docstring", keep_underscores, priority=900)  # after napoleon
    app.connect("doctree-read", plain_words)
    return {"parallel_read_safe": True, "version": "1"}
