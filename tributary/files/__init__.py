"""What looks into the bytes of files: types, soundness, text and pictures, in processes that can be killed.

Nothing here trusts a name or a declared type. Modules that parse import their library where they use it, so that
the server never loads it and a worker loads only what its task needs.
"""
