"""Identifiers. Ids are UUIDv7: they sort by the time of their making, which keeps B-trees compact."""

from uuid import UUID

from uuid_utils.compat import uuid7

from tributary.domain.errors import NotFound


def new_id() -> UUID:
    """A new UUIDv7."""
    return uuid7()


def parse_id(kind: str, value: object) -> UUID:
    """The UUID in `value`.

    Raises:
        NotFound: when it is none. A malformed id can't name anything, so it is as unknown as any other.
    """
    try:
        return value if isinstance(value, UUID) else UUID(str(value))
    except ValueError as error:
        raise NotFound(kind, value) from error


def thread_id(organisation_id: UUID, conversation_id: UUID) -> str:
    """The checkpointer's thread of a conversation. It leads with the organisation, so that no id that a
    caller can send names a thread of somebody else."""
    return f"{organisation_id}:{conversation_id}"
