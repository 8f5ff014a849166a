"""The pictures of a document: the one that it is, or those inside it, each with the chunk that stands beside it."""

import base64
import json
from collections.abc import Awaitable, Callable, Sequence

import numpy as np

from nodes.ingest.products import Bench, Product, vectors_named
from nodes.ingest.state import IngestState
from stores.protocols.blobs import BlobStore
from stores.protocols.knowledge import ImageVectors
from tributary.domain.attachments import FileType, Modality
from tributary.domain.knowledge import ChunkDraft, Picture
from tributary.models.protocols import ImageEmbedder, Vectors

#: Pictures of one call, between which it is asked whether to go on.
BATCH = 8

_IMAGE_TYPES = frozenset(each.value for each in FileType if each.modality is Modality.IMAGE)


def _encode(pictures: Sequence[Picture]) -> bytes:
    rows = [[each.offset, each.page, base64.b64encode(each.data).decode("ascii")] for each in pictures]
    return json.dumps(rows).encode("ascii")


def _decode(data: bytes) -> tuple[Picture, ...]:
    return tuple(Picture(base64.b64decode(encoded), offset, page) for offset, page, encoded in json.loads(data))


def _weigh(pictures: Sequence[Picture]) -> int:
    return sum(len(each.data) for each in pictures)


PICTURES: Product[tuple[Picture, ...]] = Product("pictures-1", _encode, _decode, _weigh)


def is_image(content_type: str) -> bool:
    return content_type in _IMAGE_TYPES


async def embed_pictures(
    bench: Bench, state: IngestState, embedder: ImageEmbedder, blobs: BlobStore, go_on: Callable[[], Awaitable[bool]]
) -> bool:
    """Batch by batch, each staged for itself. False, with the rest undone, where `go_on` says so."""
    if is_image(state["contentType"]):
        if await bench.find(_vectors_of_batch(0)) is None:
            whole = await blobs.get(state["storageKey"])
            await bench.keep(_vectors_of_batch(0), await embedder.embed_images([whole]))
        return True
    pictures = await bench.take(PICTURES)
    for start in range(0, len(pictures), BATCH):
        if await bench.find(_vectors_of_batch(start)) is None:
            data = [each.data for each in pictures[start : start + BATCH]]
            await bench.keep(_vectors_of_batch(start), await embedder.embed_images(data))
        if not await go_on():
            return False
    return True


async def take_image_vectors(
    bench: Bench, state: IngestState, model: str, chunks: Sequence[ChunkDraft]
) -> tuple[ImageVectors, ...]:
    """What was embedded, for the chunks that stand beside the pictures. A document that is a picture is beside its
    first chunk."""
    if is_image(state["contentType"]):
        return (ImageVectors(model=model, ordinals=(0,), vectors=await bench.take(_vectors_of_batch(0))),)
    pictures = await bench.take(PICTURES)
    if not pictures:
        return ()
    batches = [await bench.take(_vectors_of_batch(start)) for start in range(0, len(pictures), BATCH)]
    ordinals = tuple(chunk_beside(chunks, picture) for picture in pictures)
    return (ImageVectors(model=model, ordinals=ordinals, vectors=np.concatenate(batches)),)


def chunk_beside(chunks: Sequence[ChunkDraft], picture: Picture) -> int:
    """The ordinal of the chunk that the picture stands in or, between two, behind: on its page where that has any.
    `chunks` are in order, and there is one at least."""
    on_page = [each for each in chunks if each.page == picture.page] or chunks
    before = [each for each in on_page if each.start <= picture.offset]
    return (before[-1] if before else on_page[0]).ordinal


def _vectors_of_batch(start: int) -> Product[Vectors]:
    return vectors_named(f"image-vectors-{BATCH}-{start}")
