"""The ledger of erasures, and what finds equal memories and the best of many quickly.

Revision: 0003, after 0002.
"""

import sqlalchemy as sa
from alembic import op

import memory.database

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

GATE = ["team_id", "audience", "layer", "status"]


def upgrade() -> None:
    op.create_table(
        "erasures",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("team_id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("at", memory.database.Moment(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["team_id"], ["teams.id"], name=op.f("fk_erasures_team_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_erasures")),
        sa.UniqueConstraint("kind", "key", name=op.f("uq_erasures_kind_key")),
    )
    op.create_index("ix_erasures_team_id", "erasures", ["team_id"])
    # No batch: rebuilding the table would cost its search index, and both databases add a column in place.
    op.add_column("memories", sa.Column("digest", sa.String(), server_default="", nullable=False))
    op.create_index("ix_memories_digest", "memories", ["team_id", "digest"])
    op.drop_index("ix_memories_gate", "memories")
    op.create_index("ix_memories_gate", "memories", [*GATE, "importance", "confirmed_at"])


def downgrade() -> None:
    op.drop_index("ix_memories_gate", "memories")
    op.create_index("ix_memories_gate", "memories", GATE)
    op.drop_index("ix_memories_digest", "memories")
    op.drop_column("memories", "digest")
    op.drop_index("ix_erasures_team_id", "erasures")
    op.drop_table("erasures")
