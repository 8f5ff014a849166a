"""Chunks by the ids of their documents and their ordinals, in a column of twenty bytes each, as they come and as they
go. A `UUID` and a tuple for each would take longer than all the arithmetic of a search."""

import numpy as np
from numpy.typing import NDArray

#: The halves of the document's id, and the ordinal, as PostgreSQL's `_send` functions write them.
PLACE = np.dtype([("first", ">u8"), ("last", ">u8"), ("ordinal", ">i4")])
Places = NDArray[np.void]

#: The column of some rows' places.
PACKED_PLACES = "string_agg(uuid_send(document_id) || int4send(ordinal), '')"

_ID = 16


def received(sent: bytes | None) -> Places:
    """Of a column of `PACKED_PLACES`; none of no rows."""
    return np.frombuffer(sent or b"", PLACE)


def each_once(*columns: Places) -> Places:
    """In order of their first appearance."""
    together, size = b"".join(column.tobytes() for column in columns), PLACE.itemsize
    return received(b"".join(dict.fromkeys(together[at : at + size] for at in range(0, len(together), size))))


def documents_of(places: Places) -> bytes:
    """The ids of their documents, one behind the other."""
    return np.frombuffer(places.tobytes(), np.uint8).reshape(-1, PLACE.itemsize)[:, :_ID].tobytes()


def ids_as_text(ids: bytes) -> str:
    """Ids of sixteen bytes as the statements take them: PostgreSQL reads them without their dashes."""
    return ids.hex(" ", _ID)


def ordinals_as_text(places: Places) -> str:
    """The ordinals as the statements take them."""
    return " ".join(map(str, places["ordinal"].tolist()))
