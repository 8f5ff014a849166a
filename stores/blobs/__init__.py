"""Bytes of files: on this machine's disk, and copied to S3 where that is enabled."""
