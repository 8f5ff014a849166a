"""Words, sentences, key phrases and summaries of text in any language: pure functions without a model."""
