"""Documents in, a Report out."""
