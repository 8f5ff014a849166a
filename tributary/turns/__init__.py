"""Running turns: queued by conversation, independent of the client that asked, heard by any number of listeners."""
