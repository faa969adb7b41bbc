"""The columns of a file of counts, and the version of their meaning."""

__all__ = ["COLUMNS", "FORMAT", "VERSION"]

FORMAT = "karat counts"
VERSION = 1
# kind: header, patterns, votes, roc or confusion; of: the column that was counted; votes: codes of
# the voters, with spaces between; group, fold, label and code: positions and codes; square: the sum
# of squared weights, where items have importances.
COLUMNS = {
    "karat": "String", "of": "String", "group": "Int64", "fold": "Int64", "votes": "String",
    "label": "Int64", "code": "Int64", "score": "Float64", "count": "Float64",
    "square": "Float64",
}  # fmt: skip
