"""Whose file is it: layouts, learning platforms, dates."""
