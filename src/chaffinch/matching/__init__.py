"""What two documents share, and where: joined streams, base code, matches in bytes."""
