"""`local/minilm`: small English text embeddings, for platforms where the multilingual model has no wheel."""
