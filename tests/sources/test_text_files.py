"""Text as other programs write it: encodings, marks, empty columns, signs of a missing value."""

import gzip
import json
import random
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path

import polars as pl
import pytest

import karat
from karat.exceptions import ColumnError, DataError, KaratWarning
from karat.sources import _text
from karat.sources.opening import is_plain, read_texts

ROWS = "y,s,name\n1,0.5,Müller\n0,0.25,Åse\n1,0.75,Zoë\n"
WANTED = [(1, 0.5, "Müller"), (0, 0.25, "Åse"), (1, 0.75, "Zoë")]


def scanned(path, said=""):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        frame = karat.scan(path).columns
    notes = [str(w.message) for w in caught if issubclass(w.category, KaratWarning)]
    assert (said in " ".join(notes)) if said else notes == []
    return frame


@pytest.mark.parametrize(("encoding", "said"), [
    ("utf-8", ""), ("utf-8-sig", ""), ("utf-16", "read as UTF-16"), ("utf-32", "read as UTF-32"),
    ("utf-16-le", "read as UTF-16"), ("utf-16-be", "read as UTF-16"),
    ("latin-1", "read as Windows-1252 (Latin-1), since it is not UTF-8"),
])  # fmt: skip
@pytest.mark.parametrize("packed", [False, True])
def test_encodings(encoding, said, packed, tmp_path):
    path = tmp_path / f"x.csv{'.gz' if packed else ''}"
    data = ROWS.encode(encoding)
    path.write_bytes(gzip.compress(data) if packed else data)
    assert scanned(path, said).rows() == WANTED
    assert read_texts(path, ["name"])["name"].to_list() == [row[2] for row in WANTED]
    if not packed:
        assert is_plain(path) == (not said)


def test_unicode_text_of_excel(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_bytes(ROWS.replace(",", "\t").encode("utf-16"))
    assert scanned(path, "UTF-16").rows() == WANTED


def test_letters_far_down_the_file(tmp_path):
    """Polars looks at the encoding of cells that it needs, and then fails in the middle."""
    path = tmp_path / "x.csv"
    path.write_bytes(("y,n\n" + "1,plain\n" * 300_000 + "0,Müller\n").encode("latin-1"))
    assert scanned(path, "Windows-1252")["n"][-1] == "Müller"


def test_broken_utf_8_is_not_taken_for_another_encoding(tmp_path):
    path = tmp_path / "x.csv"
    data = ROWS.encode().replace("Zoë".encode(), b"Zo\xff")
    path.write_bytes(data)
    with pytest.raises(DataError, match=r"x.csv is broken UTF-8: line 4 holds bytes"):
        karat.scan(path)


@pytest.mark.parametrize("cut", range(1, 9))
def test_letters_between_two_pieces(cut, tmp_path, monkeypatch):
    monkeypatch.setattr(_text, "_PIECE", cut)
    path = tmp_path / "x.csv"
    path.write_text(ROWS, encoding="utf-8")
    assert scanned(path).rows() == WANTED
    path.write_bytes(ROWS.encode("utf-16"))
    assert scanned(path, "UTF-16").rows() == WANTED


def test_a_changed_file_is_read_anew(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(ROWS.encode("latin-1"))
    assert len(scanned(path, "Windows")) == 3
    path.write_bytes((ROWS + "0,0.5,Jürgen\n").encode("latin-1"))
    assert scanned(path, "Windows")["name"][-1] == "Jürgen"


# --- JSON


LINES = [{"y": 1, "s": 0.5}, {"y": 0, "s": 0.25}]


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("name", ["x.json", "x.jsonl"])
def test_json_arrays_and_marks(mark, name, tmp_path):
    path = tmp_path / name
    path.write_text(mark + json.dumps(LINES), encoding="utf-8")
    assert scanned(path).rows() == [(1, 0.5), (0, 0.25)]
    path.write_text(mark + "\n".join(map(json.dumps, LINES)), encoding="utf-8")
    if name == "x.jsonl":
        assert scanned(path).rows() == [(1, 0.5), (0, 0.25)]


@pytest.mark.parametrize(("line", "said"), [
    ('{"y": 1', r"line 3: Expecting"), ("[1]", r"line 3 is no object"), ("oops", "line 3: "),
])  # fmt: skip
def test_broken_lines_are_named(line, said, tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join([*map(json.dumps, LINES), line, json.dumps(LINES[0])]))
    with pytest.raises(DataError, match=said):
        karat.scan(path)


def test_broken_lines_of_a_log_are_named(tmp_path):
    sample = {"doc_id": 0, "doc": {}, "filtered_resps": [["a"]], "metrics": ["acc"], "acc": 1}
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join([json.dumps(sample)] * 4 + ["{"]))
    with pytest.raises(DataError, match="line 5"):
        karat.scan(path)


# --- Spreadsheets and R


def test_empty_columns_without_a_name_are_left_out(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("y,s,,\n1,0.5,,\n0,0.25,,\n")
    assert scanned(path).rows() == [(1, 0.5), (0, 0.25)]
    path.write_text("y,,s,\n1,,0.5,\n0,7,0.25,\n")
    with pytest.raises(ColumnError, match=r"column 2 of x\.csv has no name and is not empty"):
        karat.scan(path)
    path.write_text("y,y,\n1,2,\n")
    with pytest.raises(ColumnError, match="'y' twice"):
        karat.scan(path)


@pytest.mark.parametrize("sign", ["NA", "N/A", "#N/A", "NULL", "None"])
def test_signs_of_a_missing_value_among_numbers(sign, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text(f"y,s,g\n1,0.5,{sign}\n{sign},0.25,b\n0,{sign},c\n")
    frame = scanned(path, f"{sign} stands among the numbers of 'y' in 1 rows")
    assert frame.rows() == [(1, 0.5, sign), (None, 0.25, "b"), (0, None, "c")]
    assert frame.schema == {"y": pl.Int64, "s": pl.Float64, "g": pl.String}
    assert not is_plain(path)


def test_signs_far_down_and_among_words(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("y,w\n" + "1,2\n" * 3000 + "NA,x\n")
    frame = scanned(path, "NA stands among the numbers of 'y'")
    assert frame.schema == {"y": pl.Int64, "w": pl.String}
    assert frame["y"].null_count() == 1
    path.write_text("y\n" + "NA\n" * 3000)
    assert scanned(path).schema == {"y": pl.String}


# --- Archives that hold more than they seem to


def peak(code):
    """Return what a process says, and the most memory that it took, in megabytes."""
    paths = f"import sys; sys.path[:0] = {sys.path!r}\n{code}\n"
    # The peak since the process began; that of getrusage counts what it was forked from.
    used = "print(next(r for r in open('/proc/self/status') if r[:5] == 'VmHWM').split()[1])"
    ran = subprocess.run([sys.executable, "-c", paths + used], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[-800:]
    *said, memory = ran.stdout.splitlines()
    return "\n".join(said), int(memory) // 1024


SCAN = """
import karat
from karat.exceptions import DataError
try:
    karat.scan({path!r}).columns
except DataError as error:
    print(error)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's /proc")
def test_bombs_are_refused_in_little_memory(tmp_path):
    csv = tmp_path / "x.csv.gz"
    with gzip.open(csv, "wb") as packed:
        packed.write(b"y,s\n")
        for _ in range(400):
            packed.write(b"1,0.5\n" * 175_000)
    archive = tmp_path / "x.eval"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("header.json", "{}")
        with made.open("summaries.json", "w", force_zip64=True) as member:
            member.write(b"[")
            for _ in range(200):
                member.write(b"[]," * 350_000)
    for path in (csv, archive):
        assert path.stat().st_size < 2_000_000
        said, memory = peak(SCAN.format(path=str(path)))
        assert "unpacks to more than 100 times its" in said
        assert memory < 500


def test_what_packs_well_is_read(tmp_path):
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(b"y,s\n" + b"1,0.5\n" * 500_000))
    assert len(path.read_bytes()) * 100 < 3_000_000
    assert len(scanned(path)) == 500_000
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DataError, match=r"x\.csv\.gz cannot be unpacked"):
        karat.scan(path)


# --- Logs


def inspect_log(path, n=36, errors=6, letters="CI"):
    rng = random.Random(0)
    samples = [
        {"id": i, "epoch": 1, "error": {"message": "out of memory", "traceback": "…"}}
        if i < errors else
        {"id": i, "epoch": 1,
         "scores": {f"judge_{j}": {"value": rng.choice(letters)} for j in range(3)}}
        for i in range(n)
    ]  # fmt: skip
    run = {"task": "sums", "model": "m"}
    path.write_text(json.dumps({"version": 2, "eval": run, "samples": samples}))
    return path


def test_samples_that_ended_in_an_error_are_failures_of_the_system(tmp_path):
    path = inspect_log(tmp_path / "run.json")
    with pytest.warns(KaratWarning, match="6 samples ended in an error and count as failures"):
        data = karat.scan(path)
    rows = data.columns
    assert (data.log.errors, data.log.items, len(rows)) == (6, 36, 108)
    failed = rows.filter(rows["errored"])
    assert set(failed["vote"]) == {0}
    assert set(failed["reason"]) == {"error: out of memory"}
    assert len(failed) == 18
    assert len(data.votes()) == 90, "no judge saw them"
    with pytest.warns(KaratWarning, match="6 samples ended in an error and are left out"):
        ignored = karat.scan(path, errors="ignore")
    assert len(ignored.columns) == 90
    assert "are left out" in ignored.log.summary()
    shares = []
    for errors in ("failures", "ignore"):
        with pytest.warns(KaratWarning, match="ended in an error"):
            found = karat.evaluate(path, errors=errors)
        (rate, *_) = {f.key: f for f in found.findings}["pass_rates"].results.values()
        shares.append((rate.value, rate.n))
    (with_errors, n), (without, fewer) = shares
    assert (n, fewer) == (36, 30)
    assert with_errors * n == pytest.approx(without * fewer)


def test_a_log_of_errors_alone(tmp_path):
    path = inspect_log(tmp_path / "run.json", n=4, errors=4)
    with pytest.warns(KaratWarning, match="4 samples"):
        rows = karat.scan(path).columns
    assert rows["judge"].to_list() == ["the system"] * 4


def test_letters_are_grades_of_inspect_alone(tmp_path):
    traces = [
        {"trace_id": f"t{i}", "assessments": [
            {"assessment_name": name, "source": {"source_type": "LLM_JUDGE"},
             "feedback": {"value": value}} for name, value in (("a", one), ("b", "Y"))]}
        for i, one in enumerate(["P", "C", "N", "passed", "failed"])
    ]  # fmt: skip
    path = tmp_path / "traces.json"
    path.write_text(json.dumps(traces))
    votes = karat.scan(path).columns.filter(pl.col("judge") == "a")["vote"].to_list()
    assert votes == ["P", "C", "0", "1", "0"]
    path = inspect_log(tmp_path / "run.json", errors=0, letters="CIP")
    assert set(karat.scan(path).columns["vote"]) == {-1, 0, 1}


def test_names_of_many_cases_are_told_apart_in_one_pass(tmp_path):
    cases = [
        {"name": f"case {i // 2}", "order": i, "metricsData": [{"name": "m", "success": True}]}
        for i in range(20_000)
    ]
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"testCases": cases}))
    items = karat.scan(path).columns["item"].to_list()
    assert len(set(items)) == len(items) == 20_000
    assert items[:2] == ["case 0#0", "case 0#1"]
