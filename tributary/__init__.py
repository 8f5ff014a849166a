"""Tributary: chat with your files and your knowledge bases, answered with citations."""

__version__ = "0.1.0"
