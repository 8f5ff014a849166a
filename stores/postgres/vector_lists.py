"""How the vectors of a large knowledge base are divided into lists of near ones, a few of which a search reads.

Lists fit the number of vectors that they were made for: what is added later lies in them as well, but their centres no
longer lie where the vectors do, and longer lists take longer. So an index is of a size, and gives way to a successor.
"""

import math

#: Vectors that a list holds when its index has just outgrown its predecessor; twice as many before the next size.
#: Shorter lists mean more centres to compare, longer ones more vectors; a search's work is least where both are alike.
SHORTEST = 64
#: What the extension samples of the vectors for each list when it looks for their centres.
_SAMPLED = 50
#: The share of the memory that an index may be built in which is reckoned with; the rest is for what else is kept.
_RECKONED = 0.9


def size_of(vectors: int) -> int:
    """The size of an index that is built now: the power of two below the number of vectors."""
    return max(1, vectors).bit_length() - 1


def fits(size: int, vectors: int) -> bool:
    """Whether an index of that size serves so many vectors still: half a size more on either side, so that none is
    built time and again at a border."""
    return size - 0.5 <= math.log2(max(1, vectors)) < size + 1.5


def lists_of(size: int, dimension: int, memory: int) -> int:
    """How many lists an index has. `memory` in bytes is what may be used to build it: looking for the centres takes the
    square of their number, and the extension refuses what does not fit."""
    wanted = max(1, (1 << size) // SHORTEST)
    # _SAMPLED * n vectors of two bytes a component, and for each a distance of four bytes to each of n centres.
    a, b, c = 4 * _SAMPLED, 2 * _SAMPLED * dimension, -_RECKONED * memory
    most = int((math.sqrt(b * b - 4 * a * c) - b) / (2 * a))
    return max(1, min(wanted, most))
