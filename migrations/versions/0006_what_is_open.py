"""What is open, a message or a turn, without reading all that is done.

Revision: 0006, after 0005.
"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index(
        "ix_entries_unanswered",
        "entries",
        ["turn_id", "seq"],
        sqlite_where=sa.text("addressed IS 1"),
        postgresql_where=sa.text("addressed IS true"),
    )
    op.create_index("ix_turns_status", "turns", ["status"])


def downgrade() -> None:
    op.drop_index("ix_turns_status", "turns")
    op.drop_index("ix_entries_unanswered", "entries")
