"""An audit on disk: what was asked for and answered, the data's fingerprint and a checksum.

`write_audit` replaces a file only by one that is complete; `read_audit` refuses a file that was
changed, and one that belongs to other data, with the parts that differ named.
"""

from karat.audit.saving._file import check_data, read_audit, write_audit

__all__ = ["check_data", "read_audit", "write_audit"]
