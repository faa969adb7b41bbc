"""The command line at real terminals, in pipes and in shells: each in a process of its own."""

import os
import re
import shutil
import struct
import subprocess
import sys
import time

import numpy as np
import pytest

pty = pytest.importorskip("pty", reason="this system has no pseudo-terminals")

LONG = "a_model_whose_name_is_long_and_that_nobody_should_ever_cut_v1"
COLOR = re.compile(r"\x1b\[[0-9;]*(?:3[0-7]|4[0-7]|9[0-7])[0-9;]*m")
STYLE = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture(scope="module")
def votes(tmp_path_factory):
    """A file of three rules and a model with a long name."""
    path = tmp_path_factory.mktemp("votes") / "votes.csv"
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 300)
    wrong = rng.random((300, 5)) < [0, 0.1, 0.15, 0.2, 0.25]
    lines = [f"truth,{LONG},lf_one,lf_two,lf_three"]
    lines += [
        ",".join(map(str, row)) for row in np.where(wrong, 1 - truth[:, None], truth[:, None])
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


def started(*arguments, **environment):
    return subprocess.Popen(
        [sys.executable, "-m", "karat", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | environment,
    )


def ran(*arguments, **environment):
    process = started(*arguments, **environment)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def at_a_terminal(*arguments, columns=60, **environment):
    """Run a command at a terminal of so many columns; return what it shows."""
    import fcntl
    import termios

    main, other = pty.openpty()
    fcntl.ioctl(main, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    hidden = {name: v for name, v in os.environ.items() if name not in {"COLUMNS", "NO_COLOR"}}
    process = subprocess.Popen(
        [sys.executable, "-m", "karat", *map(str, arguments)],
        stdin=other, stdout=other, stderr=other,
        env=hidden | {"TERM": "xterm-256color"} | environment,
    )  # fmt: skip
    os.close(other)
    shown = b""
    while True:
        try:
            part = os.read(main, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
    os.close(main)
    return process.wait(timeout=120), shown.decode()


@pytest.mark.parametrize(
    "arguments",
    [
        ["judges", "FILE", "--judge", "lf_*"],
        ["score", "FILE", "--label", "truth", "--pred", LONG, "--json"],
        ["auc", "--help"],
    ],
    ids=" ".join,
)
def test_a_reader_that_stops_is_no_error(arguments, votes):
    """As with ``karat … | head -1``: no traceback, and the code that shells give the signal."""
    process = started(*(votes if a == "FILE" else a for a in arguments))
    process.stdout.close()  # nobody reads a word
    said = process.stderr.read().decode()
    process.stderr.close()
    assert process.wait(timeout=120) == 141
    assert "Traceback" not in said
    assert "BrokenPipe" not in said


def test_the_first_line_is_enough(votes):
    """The shell's own pipe, with ``head``."""
    command = f'"{sys.executable}" -m karat judges "{votes}" --judge "lf_*" | head -1'
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr == ""


def test_colours_are_shown_at_a_terminal_and_can_be_turned_off():
    _, colourful = at_a_terminal("score", "--help", columns=90)
    assert COLOR.search(colourful)
    for shown in (
        at_a_terminal("score", "--help", columns=90, NO_COLOR="1")[1],
        at_a_terminal("--no-color", "score", "--help", columns=90)[1],
    ):
        assert not COLOR.search(shown)
        assert STYLE.sub("", shown) == STYLE.sub("", colourful)


def test_nothing_is_cut_at_sixty_columns(votes):
    code, shown = at_a_terminal("judges", votes, "--judge", "lf_*", "--judge", LONG)
    assert code == 0
    lines = STYLE.sub("", shown).replace("\r", "").splitlines()
    assert LONG in lines, "a name that does not fit beside numbers has a line of its own"
    assert "…" not in shown
    at = lines.index(LONG)
    assert [line.partition(":")[0] for line in lines[at + 1 : at + 4]] == [
        "  error rate", "  95 % limits", "  status",
    ]  # fmt: skip
    short = at_a_terminal("judges", votes, "--judge", "lf_*")[1]
    assert "│" in short, "a table that fits is a table"


def test_flags_are_whole_at_sixty_columns():
    _, narrow = at_a_terminal("judges", "--help")
    _, wide = at_a_terminal("judges", "--help", columns=300)
    flags = set(re.findall(r"--[a-z][a-z-]+", STYLE.sub("", wide)))
    assert len(flags) > 10
    assert flags <= set(re.findall(r"--[a-z][a-z-]+", STYLE.sub("", narrow)))
    assert all(len(line) <= 60 for line in STYLE.sub("", narrow).replace("\r", "").splitlines())


ENCODINGS = [
    {"PYTHONIOENCODING": "ascii"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
]


@pytest.mark.parametrize("environment", ENCODINGS, ids=lambda e: "-".join(e.values()))
def test_terminals_that_lack_characters_get_others(environment, votes):
    """Dashes and frames become those of ASCII; a command that failed here would show nothing."""
    code, out, err = ran("score", votes, "--label", "truth", "--pred", LONG, **environment)
    assert (code, err) == (0, b"")
    assert b"Clopper-Pearson limits" in out
    assert b"\\u" not in out
    code, out, _ = ran("judges", votes, "--judge", "lf_*", **environment)
    assert code == 0
    assert b"| lf_one " in out
    assert out.isascii()


def test_names_are_never_spelled_another_way(tmp_path):
    """A letter that the terminal lacks is shown as its number: a name must stay the same name."""
    path = tmp_path / "votes.csv"
    path.write_text("truth,modèle\n" + "0,0\n1,1\n" * 20, encoding="utf-8")
    code, out, _ = ran(
        "score", path, "--label", "truth", "--pred", "modèle",
        PYTHONIOENCODING="ascii", PYTHONUTF8="1",
    )  # fmt: skip
    assert code == 0
    assert rb"mod\xe8le:" in out
    code, _, err = ran("score", path, "--label", "truth", "--pred", "x–y", PYTHONIOENCODING="ascii")
    assert code == 3
    assert b"there is no such column" in err


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Put a command ``karat`` into the path, as an installation does."""
    script = tmp_path / "bin" / "karat"
    script.parent.mkdir()
    script.write_text(f"#!{sys.executable}\nfrom karat.cli import main\n\nmain()\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}{os.pathsep}{os.environ['PATH']}")


BASH = """
eval "$(karat --show-completion bash)"
complete_words() {{ COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _karat_completion karat; }}
complete_words {words}
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("karat ju", ["judges"]),
        ("karat gate --at", ["--at-least"]),
    ],
)
def test_bash_completes_commands_and_flags(words, found, installed):
    code = BASH.format(words=words)
    done = subprocess.run(
        ["bash", "--norc", "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == found


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh_completes_commands_and_flags(installed, tmp_path, monkeypatch):
    (tmp_path / ".zshrc").write_text(
        'autoload -Uz compinit && compinit -u -D\neval "$(karat --show-completion zsh)"\n'
        "PS1='ready> '\n"
    )
    monkeypatch.setenv("ZDOTDIR", str(tmp_path))
    monkeypatch.setenv("TERM", "dumb")
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp("zsh", ["zsh", "-i"])
    try:
        _read_until(terminal, "ready> ")
        os.write(terminal, b"karat ju\t")
        _read_until(terminal, "karat judges ")
        os.write(terminal, b"\x15karat score --lab\t")
        _read_until(terminal, "karat score --label ")
    finally:
        os.write(terminal, b"\x15exit\n")
        os.close(terminal)
        os.waitpid(pid, 0)


def _read_until(terminal, wanted, limit=60):
    shown, end = "", time.monotonic() + limit
    while wanted not in shown:
        assert time.monotonic() < end, shown
        shown += os.read(terminal, 4096).decode(errors="replace")


def test_what_zsh_is_told(installed):
    """What the script of zsh asks of karat, where there is no zsh to ask it."""
    environment = {"_KARAT_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": "karat ju"}
    done = subprocess.run(
        ["karat"], env=os.environ | environment, capture_output=True, text=True, timeout=120
    )
    assert '"judges"' in done.stdout
    script = subprocess.run(
        ["karat", "--show-completion", "zsh"], capture_output=True, text=True, check=True,
        env=os.environ | {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}, timeout=120,
    )  # fmt: skip
    assert "compdef _karat_completion karat" in script.stdout
