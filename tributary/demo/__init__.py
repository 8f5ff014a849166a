"""What a first start shows: a small knowledge base of our own texts, and a bot that knows it."""
