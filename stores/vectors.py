"""What every store asks of vectors before it keeps them or compares with them."""

import numpy as np

from tributary.domain.errors import Conflict, EmbeddingChanged
from tributary.models.protocols import Vectors


def require_vectors(vectors: Vectors, *, count: int, dimension: int) -> None:
    """Vectors of another space, or those that have no direction, would poison every comparison with them: their
    distances are meaningless or NaN, and NaN sorts anywhere.

    Raises:
        Conflict: the shape is not `(count, dimension)`, or a row is not finite or all zero.
    """
    if vectors.shape != (count, dimension):
        raise Conflict(
            f"The knowledge base holds vectors of {dimension} dimensions: expected {count} of them, "
            f"got an array of shape {vectors.shape}"
        )
    require_directions(vectors)


def require_embedding(made_by: str | None, embedding: str | None) -> None:
    """Raises `EmbeddingChanged` when vectors were made by another model than a knowledge base has by now: their
    dimension may well be the same. None is a model or a knowledge base that nothing is known of."""
    if made_by and embedding and made_by != embedding:
        raise EmbeddingChanged(f"The knowledge base was moved from {made_by} to {embedding} meanwhile")


def require_same_space(asked_with: str, embedding: str | None) -> None:
    """Raises `Conflict` when a question was embedded by another model than the knowledge base is: its cosines say
    nothing. None is a knowledge base that is gone."""
    if embedding is not None and asked_with != embedding:
        raise other_space()


def other_space() -> Conflict:
    return Conflict("The question was embedded by another model than the knowledge base")


def require_directions(vectors: Vectors) -> None:
    """Raises `Conflict` when a row is not finite or all zero."""
    if not np.isfinite(vectors).all() or not vectors.any(axis=-1).all():
        raise Conflict("A vector that is zero or not finite can't be compared with others")
