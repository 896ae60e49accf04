"""A MOSS server: speaks to unmodified MOSS clients, and shows results as MOSS does."""
