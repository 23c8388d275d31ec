"""What the words that a model added to a memory may have been drawn from.

Revision: 0005, after 0004.
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # No batch: both databases add a column in place, and the search index stays.
    op.add_column("memories", sa.Column("drawn_from", sa.String(), nullable=True))


def downgrade() -> None:
    op.drop_column("memories", "drawn_from")
