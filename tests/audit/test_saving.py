"""A saved audit loses nothing, and belongs to its data."""

import json
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from karat.audit import Audit
from karat.exceptions import AuditError

pytestmark = pytest.mark.filterwarnings("ignore::karat.exceptions.SmallSampleWarning")


def begun(spam, path, n=30, **options):
    audit = Audit(spam.called, metric="f1", proba=spam.chance, rng=3, **options)
    audit.save(path)
    audit.tell(spam.labels(audit.ask(n)["item"]))
    return audit


def test_a_resumed_audit_is_the_same(spam, tmp_path):
    audit = begun(spam, tmp_path / "a.json", 40)
    again = Audit.resume(tmp_path / "a.json", spam.called, proba=spam.chance)
    assert again.result == audit.result
    assert again.ask(25)["item"].to_list() == audit.ask(25)["item"].to_list()
    third = Audit.resume(tmp_path / "a.json", spam.called, proba=spam.chance)
    assert len(third.waiting) == 25


def test_nothing_is_lost_when_the_process_is_killed(tmp_path):
    """SIGKILL right after tell, before the next ask."""
    path = tmp_path / "a.json"
    code = f"""
        import os, signal
        import numpy as np
        from karat.audit import Audit
        p = np.linspace(0.01, 0.99, 400)
        audit = Audit((p > 0.5).astype(int), metric="f1", proba=p, rng=1)
        audit.save({str(path)!r})
        items = audit.ask(20)["item"].to_list()
        audit.tell({{i: int(i % 2) for i in items}})
        os.kill(os.getpid(), signal.SIGKILL)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=False)
    assert done.returncode == -signal.SIGKILL
    p = np.linspace(0.01, 0.99, 400)
    audit = Audit.resume(path, (p > 0.5).astype(int), proba=p)
    assert audit.n_labels == 20
    assert len(audit.waiting) == 0
    assert [file.name for file in tmp_path.iterdir()] == ["a.json"]


def test_other_data_are_refused(spam, tmp_path):
    path = tmp_path / "a.json"
    begun(spam, path)
    with pytest.raises(AuditError, match=r"audit of other data: y_pred differs; pass the data as"):
        Audit.resume(path, np.roll(spam.called, 1), proba=spam.chance)
    with pytest.raises(AuditError, match=r"proba differs; pass proba= as it was then"):
        Audit.resume(path, spam.called)
    with pytest.raises(AuditError, match="ids differs"):
        Audit.resume(path, spam.called, proba=spam.chance, ids=np.arange(3000))


def test_a_file_that_was_changed_is_refused(spam, tmp_path):
    path = tmp_path / "a.json"
    begun(spam, path)
    body = json.loads(path.read_text())
    first = next(iter(body["audit"]["labels"]))
    body["audit"]["labels"][first] = 1 - body["audit"]["labels"][first]
    path.write_text(json.dumps(body))
    with pytest.raises(AuditError, match="changed after it was saved"):
        Audit.resume(path, spam.called, proba=spam.chance)
    path.write_text("{}")
    with pytest.raises(AuditError, match="not a saved audit"):
        Audit.resume(path, spam.called)
    with pytest.raises(AuditError, match="there is no file"):
        Audit.resume(tmp_path / "none.json", spam.called)


def test_positive_class_groups_and_another_system_are_kept(spam, tmp_path):
    path = tmp_path / "a.json"
    other = np.where(spam.chance > 0.5, "spam", "ham")
    groups = np.arange(3000) % 2
    audit = Audit(spam.called, metric="recall", proba=1 - spam.chance, pos_label="ham",
                  against=other, groups=groups, confidence=0.9, rng=0)  # fmt: skip
    audit.save(path)
    audit.tell(spam.labels(audit.ask(60)["item"]))
    again = Audit.resume(path, spam.called, proba=1 - spam.chance, against=other, groups=groups)
    assert again.result == audit.result
    assert again.result.pos_label == "ham"
    assert again.result.confidence == 0.9
