"""Topology: which node follows which. Behaviour is in `nodes`; backends are bound in `tributary.services`.

`build_*` returns a builder. Whoever runs it compiles it: the server with a PostgreSQL checkpointer, Studio with its
own, tests with one in memory.
"""
