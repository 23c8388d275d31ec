"""The order of a conversation's entries without reading all of them.

Revision: 0004, after 0003.
"""

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_entries_order", "entries", ["conversation_id", "seq"])


def downgrade() -> None:
    op.drop_index("ix_entries_order", "entries")
