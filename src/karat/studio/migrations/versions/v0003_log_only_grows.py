"""The database itself refuses to change what was logged; only whole people can be deleted."""

from alembic import op

revision = "0003"
down_revision = "0002"

_WORDS = "the log of answers only grows"
_SQLITE = f"""
CREATE TRIGGER log_only_grows BEFORE UPDATE ON log
BEGIN SELECT RAISE(ABORT, '{_WORDS}'); END
"""
_FUNCTION = f"""
CREATE FUNCTION log_only_grows() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION '{_WORDS}'; END $$
"""
_TRIGGER = """
CREATE TRIGGER log_only_grows BEFORE UPDATE ON log
FOR EACH ROW EXECUTE FUNCTION log_only_grows()
"""


def upgrade() -> None:
    """Add the trigger."""
    if op.get_bind().dialect.name == "sqlite":
        op.execute(_SQLITE)
        return
    op.execute(_FUNCTION)
    op.execute(_TRIGGER)


def downgrade() -> None:
    """Remove the trigger."""
    if op.get_bind().dialect.name == "sqlite":
        op.execute("DROP TRIGGER log_only_grows")
        return
    op.execute("DROP TRIGGER log_only_grows ON log")
    op.execute("DROP FUNCTION log_only_grows")
