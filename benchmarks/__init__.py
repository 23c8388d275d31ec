"""What README claims, measured."""
