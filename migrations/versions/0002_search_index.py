"""The keyword index.

Revision: 0002, after 0001.
"""

from migrations import search_index

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    search_index.prepare()
    for table in search_index.TABLES:
        search_index.create(table)


def downgrade() -> None:
    for table in search_index.TABLES:
        search_index.drop(table)
    search_index.unprepare()
