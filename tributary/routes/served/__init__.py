"""The graphs over LangServe: what is served, for whom it runs, and how its streams end."""
