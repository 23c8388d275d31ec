"""The bot: messages in, turns, prompts, tools and commands."""
