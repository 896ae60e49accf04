"""Archives: what is in them, within a budget."""
