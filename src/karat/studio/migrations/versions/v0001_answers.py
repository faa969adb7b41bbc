"""Studies, people, and the log of their answers."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "meta",
        sa.Column("name", sa.String(50), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_meta"),
    )
    op.create_table(
        "admin",
        sa.Column("id", sa.Integer(), nullable=False, autoincrement=True),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("password_hash", sa.String(200)),
        sa.Column("session_version", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_admin"),
        sa.UniqueConstraint("name", name="uq_admin_name"),
    )
    op.create_table(
        "study",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("status", sa.String(10), nullable=False),
        sa.Column("config", sa.JSON(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.Column("fingerprint", sa.String(64), nullable=False),
        sa.Column("room_version", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_study"),
    )
    _people()
    _answers()


def _people() -> None:
    op.create_table(
        "person",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("study_id", sa.String(32), nullable=False),
        sa.Column("label", sa.String(100), nullable=False),
        sa.Column("token_hash", sa.String(64), nullable=False),
        sa.Column("token_version", sa.Integer(), nullable=False),
        sa.Column("expires_at", sa.Double(), nullable=False),
        sa.Column("prolific_pid", sa.String(100)),
        sa.Column("join_nonce", sa.String(64)),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("guess_order", sa.String(10), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("nonce", sa.String(32), nullable=False),
        sa.Column("evaluation", sa.JSON()),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("finished_at", sa.Double()),
        sa.PrimaryKeyConstraint("id", name="pk_person"),
        sa.ForeignKeyConstraint(
            ["study_id"], ["study.id"], name="fk_person_study_id_study", ondelete="CASCADE"
        ),
        sa.UniqueConstraint("token_hash", name="uq_person_token_hash"),
        sa.UniqueConstraint("study_id", "prolific_pid", name="uq_person_prolific"),
        sa.UniqueConstraint("study_id", "join_nonce", name="uq_person_join"),
    )
    op.create_index("ix_person_study_id", "person", ["study_id"])


def _of_person(table: str) -> tuple[sa.Column[str], sa.ForeignKeyConstraint]:
    name = f"fk_{table}_person_id_person"
    return (
        sa.Column("person_id", sa.String(32), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], name=name, ondelete="CASCADE"),
    )


def _answers() -> None:
    op.create_table(
        "log",
        sa.Column("id", sa.Integer(), nullable=False, autoincrement=True),
        *_of_person("log"),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("nonce", sa.String(32), nullable=False),
        sa.Column("phase", sa.String(20), nullable=False),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("undoes", sa.Integer()),
        sa.Column("seconds", sa.Double()),
        sa.Column("client_seconds", sa.Double()),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_log"),
        sa.UniqueConstraint("person_id", "seq", name="uq_log_seq"),
        sa.UniqueConstraint("person_id", "nonce", name="uq_log_nonce"),
    )
    op.create_index("ix_log_person_id", "log", ["person_id"])
    op.create_table(
        "state",
        *_of_person("state"),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("page", sa.JSON(), nullable=False),
        sa.Column("snapshot_seq", sa.Integer()),
        sa.Column("back", sa.Integer()),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("person_id", "seq", name="pk_state"),
    )
    op.create_table(
        "snapshot",
        *_of_person("snapshot"),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("person_id", "seq", name="pk_snapshot"),
    )


def downgrade() -> None:
    """Remove the tables."""
    for table in ("snapshot", "state", "log", "person", "study", "admin", "meta"):
        op.drop_table(table)
