"""Files that something has damaged: every command ends with an answer or with one sentence."""

import gzip
import io
import json
import os
import random
import warnings
import zipfile

import polars as pl
import pytest

N = 60
COUNT = int(os.environ.get("KARAT_FUZZ", "60"))
MOST_CHARACTERS = 2_000  # of what an error says
COMMANDS = {
    "score": "--label y --pred a --pred b",
    "auc": "--label y --score s",
    "gate": "--label y --pred a --at-least 0.5",
    "audit": "--pred a --score s --ask 10 --todo todo.csv",
    "bounds": "--pred a --weak w*",
    "judges": "--judge w* --label y",
    "calibration": "--label y --prob s",
    "optimize": "--label y --score s --metric f1 --folds 0",
    "count": "--label y --pred a --score s --weak w* -o counts.parquet",
}
EVALUATE = "--label y --pred a --score s"


def rows():
    rng = random.Random(0)
    found = []
    for i in range(N):
        y = int(rng.random() < 0.4)
        wrong = [int(rng.random() < 0.2) for _ in range(5)]
        called = [y ^ w for w in wrong]
        score = round(min(max(0.3 + 0.4 * y + rng.gauss(0, 0.2), 0), 1), 3)
        found.append(
            {"id": f"n{i}", "y": y, "s": score, "a": called[0], "b": called[1]}
            | {f"w{j}": c for j, c in enumerate(called[2:])}
        )
    return found


def delimited(separator, end="\n"):
    lines = [separator.join(rows()[0])]
    lines += [separator.join(str(v) for v in row.values()) for row in rows()]
    return (end.join(lines) + end).encode()


def written(method, **options):
    file = io.BytesIO()
    getattr(pl.DataFrame(rows()), method)(file, **options)
    return file.getvalue()


def inspect_log():
    judges = {f"w{j}": {"value": "CI"[row[f"w{j}"]]} for row in rows()[:1] for j in range(3)}
    return {
        "version": 2,
        "eval": {"task": "t", "model": "m", "scorers": [{"name": name} for name in judges]},
        "samples": [
            {"id": row["id"], "epoch": 1,
             "scores": {f"w{j}": {"value": "IC"[row[f"w{j}"]]} for j in range(3)}}
            for row in rows()
        ],
    }  # fmt: skip


def archive():
    file = io.BytesIO()
    log = inspect_log()
    samples = log.pop("samples")
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("header.json", json.dumps(log))
        made.writestr("summaries.json", json.dumps(samples))
    return file.getvalue()


SEEDS = {
    "rows.csv": delimited(","),
    "old.csv": delimited(";", "\r\n"),
    "rows.tsv": delimited("\t"),
    "rows.csv.gz": gzip.compress(delimited(","), mtime=0),
    "wide.csv": delimited(",").decode().encode("utf-16"),
    "rows.jsonl": "\n".join(map(json.dumps, rows())).encode(),
    "rows.json": json.dumps(rows()).encode(),
    "rows.parquet": written("write_parquet"),
    "rows.arrow": written("write_ipc"),
    "run.json": json.dumps(inspect_log()).encode(),
    "run.eval": archive(),
}
ODD = [
    b"", b"NA", b"NaN", b"inf", b"-1", b"1e999", b"9" * 30, b"-" + b"9" * 19, b"0x1f", b"1_000",
    b"\x00", b"\xff\xfe", b"\xc3", "Ü".encode(), b'"', b'""', b'"unclosed', b"a" * 100_000, b"{}",
    b"null", b"[1]", b"=1+254", b"-0", b"0.5.5", b" 1 ", b"True", b"yes", b"\r", b"\n\n", b",,,,",
    b"\xef\xbb\xbf", b"18446744073709551616", b"9007199254740993", b"1e-400", b"\x1a", b"#",
]  # fmt: skip


def flipped(data, rng):
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]


def cut(data, rng):
    return data[: rng.randrange(len(data))]


def without_a_part(data, rng):
    at = rng.randrange(len(data))
    return data[:at] + data[at + rng.randrange(1, 200) :]


def with_a_part_twice(data, rng):
    at = rng.randrange(len(data))
    return data[:at] + data[at : at + rng.randrange(1, 200)] * 2 + data[at:]


def with_something_odd(data, rng):
    at = rng.randrange(len(data))
    return data[:at] + rng.choice(ODD) + data[at:]


def with_an_odd_cell(data, rng):
    """Replace what stands between two marks, as cells and values of JSON do."""
    marks = [i for i, byte in enumerate(data) if byte in b",;\t\n:"]
    if len(marks) < 2:
        return data
    k = rng.randrange(len(marks) - 1)
    return data[: marks[k] + 1] + rng.choice(ODD) + data[marks[k + 1] :]


def with_an_odd_column(data, rng):
    """Give a column of every row the same odd value."""
    lines = data.split(b"\n")
    mark = next((m for m in (b",", b";", b"\t") if m in lines[0]), b",")
    k, odd = rng.randrange(8), rng.choice(ODD)
    changed = lines[:1]
    for line in lines[1:]:
        cells = line.split(mark)
        if k < len(cells):
            cells[k] = odd
        changed.append(mark.join(cells))
    return b"\n".join(changed)


CHANGES = [
    flipped, cut, without_a_part, with_a_part_twice, with_something_odd, with_an_odd_cell,
    with_an_odd_cell, with_an_odd_column,
]  # fmt: skip


def mutated(number):
    """Return the name and the bytes of one damaged file: the same ones every time."""
    rng = random.Random(number)
    name = rng.choice(sorted(SEEDS))
    data = SEEDS[name]
    packed = name.endswith(".gz") and rng.random() < 0.5
    data = gzip.decompress(data) if packed else data
    for _ in range(rng.choice([1, 1, 2, 4])):
        data = rng.choice(CHANGES)(data, rng) or data
    return name, gzip.compress(data, mtime=0) if packed else data


@pytest.mark.parametrize("number", range(COUNT))
def test_no_command_ends_with_a_traceback(number, karat, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name, data = mutated(number)
    commands = list(COMMANDS)
    chosen = commands if COUNT > 60 else [commands[(number + k) % len(commands)] for k in range(3)]
    (tmp_path / name).write_bytes(data)
    for command in [*chosen, *(["evaluate"] if number % 6 == 0 else [])]:
        flags = COMMANDS.get(command, EVALUATE)
        if name.startswith("run") and command in ("judges", "evaluate"):
            flags = ""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ran = karat(command, name, *flags.split(), "--json")
        assert ran.code in (0, 2, 3, 4, 5), ran.err
        assert "Traceback" not in ran.err
        if ran.code in (2, 3):
            assert sum(line.startswith("error: ") for line in ran.err.splitlines()) == 1, ran.err
            assert len(ran.err) <= MOST_CHARACTERS
        else:
            json.loads(ran.out)


def test_the_files_as_they_are_are_read(karat, tmp_path, monkeypatch):
    """The damage is what the commands refuse, and not the files themselves."""
    monkeypatch.chdir(tmp_path)
    for name, data in SEEDS.items():
        (tmp_path / name).write_bytes(data)
        if name.startswith("run"):
            continue
        ran = karat("score", name, *COMMANDS["score"].split(), "--json")
        assert ran.code == 0, (name, ran.err)


LONG = ["x" * 100_000, "z" * 100_000]


@pytest.mark.parametrize("command", [*COMMANDS, "evaluate"])
@pytest.mark.parametrize("kind", ["labels", "identifiers", "columns"])
def test_long_names_and_labels_are_cut(kind, command, karat, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = pl.DataFrame(rows())
    if kind == "columns":
        table = pl.DataFrame({f"column_{i}": [0, 1] for i in range(3000)})
    for name in ("y", "a", "b", "w0", "w1", "w2") if kind != "columns" else ():
        many = [f"{LONG[0][:2000]}{i % 9}" for i in range(N)]
        text = [LONG[v] for v in table[name]] if kind == "labels" else many
        table = table.with_columns(pl.Series(name, text))
    table.write_csv("rows.csv")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ran = karat(command, "rows.csv", *COMMANDS.get(command, EVALUATE).split())
    assert ran.code in (0, 2, 3, 4, 5), ran.err[:500]
    assert len(ran.err) <= MOST_CHARACTERS
    assert len(ran.out) <= 20_000
    if kind == "columns":
        assert "(3000 in all)" in ran.err


@pytest.mark.parametrize("name", ["rows.csv", "rows.jsonl"])
def test_identifiers_beyond_64_bits_are_labels_like_others(name, karat, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = [row | {k: 10**20 + row[k] for k in ("y", "a", "b")} for row in rows()]
    text = "\n".join(map(json.dumps, table))
    if name == "rows.csv":
        text = "\n".join([",".join(table[0]), *(",".join(map(str, r.values())) for r in table)])
    (tmp_path / name).write_text(text)
    ran = karat("score", name, "--label", "y", "--pred", "a", "--json")
    assert ran.code == 0, ran.err
    wanted = sum(row["y"] == row["a"] for row in table) / N
    (scored,) = ran.data["results"]["a"].values()
    assert scored["value"] == pytest.approx(wanted)
