"""Backups of the embedded default: one file with the database, the stored files, and what proves them whole."""
