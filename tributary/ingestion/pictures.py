"""The pictures of documents that are ingested already."""

from collections.abc import Sequence
from uuid import UUID

from nodes.ingest.parse import DocumentParser
from nodes.ingest.pictures import chunk_beside, is_image
from stores.protocols.blobs import BlobStore
from stores.protocols.reindexing import StoredChunk
from tributary.domain.knowledge import ChunkDraft, Document


class StoredPictures:
    """`DocumentPictures`: a document that is a picture is its file, all others are read again."""

    def __init__(self, *, blobs: BlobStore, parser: DocumentParser) -> None:
        self._blobs = blobs
        self._parser = parser

    async def pictures_of(self, document: Document, chunks: Sequence[StoredChunk]) -> Sequence[tuple[UUID, bytes]]:
        if is_image(document.content_type):
            return [(chunks[0].id, await self._blobs.get(document.storage_key))]
        parsed = await self._parser.parse(document)
        ids = {chunk.ordinal: chunk.id for chunk in chunks}
        drafts = [ChunkDraft(each.ordinal, each.text, each.start, each.end, each.page) for each in chunks]
        return [(ids[chunk_beside(drafts, picture)], picture.data) for picture in parsed.pictures]
