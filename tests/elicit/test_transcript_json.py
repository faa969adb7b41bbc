"""Transcripts whose JSON Python cannot take."""

import pytest

from karat.elicit import load_transcript
from karat.exceptions import TranscriptError


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": ' + "[" * 100_000, "it is nested too deep"),
        ('{"a": ' + "9" * 5000 + "}", "a number has more than 4300 digits"),
    ],
    ids=["deep", "digits"],
)
def test_json_that_python_cannot_take_is_one_sentence(tmp_path, text, said):
    path = tmp_path / "transcript.json"
    path.write_text(text)
    with pytest.raises(TranscriptError, match=said):
        load_transcript(path)
