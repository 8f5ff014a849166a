"""Nodes of retrieval: one for each branch, and the merge and rerank where they meet."""
