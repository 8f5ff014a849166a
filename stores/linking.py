"""Links from a question to relations: what a relation says of what is asked counts beside the way that led to it.
Shared by all graph stores."""

import math
from collections import Counter
from collections.abc import Mapping

from tributary.domain.retrieval import RelationFact
from tributary.text.words import keys

#: Relations that are read for each one that is given.
READ = 3
#: What a relation that says all that is asked counts beside one that says nothing of it.
LINKED = 3.0


def linked(query: str, scores: Mapping[str, float], facts: Mapping[str, RelationFact]) -> list[str]:
    """The relations that are read, those first that lie on the way (`scores`) and say what is asked. Ties by id."""
    asked = frozenset(keys(query))
    said = {each: asked.intersection(_words(fact)) for each, fact in facts.items()}
    # What all of them say, such as the name of whom they are about, tells none from another.
    counts = Counter(word for words in said.values() for word in words)
    telling = {word: 1.0 - count / len(facts) for word, count in counts.items()}
    # Of sets, which come in any order: exact sums keep equal relations equal, whichever process adds.
    whole = math.fsum(telling.values()) or 1.0
    shares = {each: math.fsum(telling[word] for word in words) / whole for each, words in said.items()}
    return sorted(facts, key=lambda each: (-scores[each] * (1.0 + (LINKED - 1.0) * shares[each]), each))


def _words(fact: RelationFact) -> list[str]:
    """Those of its ends, its name and its sentence."""
    return keys(f"{fact['source']} {fact['relation']} {fact['target']} {fact['description']}")
