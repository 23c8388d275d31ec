"""Every tool of our own, sorted by name: the array is part of the frozen prompt."""

from bot.tools.conversation_search import CONVERSATION_SEARCH
from bot.tools.memory_forget import MEMORY_FORGET
from bot.tools.memory_search import MEMORY_SEARCH
from bot.tools.memory_write import MEMORY_WRITE
from bot.tools.tool import Tool

TOOLS: tuple[Tool, ...] = tuple(
    sorted((CONVERSATION_SEARCH, MEMORY_FORGET, MEMORY_SEARCH, MEMORY_WRITE), key=lambda tool: tool.name)
)
"""The door for a new tool: one file, one line here."""
