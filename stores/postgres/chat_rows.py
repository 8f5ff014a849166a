"""Rows of conversations, messages and attachments as the values of the domain, and the columns they need."""

from psycopg.rows import DictRow

from tributary.domain.attachments import Attachment, FileType
from tributary.domain.conversations import Conversation, Message, MessageStatus, Role

#: Of `message_attachments a`. The conversation is the first that used it.
ATTACHMENT = """
a.id, a.organisation_id, a.filename, a.content_type, a.size, a.sha256, a.storage_key, a.on_s3, a.created_at, (
    SELECT u.conversation_id FROM attachment_uses u
    WHERE u.organisation_id = a.organisation_id AND u.attachment_id = a.id ORDER BY u.conversation_id LIMIT 1
) AS conversation_id
"""
#: Of `conversations`.
CONVERSATION = """
id, organisation_id, bot_id, title, created_at, updated_at, EXISTS (
    SELECT FROM messages m
    WHERE m.organisation_id = conversations.organisation_id AND m.conversation_id = conversations.id
      AND m.status = 'running'
) AS running
"""
MESSAGE = """
id, conversation_id, parent_id, role, content, status, attachments, sources, usage, model, details, created_at
"""


def attachment(row: DictRow) -> Attachment:
    return Attachment(
        id=row["id"],
        organisation_id=row["organisation_id"],
        filename=row["filename"],
        file_type=FileType(row["content_type"]),
        size=row["size"],
        sha256=row["sha256"],
        storage_key=row["storage_key"],
        on_s3=row["on_s3"],
        created_at=row["created_at"],
        conversation_id=row["conversation_id"],
    )


def conversation(row: DictRow) -> Conversation:
    return Conversation(**row)


def message(row: DictRow) -> Message:
    return Message(
        id=row["id"],
        conversation_id=row["conversation_id"],
        parent_id=row["parent_id"],
        role=Role(row["role"]),
        content=row["content"],
        status=MessageStatus(row["status"]),
        created_at=row["created_at"],
        attachments=tuple(row["attachments"]),
        sources=tuple(row["sources"]),
        usage=row["usage"],
        model=row["model"],
        details=row["details"],
    )
