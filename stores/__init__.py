"""I/O: protocols, then one folder for each backend."""
