"""Interviewers' notes; and people are told from previews and from programs that try a study."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the notes, and the kind of a person; all there are so far are people."""
    op.add_column(
        "person", sa.Column("kind", sa.String(10), nullable=False, server_default="person")
    )
    op.create_table(
        "note",
        sa.Column("id", sa.Integer(), nullable=False, autoincrement=True),
        sa.Column("person_id", sa.String(32), nullable=False),
        sa.Column("seq", sa.Integer()),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_note"),
        sa.ForeignKeyConstraint(
            ["person_id"], ["person.id"], name="fk_note_person_id_person", ondelete="CASCADE"
        ),
    )
    op.create_index("ix_note_person_id", "note", ["person_id"])


def downgrade() -> None:
    """Remove the notes and the kind."""
    op.drop_table("note")
    op.drop_column("person", "kind")
