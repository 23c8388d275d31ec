"""Commands: what people ask for by name, the same on every platform."""
