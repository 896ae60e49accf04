"""Heintze's Koala: a few secret fingerprints of each document, chosen again on demand."""
