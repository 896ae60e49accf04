"""Bytes -> what the core reads, for each format."""
