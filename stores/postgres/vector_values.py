"""Vectors as values of PostgreSQL's `halfvec`."""

from pgvector.psycopg import HalfVector

from tributary.models.protocols import Vectors


def half_vector(vector: Vectors) -> HalfVector:
    """The parameter for one vector, shape `(dimension,)`."""
    return HalfVector(vector)
