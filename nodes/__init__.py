"""The behaviour of the graphs: small async functions that read state, ask their ports and return what changed."""
