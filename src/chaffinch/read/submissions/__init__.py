"""Whose file is it: layouts and learning platforms."""
