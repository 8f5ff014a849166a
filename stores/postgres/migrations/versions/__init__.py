"""One file a revision; a released revision is never edited."""
