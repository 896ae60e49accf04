"""The embedded store: an index in a folder."""
