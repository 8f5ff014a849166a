"""Chat models, what they take, and embeddings: thin factories over LangChain's classes, with every failure of a
provider in the domain's error tree. The built-in models stand under `local`."""
