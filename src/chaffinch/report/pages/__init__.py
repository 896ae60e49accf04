"""Report -> the pages of a report: their data, their scripts, one file or a folder."""
