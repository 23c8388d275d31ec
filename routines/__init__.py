"""Time: prompts on a schedule and what waits for its hour."""
