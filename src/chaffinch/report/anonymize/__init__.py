"""Reports without names of students."""
