"""What Chaffinch costs, measured: `python -m bench` prints the table and writes it under bench/results."""
