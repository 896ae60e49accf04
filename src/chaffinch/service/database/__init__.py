"""Where the service keeps accounts, courses, runs and jobs: SQLite in the data folder, or PostgreSQL."""
