"""Word lists as they are written in code."""


def word_set(*lists: str) -> frozenset[str]:
    """The words of several lists, each separated by white space."""
    return frozenset(word for words in lists for word in words.split())
