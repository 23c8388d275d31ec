"""Tools: what the model may do. A new one is one file here and one line in `bot.tools.registry`."""
