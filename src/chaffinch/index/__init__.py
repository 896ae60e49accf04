"""An archive that grows: documents are added, kept for years, and searched one at a time."""
