"""A report without names."""
