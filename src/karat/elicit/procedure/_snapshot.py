"""The state of a procedure as bytes: what the next question depends on, without replaying answers.

A snapshot is a header in JSON and arrays of numbers, with a checksum before them; nothing in it is
code. The classifiers that questions are made of are not in it: they belong to the space.
"""

import hashlib
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from karat._typing import AnyArray
from karat.elicit.asking import ActiveSearch, AttainablePairs, Pending
from karat.elicit.posterior import Answers, Evidence, ParticlePosterior
from karat.elicit.procedure._build_search import search_with
from karat.elicit.transcript import Query
from karat.exceptions import TranscriptError

if TYPE_CHECKING:
    from karat.elicit.procedure._procedure import Procedure

__all__ = ["pack", "read_search", "unpack", "write_search"]

_MAGIC = b"KARAT-ELICIT"
_VERSION = 1
_DIGEST = 32


def pack(header: dict[str, Any], arrays: dict[str, AnyArray]) -> bytes:
    """Return a header and arrays as bytes with a checksum."""
    layout = [[name, array.dtype.str, list(array.shape)] for name, array in arrays.items()]
    text = json.dumps(header | {"arrays": layout}, ensure_ascii=False).encode()
    parts = [len(text).to_bytes(4, "little"), text]
    parts += [np.ascontiguousarray(array).tobytes() for array in arrays.values()]
    body = b"".join(parts)
    return _MAGIC + _VERSION.to_bytes(2, "little") + hashlib.sha256(body).digest() + body


def unpack(snapshot: Any) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Return the header and the arrays of a snapshot; refuse bytes that are none."""
    start = len(_MAGIC) + 2
    if not isinstance(snapshot, bytes | bytearray | memoryview):
        raise TranscriptError(
            f"the snapshot is {type(snapshot).__name__}; expected the bytes that "
            "procedure.snapshot() gave"
        )
    data = bytes(snapshot)
    if data[: len(_MAGIC)] != _MAGIC:
        raise TranscriptError(
            "these bytes are no snapshot of an elicitation; pass what procedure.snapshot() gave"
        )
    version = int.from_bytes(data[len(_MAGIC) : start], "little")
    if version != _VERSION:
        raise TranscriptError(
            f"the snapshot has version {version} and this karat reads version {_VERSION}; resume "
            "from the transcript of the same answers"
        )
    body = data[start + _DIGEST :]
    if hashlib.sha256(body).digest() != data[start : start + _DIGEST]:
        raise TranscriptError(
            "the snapshot is damaged: its checksum does not fit. Resume from an earlier snapshot "
            "or from the transcript"
        )
    end = 4 + int.from_bytes(body[:4], "little")
    header = json.loads(body[4:end])
    arrays = {}
    for name, kind, shape in header.pop("arrays"):
        dtype, count = np.dtype(kind), int(np.prod(shape))
        arrays[name] = np.frombuffer(body, dtype, count, end).reshape(shape)
        end += count * dtype.itemsize
    return header, arrays


def write_search(search: ActiveSearch) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Return the state of a search as plain data and arrays."""
    source, checks, waiting = search.source, search.checks, search.pending
    header: dict[str, Any] = {
        "n_asked": search.n_asked,
        "learned": search.learned,
        "posteriors": [_described(p) for p in (search.posterior, *search.rivals)],
        "checks": None if checks is None else [checks.asked, checks.repeated],
        "pending": None if waiting is None else [waiting.query.kind, waiting.pair],
        "kinds": [query.kind for query in search.queries],
    }
    if isinstance(source, AttainablePairs):
        header["times"] = [[*pair, count] for pair, count in source.times.items()]
    else:
        header["skipped"] = source.skipped  # type: ignore[attr-defined]
    arrays: dict[str, AnyArray] = {"history": np.array(search.history)}
    answers = search.posterior.answers
    arrays |= {"first": answers.first, "second": answers.second, "signs": answers.signs}
    if search.queries:
        arrays["asked"] = np.stack([np.stack([q.first, q.second]) for q in search.queries])
    if waiting is not None:
        arrays["waiting"] = np.stack([waiting.query.first, waiting.query.second])
        arrays["waiting_at"] = np.stack([waiting.first, waiting.second])
    for i, posterior in enumerate((search.posterior, *search.rivals)):
        # Particles are rounded to single precision, so that nothing is lost here.
        arrays[f"parameters{i}"] = posterior.parameters.astype(np.float32)
        arrays[f"uniform{i}"] = posterior.uniform.astype(np.float32)
        arrays[f"log_weights{i}"] = posterior.log_weights.astype(np.float32)
    return header, arrays


def _described(posterior: ParticlePosterior) -> dict[str, Any]:
    evidence = posterior.evidence
    return {
        "typical": posterior.typical,
        "acceptance": posterior.acceptance,
        "rng": posterior.rng.bit_generator.state,
        "evidence": {name: getattr(evidence, name) for name in Evidence.__slots__},
    }


def read_search(
    procedure: "Procedure", header: dict[str, Any], arrays: dict[str, AnyArray]
) -> ActiveSearch:
    """Return the search of a procedure from what ``write_search`` gave."""
    answers = Answers(arrays["first"], arrays["second"], arrays["signs"])
    families = [procedure._family(flipped=False)]
    if len(header["posteriors"]) > 1:
        wide = procedure._wider_family()
        assert wide is not None
        families.append(wide)
    posteriors = []
    for i, (family, saved) in enumerate(zip(families, header["posteriors"], strict=True)):
        rng = np.random.default_rng()
        rng.bit_generator.state = saved["rng"]
        posterior = ParticlePosterior(
            family=family,
            typical=saved["typical"],
            parameters=arrays[f"parameters{i}"].astype(float),
            uniform=arrays[f"uniform{i}"].astype(float),
            log_weights=arrays[f"log_weights{i}"].astype(float),
            answers=answers,
            rng=rng,
            evidence=Evidence(**saved["evidence"]),
            acceptance=saved["acceptance"],
        )
        posterior.see_answers()
        posteriors.append(posterior)
    search = search_with(procedure, posteriors[0], posteriors[1:])
    search.history = arrays["history"].tolist()
    search.n_asked, search.learned = header["n_asked"], header["learned"]
    search.queries = [
        Query(*sides, kind=kind)
        for sides, kind in zip(arrays.get("asked", ()), header["kinds"], strict=True)
    ]
    _restore_source(search, header, arrays)
    return search


def _restore_source(
    search: ActiveSearch, header: dict[str, Any], arrays: dict[str, AnyArray]
) -> None:
    source = search.source
    if isinstance(source, AttainablePairs):
        source.times = {(i, j): count for i, j, count in header["times"]}
    else:
        source.skipped = header["skipped"]  # type: ignore[attr-defined]
    if search.checks is not None:
        search.checks.asked, search.checks.repeated = header["checks"]
    if header["pending"] is not None:
        kind, pair = header["pending"]
        first, second = arrays["waiting_at"]
        there = None if pair is None else (pair[0], pair[1])
        search.pending = Pending(Query(*arrays["waiting"], kind=kind), first, second, there)
