"""Typed wrappers over the C interface of the core."""
