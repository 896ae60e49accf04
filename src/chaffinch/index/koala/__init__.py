"""Secret selection, rotation, probes."""
