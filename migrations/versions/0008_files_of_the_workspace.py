"""Files of the workspace: whose they are and which turn they came from.

Revision: 0008, after 0006.
"""

import sqlalchemy as sa
from alembic import op

import memory.database

revision = "0008"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "workspace_files",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("team_id", sa.String(), nullable=False),
        sa.Column("audience", sa.String(), nullable=False),
        sa.Column("drawn_from", sa.String(), nullable=True),
        sa.Column("bot_id", sa.String(), nullable=True),
        sa.Column("person_id", sa.String(), nullable=True),
        sa.Column("turn_id", sa.String(), nullable=True),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("folder", sa.String(), nullable=False),
        sa.Column("path", memory.database.Words(), nullable=False),
        sa.Column("created_at", memory.database.Moment(timezone=True), nullable=False),
        sa.Column("gone_at", memory.database.Moment(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["person_id"], ["persons.id"], name=op.f("fk_workspace_files_person_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["team_id"], ["teams.id"], name=op.f("fk_workspace_files_team_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_workspace_files")),
    )
    for name, columns in (
        ("gate", ["team_id", "audience"]),
        ("where", ["folder", "path"]),
        ("person_id", ["person_id"]),
        ("turn_id", ["turn_id"]),
        ("gone_at", ["gone_at"]),
    ):
        op.create_index(f"ix_workspace_files_{name}", "workspace_files", columns)


def downgrade() -> None:
    op.drop_table("workspace_files")
