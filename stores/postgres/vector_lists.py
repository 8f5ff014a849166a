"""How the vectors of a large knowledge base are divided into lists of near ones, a few of which a search reads.

Lists fit the number of vectors that they were made for: what is added later lies in them as well, but their centres no
longer lie where the vectors do, and longer lists take longer. So an index is of a size, and gives way to a successor.
"""

import math

#: Vectors of more dimensions lie in lists by so many of their first components: by those many models are trained to say
#: most, and of others a quarter of 3,072 says enough to find what is then compared as a whole.
HEAD = 768
_LONG = 1_024
#: Vectors in a list of an index that is built at its size; twice as many at the next one. Shorter lists mean more
#: centres to compare, longer ones more vectors.
SHORTEST = 64
#: The most lists that the extension makes.
MOST = 32_768
#: It looks for their centres among so many vectors for each list, and among so many at least. They are those that lie
#: in as many blocks of the table, taken by chance.
_SAMPLED = 50
_SAMPLED_AT_LEAST = 10_000
#: Samples without which a list's centre is chance.
_SAMPLES_NEEDED = 4
#: The share of the memory that an index may be built in which is reckoned with; the rest is for what else is kept.
_RECKONED = 0.9


def size_of(vectors: int) -> int:
    """The size of an index that is built now: the power of two below the number of vectors."""
    return max(1, vectors).bit_length() - 1


def fits(size: int, vectors: int) -> bool:
    """Whether an index of that size serves so many vectors still: half a size more on either side, so that none is
    built time and again at a border."""
    return size - 0.5 <= math.log2(max(1, vectors)) < size + 1.5


def head_of(dimension: int) -> int | None:
    """How many components an index holds of each vector; None: all."""
    return HEAD if dimension > _LONG else None


def lists_of(size: int, dimension: int, *, memory: int, blocks: int) -> int:
    """How many lists an index has.

    Args:
        dimension: of what it holds of each vector.
        memory: bytes that may be used to build it. Looking for the centres takes the square of their number, and the
            extension refuses what does not fit.
        blocks: of the table. Where the knowledge base is a small part of it few of its vectors are sampled, and lists
            are fewer and longer.
    """
    lists = max(1, min((1 << size) // SHORTEST, _fitting(dimension, memory), MOST))
    if _samples(lists) * (1 << size) < _SAMPLES_NEEDED * lists * blocks:
        lists = max(1, min(lists, _SAMPLED_AT_LEAST * (1 << size) // blocks // _SAMPLES_NEEDED))
    return lists


def _samples(lists: int) -> int:
    return max(_SAMPLED_AT_LEAST, _SAMPLED * lists)


def _fitting(dimension: int, memory: int) -> int:
    """The most lists whose centres are found in `memory`: each sample takes two bytes a component, and four for its
    distance to each centre."""
    reckoned = _RECKONED * memory
    by_least = (reckoned / _SAMPLED_AT_LEAST - 2 * dimension) / 4
    if by_least * _SAMPLED <= _SAMPLED_AT_LEAST:
        return int(by_least)
    a, b = 4 * _SAMPLED, 2 * _SAMPLED * dimension
    return int((math.sqrt(b * b + 4 * a * reckoned) - b) / (2 * a))
