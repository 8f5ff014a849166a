"""Models that run in this process, without a key or a service."""
