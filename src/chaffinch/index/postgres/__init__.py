"""The PostgreSQL store: an index in a database."""
