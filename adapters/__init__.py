"""Doors to the outside: each translates one platform's events and replies at the edge."""
