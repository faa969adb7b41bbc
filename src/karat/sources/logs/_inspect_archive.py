"""The members of an ``.eval`` archive, which Zstandard packs in a way that Python may not know."""

import json
import struct
import zipfile
from importlib import import_module
from pathlib import Path
from typing import Any

from karat._files import first_words
from karat.exceptions import DataError, MissingExtraError
from karat.sources.logs._facts import fields, objects

__all__ = ["open_archive"]

_ZSTANDARD = 93
_CUT = "Key removed from summary"


def open_archive(path: Path) -> dict[str, Any]:
    """Return an archive as the JSON form of a log: the header, with the samples under their name.

    Summaries hold the scores without the transcripts; single samples are read only where the votes
    of a panel were cut from the summary, or where there are no summaries.
    """
    with zipfile.ZipFile(path) as archive, path.open("rb") as raw:
        members = {info.filename: info for info in archive.infolist()}

        def read(name: str) -> Any:
            try:
                return json.loads(_unpacked(archive, raw, members[name]))
            except (ValueError, RecursionError, zipfile.BadZipFile, EOFError) as error:
                said = f"{path.name}: {name} cannot be read: {first_words(error)}"
                raise DataError(said) from error

        if "header.json" not in members:
            start = "_journal/start.json" in members
            why = "its run was not finished" if start else "it is no log of inspect"
            raise DataError(f"{path.name} has no header.json: {why}")
        header = read("header.json")
        if "summaries.json" in members:
            samples = list(objects(read("summaries.json"), f"{path.name}, summaries.json"))
        else:
            samples = [read(n) for n in sorted(members) if n.startswith("samples/")]
        for i, sample in enumerate(objects(samples, f"{path.name}, samples")):
            full = f"samples/{sample.get('id')}_epoch_{sample.get('epoch')}.json"
            if full in members and _is_cut(sample):
                samples[i] = read(full)
    return {**fields(header, f"{path.name}, header.json"), "samples": samples}


def _is_cut(sample: Any) -> bool:
    for score in fields(sample.get("scores"), f"the scores of sample {sample.get('id')}").values():
        if not isinstance(score, dict):
            continue
        metadata = score.get("metadata")
        if str(metadata).startswith(_CUT):
            return True
        if isinstance(metadata, dict) and str(metadata.get("panel", "")).startswith(_CUT):
            return True
        if any(str(score.get(key, "")).startswith(_CUT) for key in ("value", "history")):
            return True
    return False


def _unpacked(archive: zipfile.ZipFile, raw: Any, info: zipfile.ZipInfo) -> bytes:
    if info.compress_type != _ZSTANDARD:
        return archive.read(info)
    raw.seek(info.header_offset)
    local = raw.read(30)
    name, extra = struct.unpack("<HH", local[26:30])
    raw.seek(name + extra, 1)
    return _decompress(raw.read(info.compress_size), info.file_size)


def _decompress(data: bytes, size: int) -> bytes:
    """Decompress Zstandard, of several frames too, by the first package that can."""
    for module in ("compression.zstd", "backports.zstd"):
        try:
            return bytes(import_module(module).decompress(data))
        except ModuleNotFoundError:
            continue
    try:
        zstandard = import_module("zstandard")
    except ModuleNotFoundError:
        pass
    else:
        with zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True) as reader:
            return bytes(reader.read())
    try:
        return bytes(import_module("pyarrow").decompress(data, size, codec="zstd", asbytes=True))
    except ModuleNotFoundError:
        raise MissingExtraError(
            "an .eval log is packed with Zstandard, which this Python cannot unpack; run: "
            "pip install 'karat[logs]'"
        ) from None
