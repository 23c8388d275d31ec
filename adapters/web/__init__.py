"""The local page: a playground where one is Ada or Ben and sees what the bot knows and why."""
