"""Every tool of our own, sorted by name: the array is part of the frozen prompt."""

from bot.tools.conversation_search import CONVERSATION_SEARCH
from bot.tools.list_files import LIST_FILES
from bot.tools.memory_forget import MEMORY_FORGET
from bot.tools.memory_search import MEMORY_SEARCH
from bot.tools.memory_write import MEMORY_WRITE
from bot.tools.read_file import READ_FILE
from bot.tools.search_files import SEARCH_FILES
from bot.tools.tool import Tool
from bot.tools.write_file import WRITE_FILE

TOOLS: tuple[Tool, ...] = tuple(
    sorted(
        (
            CONVERSATION_SEARCH,
            LIST_FILES,
            MEMORY_FORGET,
            MEMORY_SEARCH,
            MEMORY_WRITE,
            READ_FILE,
            SEARCH_FILES,
            WRITE_FILE,
        ),
        key=lambda tool: tool.name,
    )
)
"""The door for a new tool: one file, one line here."""
