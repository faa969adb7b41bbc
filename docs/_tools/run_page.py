"""Run the Python of one page, in order, and keep what it prints and draws.

Usage: python run_page.py PAGE.md FOLDER

Writes FOLDER/ran.json, a list with one entry per block: what it printed, what karat warned of, its
pictures (SVG files in FOLDER, with a text for those who cannot see them), and the error, if any.
A block is a fenced block whose tag is ``python`` and nothing else.
"""

import contextlib
import io
import json
import os
import re
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

# Java compiles a short run of Spark for longer than it runs it: without the second compiler a page
# takes two thirds of the time (28 s of a processor become 18 s; fewer rows save nothing).
SHORT_JAVA = {"JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
# A block of Python, and the output that the page shows right below it, if any.
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)


def missing(text):
    """Return why the page cannot run here, or an empty string."""
    import importlib.util
    import shutil

    if "import torch" in text and importlib.util.find_spec("torch") is None:
        return "it trains with PyTorch, which is not installed"
    if "from karat.studio" in text and importlib.util.find_spec("fastapi") is None:
        return "it makes a web study, and karat[studio] is not installed"
    if "import SparkSession" in text:
        if importlib.util.find_spec("pyspark") is None:
            return "it counts on Spark, and PySpark is not installed"
        if shutil.which("java") is None:
            return "it counts on Spark, which needs Java"
    return ""


def run(text, page, folder):
    """Return what each block of ``text`` did; the first error ends the page."""
    import matplotlib.pyplot as plt

    plt.switch_backend("svg")

    # The same picture in every build, and text that stays text for search and for readers aloud.
    plt.rcParams.update({"svg.hashsalt": page, "svg.fonttype": "path", "figure.dpi": 100})
    namespace = {"__name__": "__main__"}
    ran = []
    for number, found in enumerate(BLOCK.finditer(text)):
        # Blank lines in front give errors the line numbers of the page.
        above = "\n" * text.count("\n", 0, found.start(1))
        said, error, caught = io.StringIO(), "", []
        try:
            with contextlib.redirect_stdout(said), warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                exec(compile(above + found[1], page, "exec"), namespace)
        except Exception:
            error = traceback.format_exc(limit=-1)
        pictures = []
        for figure in map(plt.figure, plt.get_fignums()):
            words = [a.get_title(loc) for a in figure.axes for loc in ("left", "center")]
            words += [a.get_xlabel() for a in figure.axes]
            name = f"{number}-{len(pictures)}.svg"
            figure.savefig(folder / name, bbox_inches="tight", metadata={"Date": None})
            pictures.append({"file": name, "text": ". ".join(filter(None, words))})
        plt.close("all")
        # Readers see what karat warns of; warnings of other packages are not about the page.
        ours = [w for w in caught if w.category.__module__.startswith("karat")]
        warned = list(dict.fromkeys(f"{w.category.__name__}: {w.message}" for w in ours))
        ran.append(
            {"said": said.getvalue(), "warned": warned, "pictures": pictures, "error": error}
        )
        if error:
            break
    return ran


def main():
    """Run a page in an empty folder and write what it did."""
    page, folder = Path(sys.argv[1]), Path(sys.argv[2]).resolve()
    text = page.read_text(encoding="utf-8")
    folder.mkdir(parents=True, exist_ok=True)
    os.environ.update(SHORT_JAVA)
    with tempfile.TemporaryDirectory() as empty:
        os.chdir(empty)
        ran = run(text, page.name, folder)
        os.chdir(folder)
    (folder / "ran.json").write_text(json.dumps(ran), encoding="utf-8")


if __name__ == "__main__":
    main()
