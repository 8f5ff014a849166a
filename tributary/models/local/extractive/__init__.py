"""The built-in chat model: it answers with the sentences of its sources that best support an answer."""
