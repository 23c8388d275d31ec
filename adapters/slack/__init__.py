"""Slack: its events in, its messages out. Nothing outside this folder knows its words."""
