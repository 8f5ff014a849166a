"""Embeddings of pictures that a provider computes, in the space of its texts."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tributary.domain.attachments import FileType
from tributary.models.calibration import Calibration
from tributary.models.protocols import Vectors
from tributary.models.remote_space import Embedded, RemoteSpace

#: A picture as it is sent: its bytes and their media type.
Picture = tuple[bytes, str]
ImageCall = Callable[[list[Picture]], Awaitable[Embedded]]
#: The longer side of what is sent, in pixels: the models scale down what is larger, after it was paid for in bytes.
_SIDE = 1_024


@dataclass(slots=True, kw_only=True)
class RemoteImageEmbedder(RemoteSpace[ImageCall]):
    """A `SharedSpaceEmbedder`. `batch` is the number of pictures that a call takes; `tokens_per_image` is an estimate,
    for where the provider does not count. Pictures go out upright, with one frame, as PNG or JPEG."""

    batch: int
    tokens_per_image: int
    calibration: Calibration
    text_calibration: Calibration

    async def embed_images(self, images: Sequence[bytes]) -> Vectors:
        """As the port says; the calls of one request go out one after the other."""
        if not images:
            return np.empty((0, self.dimension), dtype=np.float32)
        prepared = [await asyncio.to_thread(_prepared, image) for image in images]
        rows = [await self._embed(prepared[start : start + self.batch]) for start in range(0, len(images), self.batch)]
        return np.concatenate(rows)

    async def _embed(self, pictures: list[Picture]) -> Vectors:
        tokens = self.tokens_per_image * len(pictures)
        return await self.vectors(lambda call: call(pictures), count=len(pictures), tokens=tokens)

    def similarity(self, cosine: Vectors) -> Vectors:
        return self.calibration.similarity(cosine)

    def text_similarity(self, cosine: Vectors) -> Vectors:
        return self.text_calibration.similarity(cosine)


def _prepared(data: bytes) -> Picture:
    """Raises `DamagedFile` where it can't be decoded."""
    from tributary.files.images import prepare_image, thumbnail

    plain = prepare_image(data)
    if plain.file_type is FileType.WEBP or max(plain.width, plain.height) > _SIDE:
        return thumbnail(plain.data, _SIDE), FileType.JPEG.value
    return plain.data, plain.file_type.value
