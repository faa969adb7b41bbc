"""Count in a warehouse without a connector: a query to run there, and a reader of its result.

`count_query` writes one statement in the dialect of a warehouse. Its result is one table: a row
for each distinct combination that `Source.counts` would have found, and a first row that says what
was counted, of which types the columns are and how many rows the table has. Whatever program runs
the query exports that table as CSV, JSON lines or Parquet, and `counts_of_result` makes of it the
counts that the rows give.

Every value is text in the result, so that no export rounds a number or guesses a type, and a null
is a word of its own, so that it differs from an empty text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import numpy as np

from karat._extras import require
from karat._files import version_error
from karat._sentences import Argument, Expected, Remedy
from karat._typing import AnyArray, Column
from karat._validate import check_choice, named, refuse_option
from karat.exceptions import ColumnError, DataError, EmptyDataError, WeightError
from karat.sources._text import plain_text
from karat.sources.counting import (
    FOLD,
    Grouped,
    RowWeight,
    confusion_of,
    pattern_counts_of,
    roc_counts_of_groups,
    vote_counts_of,
)
from karat.sources.engines import FOLDS, MIXING, PRIME, collect
from karat.sources.opening import ENDINGS, is_query, list_files, open_file, text_options

QUERY_VERSION = 1
_KIND, _OF, _COUNT, _SQUARE, _FOLD = (
    "karat_kind",
    "karat_of",
    "karat_count",
    "karat_square",
    "karat_fold",
)
_OWN = (_KIND, _OF, _COUNT, _SQUARE, _FOLD)
_NULL = "karat null"
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,59}")
# Words that at least one dialect keeps for itself.
_RESERVED = frozenset(
    re.findall(
        r"\w+",
        """
        all analyse analyze and any array as asc assert_rows_modified at authorization between
        both by case cast check collate column connect constraint contains create cross cube
        current current_date current_time current_timestamp current_user database default
        deferrable define delete desc describe distinct do drop else end enum escape except
        exclude exists extract false fetch filter following for foreign freeze from full function
        grant group grouping groups hash having if ignore ilike in increment initially inner
        insert intersect interval into is isnull join key lambda lateral leading left like limit
        lookup merge minus natural new no not notnull null nulls of offset on only or order outer
        over overlaps partition pivot placing preceding primary proto qualify range recursive
        references regexp respect returning revoke right rlike rollup row rows sample schema
        select session_user set show similar some start struct summarize symmetric table
        tablesample then to trailing treat trigger true try_cast unbounded union unique unnest
        unpivot update user using value values variadic verbose view when whenever where window
        with within
        """,
    )
)


class _Dialect(NamedTuple):
    """What differs between the dialects; ``{}`` is an expression."""

    text: str  # the types
    whole: str
    double: str
    kind: str  # the name of the type of a value
    is_whole: str
    to_whole: str
    digest: str  # the MD5 digest in hexadecimal digits
    position: str  # where the first text stands in the second
    back: bool = False  # names stand between backquotes
    folds_up: bool = False  # names that are not quoted are written in capitals


DIALECTS = {
    "bigquery": _Dialect(
        text="string",
        whole="int64",
        double="float64",
        kind="if({0} is null, null, json_type(to_json({0})))",
        is_whole="regexp_contains(format('%T', {}), r'^-?[0-9]+$')",
        to_whole="safe_cast(cast({} as string) as int64)",
        digest="to_hex(md5({}))",
        position="strpos({1}, {0})",
        back=True,
    ),
    "snowflake": _Dialect(
        text="varchar",
        whole="bigint",
        double="double",
        kind="typeof(to_variant({}))",
        is_whole="typeof(to_variant({})) = 'INTEGER'",
        to_whole="try_to_number(to_varchar({}))",
        digest="md5({})",
        position="position({0}, {1})",
        folds_up=True,
    ),
    "postgres": _Dialect(
        text="text",
        whole="bigint",
        double="double precision",
        kind="cast(pg_typeof({}) as text)",
        is_whole="cast(pg_typeof({}) as text) in ('smallint', 'integer', 'bigint')",
        to_whole="cast(cast({} as text) as bigint)",  # only of what is one: it stands in a branch
        digest="md5({})",
        position="position({0} in {1})",
    ),
    "spark": _Dialect(
        text="string",
        whole="bigint",
        double="double",
        kind="typeof({})",
        is_whole="typeof({}) in ('tinyint', 'smallint', 'int', 'bigint')",
        to_whole="try_cast(cast({} as string) as bigint)",
        digest="md5({})",
        position="position({0}, {1})",
        back=True,
    ),
    "duckdb": _Dialect(
        text="varchar",
        whole="bigint",
        double="double",
        kind="typeof({})",
        is_whole="typeof({}) similar to 'U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?'",
        to_whole="try_cast(cast({} as varchar) as bigint)",
        digest="md5({})",
        position="position({0} in {1})",
    ),
}


# --- What is counted, and the columns of each part.


COUNTED = ("label", "pred", "score", "weak", "judge", "group", "weight", "id")


class Part(NamedTuple):
    """One of the counts: its kind, the column that it is of, and the columns it is grouped by."""

    kind: str
    of: str
    keys: tuple[str, ...]
    folds: bool = False

    @property
    def said(self) -> str:
        """What is counted, for people."""
        words = {"roc": "scores", "confusions": "confusion"}
        return (
            "votes" if self.kind == "votes" else f"{words.get(self.kind, self.kind)} of {self.of}"
        )


def planned(roles: Mapping[str, Sequence[str]]) -> list[Part]:
    """Return what the roles allow to be counted."""
    group, label = tuple(roles.get("group", ())), tuple(roles.get("label", ()))
    preds, weak = roles.get("pred", ()), tuple(roles.get("weak", ()))
    voters = tuple(roles.get("judge", ())) or weak
    parts = [Part("patterns", p, (*weak, p, *group), "id" in roles) for p in preds if weak]
    if voters:
        parts.append(Part("votes", "votes", (*voters, *group, *label)))
    if label:
        parts += [Part("roc", s, (*label, s)) for s in roles.get("score", ())]
        parts += [Part("confusions", p, (*label, p, *group)) for p in preds]
    return parts


# --- The query.


def count_query(
    table: str, dialect: str, roles: Mapping[str, Sequence[str]], *, important: bool = True
) -> str:
    """Return one statement that counts everything the roles allow, in the dialect of a warehouse.

    ``important`` says whether weights are importances, and not numbers of equal rows.
    """
    words = DIALECTS[check_choice(dialect, "dialect", tuple(DIALECTS))]
    roles = {role: tuple(columns) for role, columns in roles.items() if columns}
    parts = _checked_plan(roles)
    names = list(dict.fromkeys(key for part in parts for key in part.keys))
    shown = _result_names(names)
    quoted = {name: _quoted(alias, words) for name, alias in shown.items()}
    weight = roles.get("weight", (None,))[0]
    header = {
        "karat": "counts of a query",
        "version": QUERY_VERSION,
        "roles": roles,
        "important": important,
        "columns": {alias: name for name, alias in shown.items()},
    }
    source = _table(table, dialect, words)
    rows = [
        f"coalesce(cast({_quoted(name, words)} as {words.text}), '{_NULL}') as {quoted[name]}"
        for name in names
    ]
    if weight is not None:
        rows.append(f"cast({_quoted(weight, words)} as {words.double}) as karat_weight")
    folds = any(part.folds for part in parts)
    if folds:
        rows += _fold_start(_quoted(roles["id"][0], words), words)
    read = [_cte("karat_rows", rows, source)]
    if folds:
        read += _fold_steps(words)
    selects = [_header(header, names, quoted, weight, source, words)]
    if weight is not None:
        parts = [*parts, Part("weights", "", ())]
    selects += [_select(part, shown, quoted, weight, words, folds) for part in parts]
    return "with " + ",\n".join(read) + "\n" + "\nunion all\n".join(selects) + "\n"


def _checked_plan(roles: Mapping[str, Sequence[str]]) -> list[Part]:
    """Return what is counted; refuse roles of which nothing can be, or not in a query."""
    for role, columns in roles.items():
        for name in columns:
            if any(mark in name for mark in "*?[") and not _PLAIN.fullmatch(name):
                raise ColumnError(
                    f"{role}={name!r} is a pattern, and a query is written without a look at the "
                    "table; name each column"
                )
            if name.lower() in _OWN or name.lower().startswith("karat_"):
                raise ColumnError(
                    f"the column {name!r} is called like a column of the result; rename it"
                )
    for alone in ("label", "weight", "id"):
        for role, columns in roles.items():
            if role != alone and (twice := set(columns) & set(roles.get(alone, ()))):
                raise ColumnError(
                    f"the column {twice.pop()!r} is named as {alone} and as {role}; expected one "
                    "role"
                )
    parts = planned(roles)
    if not parts:
        raise ColumnError(
            f"nothing can be counted of the roles {dict(roles)}; expected judges, or predictions "
            "with weak or true labels, or scores with true labels"
        )
    if "weight" in roles and any(part.kind == "patterns" for part in parts):
        raise ColumnError(
            f"the column {roles['weight'][0]!r} has the role 'weight': weights are not counted by "
            "pattern; pass the rows with them"
        )
    for role in ("label", "group", "id", "weight"):
        if len(roles.get(role, ())) > 1:
            raise ColumnError(f"{role} is {list(roles[role])}; expected one column")
    return parts


def _result_names(names: Sequence[str]) -> dict[str, str]:
    """Return how each column is called in the result: as in the table, where exports keep that."""
    found: dict[str, str] = {}
    free = (f"column_{i}" for i in count(1))
    taken = [name.lower() for name in names]
    for name in names:
        plain = _PLAIN.fullmatch(name) is not None and taken.count(name.lower()) == 1
        found[name] = name if plain else next(c for c in free if c not in taken)
    return found


def _quoted(name: str, words: _Dialect) -> str:
    """Return the name of a column or table, between quotes where it would not be understood."""
    plain = _PLAIN.fullmatch(name) is not None and name.lower() not in _RESERVED
    # What is not quoted, Snowflake takes in capitals, PostgreSQL in small letters.
    if plain and (name == name.lower() or (words.folds_up and name == name.upper())):
        return name
    if words.back:
        escaped = name.replace("\\", "\\\\").replace("`", "\\`")
        return f"`{name.replace('`', '``') if words is DIALECTS['spark'] else escaped}`"
    return '"' + name.replace('"', '""') + '"'


_NAME_PART = re.compile(r'"((?:[^"]|"")+)"|`((?:[^`]|``)+)`|([^."`]+)')


def _table(table: str, dialect: str, words: _Dialect) -> str:
    """Return what stands after ``from``: a name whose parts are quoted, a file, or a query."""
    text = table.strip().rstrip(";").rstrip()
    if not text:
        refuse_option(table, "table", "the name of the table to count")
    if is_query(text):
        return f"(\n{text}\n) as karat_table"
    endings = tuple(ENDINGS) + tuple(f"{ending}.gz" for ending in ENDINGS)
    if dialect == "duckdb" and (text.lower().endswith(endings) or "/" in text):
        return "'" + text.replace("'", "''") + "'"
    parts, at = [], 0
    while at < len(text):
        found = _NAME_PART.match(text, at)
        if found is None or text[found.end() : found.end() + 1] not in ("", "."):
            refuse_option(table, "table", "a name such as schema.scores, its parts between dots")
        whole, back, bare = found.groups()
        double = None if whole is None else whole.replace('""', '"')
        parts.append(double or (back and back.replace("``", "`")) or bare)
        at = found.end() + 1
    if text.endswith("."):
        refuse_option(table, "table", "a name such as schema.scores, its parts between dots")
    return ".".join(_quoted(part, words) for part in parts)


def _cte(name: str, columns: Sequence[str], source: str) -> str:
    listed = ",\n    ".join(columns)
    return f"{name} as (\n  select\n    {listed}\n  from {source}\n)"


def _fold_start(item: str, words: _Dialect) -> list[str]:
    """Return the columns from which folds are computed: whole numbers, and digests of text."""
    digest = words.digest.format(f"cast({item} as {words.text})")
    whole = words.to_whole.format(item)
    return [
        f"cast(case when {words.is_whole.format(item)} then {whole} end as {words.whole}) "
        "as karat_id",
        f"substr({digest}, 1, 8) as karat_digest",
    ]


def _fold_steps(words: _Dialect) -> list[str]:
    """Return the tables that compute the fold of each row, as `karat.sources.engines` does."""
    before, found = "karat_rows", []
    step = f"mod(mod(karat_id, {PRIME}) + {PRIME}, {PRIME})"
    for i, (slope, shift) in enumerate([*MIXING, (0, 0)]):
        found.append(_cte(f"karat_step_{i}", ["*", f"{step} as karat_hash_{i}"], before))
        before, x = f"karat_step_{i}", f"karat_hash_{i}"
        step = f"mod({x} * ({x} + {slope}) + {shift}, {PRIME})"
    # 16 leaves 1 when it is divided by five: the number and the sum of its digits leave the same.
    digits = [
        words.position.format(f"substr(karat_digest, {i}, 1)", "'123456789abcdef'")
        for i in range(1, 9)
    ]
    fold = f"mod(coalesce(karat_hash_2, {' + '.join(digits)}), {FOLDS})"
    return [*found, _cte("karat_folds", ["*", f"cast({fold} as {words.text}) as {_FOLD}"], before)]


def _header(
    header: Mapping[str, Any],
    names: Sequence[str],
    quoted: Mapping[str, str],
    weight: str | None,
    source: str,
    words: _Dialect,
) -> str:
    """Return the select of the row that says what was counted, of how many rows."""
    said = json.dumps(header, ensure_ascii=False)
    # A literal without quotes and backslashes, which each dialect writes in its own way.
    said = "".join(f"%{ord(c):02X}" if c in "%'\\" else c for c in said)
    columns = [f"'header' as {_KIND}", f"'{said}' as {_OF}"]
    for name in names:
        kind = words.kind.format(_quoted(name, words))
        columns += [f"min({kind}) as {quoted[name]}"]
    wrong = "''"
    if weight is not None:
        w = _quoted(weight, words)
        odd = f"{w} is null or {w} < 0"
        if not header["important"]:
            odd += f" or {w} <> floor({w})"
        wrong = f"cast(sum(case when {odd} then 1 else 0 end) as {words.text})"
    columns += [f"'' as {_FOLD}", f"cast(count(*) as {words.text}) as {_COUNT}"]
    columns.append(f"{wrong} as {_SQUARE}")
    return "select\n  " + ",\n  ".join(columns) + f"\nfrom {source}"


def _select(
    part: Part,
    shown: Mapping[str, str],
    quoted: Mapping[str, str],
    weight: str | None,
    words: _Dialect,
    folds: bool,
) -> str:
    """Return the select of one of the counts."""
    sums = ["count(*)", ""]
    if weight is not None:
        sums = ["sum(karat_weight)", "sum(karat_weight * karat_weight)"]
    number, square = (f"cast({s} as {words.text})" if s else "''" for s in sums)
    columns = [f"'{part.kind}'", f"'{shown.get(part.of, part.of)}'"]
    columns += [quoted[n] if n in part.keys else "''" for n in shown]
    columns += [_FOLD if part.folds else "''", number, square]
    by = [quoted[n] for n in part.keys] + ([_FOLD] if part.folds else [])
    grouped = f"\ngroup by {', '.join(by)}" if by else ""
    table = "karat_folds" if folds else "karat_rows"
    return f"select {', '.join(columns)}\nfrom {table}{grouped}"


# --- The result.


class QueryResult(NamedTuple):
    """What a query counted: the roles of the columns, and the distinct rows of each part."""

    name: str
    roles: dict[str, tuple[str, ...]]
    important: bool
    rows: int
    parts: dict[tuple[str, str], Grouped]


def read_result(source: Any) -> QueryResult:
    """Read the result of a query from a file or a frame; refuse what is not all of it."""
    pl = require("polars", purpose="reading the result of a query")
    name, table = _as_text(pl, source)
    table = _with_columns(table, _OWN, name)
    heads = table.filter(pl.col(_KIND) == "header")
    if len(heads) != 1:
        what = "has no header row" if not len(heads) else f"holds the results of {len(heads)} runs"
        raise DataError(
            Argument.of(name),
            f" {what}; expected ",
            Expected("the whole result of one query that karat count --sql printed"),
        )
    header = _header_of(heads[_OF][0], name)
    roles = {role: tuple(columns) for role, columns in header["roles"].items()}
    columns = dict(header["columns"])
    table = _with_columns(table, tuple(columns), name)
    heads = table.filter(pl.col(_KIND) == "header")
    total = int(_numbers(heads[_COUNT], _COUNT, name)[0])
    if not total:
        raise EmptyDataError(f"{name}: the table that was queried has no rows")
    weighted = "weight" in roles
    if weighted and (bad := int(_numbers(heads[_SQUARE], _SQUARE, name)[0])):
        raise WeightError(
            f"the weight column {roles['weight'][0]!r} is missing, negative or no whole number of "
            f"rows in {bad:,} rows"
        )
    kinds = {own: heads[alias][0] for alias, own in columns.items()}
    mass: float = total
    if weighted:
        sums = table.filter(pl.col(_KIND) == "weights")
        mass = float(_numbers(sums[_COUNT], _COUNT, name).sum())
    alias_of = {own: alias for alias, own in columns.items()}
    weight = RowWeight(roles["weight"][0], header["important"]) if weighted else None
    parts = {}
    for part in planned(roles):
        of = alias_of.get(part.of, part.of)
        is_own = (pl.col(_KIND) == part.kind) & (pl.col(_OF).str.to_lowercase() == of.lower())
        rows = table.filter(is_own)
        parts[part.kind, part.of] = _part(rows, part, alias_of, kinds, mass, weight, name)
    return QueryResult(name, roles, bool(header["important"]), total, parts)


def _as_text(pl: Any, source: Any) -> tuple[str, Any]:
    """Return the name of a result and its columns as text."""
    if not isinstance(source, str | Path):
        import narwhals as nw

        frame = nw.from_native(source, eager_only=True).to_polars()
        return "the result", frame.with_columns(pl.all().cast(pl.String))
    path = list_files(source)[0]
    if not path.stat().st_size:
        raise EmptyDataError(f"{path.name} is empty: it has no bytes")
    options = text_options(path)
    if options is None:
        frame = _rows_of(path)
    else:
        try:
            frame = pl.read_csv(plain_text(path).path, **options)
        except pl.exceptions.PolarsError as error:
            raise DataError(Argument.of(path.name), f" cannot be read: {error}") from error
    return path.name, frame.with_columns(pl.all().cast(pl.String))


def _rows_of(path: Path) -> Any:
    """Return the rows of one file as a Polars frame."""
    import narwhals as nw

    return collect(nw.from_native(open_file(path, None, quiet=True)))


def _with_columns(table: Any, names: Sequence[str], of: str) -> Any:
    """Return the table with columns called as the query calls them, in whatever case they are."""
    renamed = {}
    for name in names:
        if name in table.columns:
            continue
        same = [c for c in table.columns if c.strip().casefold() == name.casefold()]
        if len(same) != 1:
            raise ColumnError(
                Argument.of(of),
                f" has no column {name!r}; there are {named(table.columns)}; expected ",
                Expected("every column of the result, called as the query calls it"),
                Remedy("export the result again, with its column names"),
            )
        renamed[same[0]] = name
    return table.rename(renamed)


def _header_of(text: str | None, name: str) -> dict[str, Any]:
    """Return what the header row says."""
    try:
        header: dict[str, Any] = json.loads(unquote(text or ""))
        header["roles"], header["columns"], header["important"]
    except (ValueError, TypeError, KeyError) as error:
        raise DataError(
            Argument.of(name),
            " has a header row that cannot be read; expected ",
            Expected("the result of a query that karat count --sql printed, unchanged"),
        ) from error
    if header.get("version") != QUERY_VERSION:
        again = "print the query again with karat count --sql, and run it"
        raise version_error(DataError, name, header.get("version"), QUERY_VERSION, again=again)
    return header


def _part(
    rows: Any,
    part: Part,
    alias_of: Mapping[str, str],
    kinds: Mapping[str, str | None],
    mass: float,
    weight: RowWeight | None,
    name: str,
) -> Grouped:
    """Return the distinct rows of one of the counts, of the types that the table has."""
    import polars as pl

    weighted = weight is not None
    counts = _numbers(rows[_COUNT], _COUNT, name)
    found = float(counts.sum())
    if not np.isclose(found, mass, rtol=1e-9 if weighted else 0, atol=0 if weighted else 0.5):
        raise DataError(
            Argument.of(name),
            f" holds {found:,.12g} of {mass:,.12g} rows in the {part.said}: it was "
            "cut short, or its parts were counted at different times",
            Remedy("export the whole result of one run"),
        )
    columns = {key: _typed(pl, rows[alias_of[key]], key, kinds[key], name) for key in part.keys}
    if part.folds:
        if (rows[_FOLD].fill_null("") == "").any():
            raise DataError(
                f"{name}: the id column has nulls; give every row an identifier and run it again"
            )
        columns[FOLD] = pl.Series(FOLD, _numbers(rows[_FOLD], _FOLD, name)).cast(pl.Int64)
    frame = pl.DataFrame({key: column.alias(key) for key, column in columns.items()})
    keep = "__karat_n"
    frame = frame.with_columns(pl.Series(keep, counts))
    squares = "__karat_w2"
    if weighted:
        frame = frame.with_columns(pl.Series(squares, _numbers(rows[_SQUARE], _SQUARE, name)))
    frame = frame.sort(list(columns), nulls_last=True)
    distinct, counts = frame.select(list(columns)), frame[keep].to_numpy()
    if weight is None or not weight.important:
        return Grouped(distinct, np.rint(counts).astype(np.int64))
    return Grouped(distinct, counts, frame[squares].to_numpy())


def _numbers(texts: Any, column: str, name: str) -> AnyArray:
    """Return the numbers of a column of the result."""
    values = texts.str.strip_chars().cast(float, strict=False)
    if values.null_count() or not np.isfinite(values.to_numpy()).all():
        wrong = texts.filter(values.is_null() | ~values.is_finite().fill_null(False))[0]
        raise DataError(
            Argument.of(name),
            f" has {wrong!r} in the column {column!r}; expected ",
            Expected("a number"),
        )
    found: AnyArray = values.to_numpy()
    return found


_TRUE = {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}
_INTEGERS = re.compile(r"u?(tiny|small|big|huge|medium)?int(eger)?\d*|byte|short|long")
_NUMBERS = re.compile(r"(number|numeric|decimal|dec|double|float|real|fixed).*")


def _typed(pl: Any, texts: Any, column: str, kind: str | None, name: str) -> Any:
    """Return values of the type that the column has in the table."""
    texts = texts.fill_null("")
    texts = texts.set(texts == _NULL, None)
    kind = (kind or "").lower()
    if kind.startswith("bool"):
        known = texts.str.strip_chars().str.to_lowercase()
        found = known.replace_strict(_TRUE, default=None, return_dtype=pl.Boolean)
    elif _INTEGERS.fullmatch(kind):
        found = texts.str.strip_chars().cast(pl.Int64, strict=False)
        if found.null_count() > texts.null_count():  # a program has made 1.0 of 1
            real = texts.str.strip_chars().cast(pl.Float64, strict=False)
            found = real.set(real != real.floor(), None).cast(pl.Int64, strict=False)
    elif _NUMBERS.fullmatch(kind):
        single = kind in ("float", "real")  # of four bytes, where the type says so
        found = texts.str.strip_chars()
        whole = not kind.startswith(("double", "float", "real"))
        if whole and found.drop_nulls().str.contains(r"^[+-]?\d+$").all():
            found = found.cast(pl.Int64, strict=False)
        else:
            found = found.cast(pl.Float32 if single else pl.Float64, strict=False)
    else:
        return texts
    if found.null_count() > texts.null_count():
        wrong = texts.filter(found.is_null() & texts.is_not_null())[0]
        raise DataError(
            Argument.of(name),
            f" has {wrong!r} in the column {column!r}, which holds {kind} in the table; expected ",
            Expected("the result as the query gives it"),
        )
    return found


def counted(
    result: QueryResult, *, null: str, pos_label: Any, cells: int | None, classes: Column | None
) -> dict[str, dict[str, Any]]:
    """Return the counts of each kind, by the column that they are of."""
    roles = result.roles
    group, label = (next(iter(roles.get(role, ())), None) for role in ("group", "label"))
    weak = roles.get("weak", ())
    found: dict[str, dict[str, Any]] = {"patterns": {}, "votes": {}, "roc": {}, "confusions": {}}
    for (kind, of), rows in result.parts.items():
        if kind == "patterns":
            folds = FOLDS if FOLD in rows.rows.columns else 0
            one: Any = pattern_counts_of(rows, of, weak, group, classes, null, folds)
        elif kind == "votes":
            voters = roles.get("judge", ()) or weak
            one = vote_counts_of(rows, voters, group, label, classes, null)
        elif label is None:  # without one there are neither curves nor confusions
            continue
        elif kind == "roc":
            one = roc_counts_of_groups(rows.present(label), label, of, pos_label, classes, cells)
        else:
            one = confusion_of(rows.present(label), label, of, group, classes)
        found[kind][of] = one
    return found
