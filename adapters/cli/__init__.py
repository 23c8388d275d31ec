"""The command line: an adapter like the others."""
