"""In-memory twins of the stores: the same contracts without a server, for tests and experiments."""
