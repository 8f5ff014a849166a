"""Image embeddings without a model: a classical descriptor that finds copies, edits and other views of a picture.

It knows no concepts: two dogs are as different to it as a dog and a door. It is made of three parts, of which each
makes up for what another one can't see: local structure (512 values), colour (32), layout (63), and one value for
pictures that have none of these.
"""

import asyncio
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tributary.models.calibration import Calibration
from tributary.models.local.image_blocks import (
    COLOUR,
    LAYOUT,
    STRUCTURE,
    colour_part,
    layout_part,
    structure_part,
)
from tributary.models.local.image_decoding import decode_image
from tributary.models.local.image_keypoints import describe_keypoints
from tributary.models.names import IMAGE_DESCRIPTOR
from tributary.models.protocols import Vectors

#: Of structure, colour and layout. Measured: see docs/ingestion.md.
_WEIGHTS = (0.8, 0.4, 0.4)
#: Cosines of unrelated photos lie around 0.37 (one in a hundred over 0.56), of edits around 0.83 (one in twenty
#: under 0.58).
_CALIBRATION = Calibration(middle=0.60, slope=16.0)
_TOP = float(_CALIBRATION.similarity(np.ones(1, np.float32))[0])


class LocalImageEmbedder:
    """The image embedder that needs neither weights nor a service. Safe to use from any event loop."""

    name = IMAGE_DESCRIPTOR
    dimension = STRUCTURE + COLOUR + LAYOUT + 1

    async def embed_images(self, images: Sequence[bytes]) -> Vectors:
        """One row an encoded image (JPEG, PNG or WebP): shape `(len(images), dimension)`.

        Raises:
            DamagedFile: an image can't be decoded.
        """
        vectors = np.zeros((len(images), self.dimension), np.float32)
        for row, image in enumerate(images):  # a thread a picture: who stops waiting stops after the current one
            vectors[row] = await asyncio.to_thread(describe_image, image)
        return vectors

    def similarity(self, cosine: Vectors) -> Vectors:
        """Cosines as calibrated similarities in [0, 1]: other pictures near 0, the same picture near 1."""
        scaled = _CALIBRATION.similarity(np.clip(cosine, -1, 1)) / np.float32(_TOP)
        bounded: Vectors = np.clip(scaled, 0, 1).astype(np.float32)
        return bounded


def describe_image(data: bytes) -> NDArray[np.float32]:
    """The vector of one encoded image, of unit length: shape `(LocalImageEmbedder.dimension,)`.

    Raises:
        DamagedFile: it can't be decoded.
    """
    rgb = decode_image(data)
    grey = rgb @ np.array([0.299, 0.587, 0.114], np.float32)
    parts = (structure_part(describe_keypoints(grey)), colour_part(rgb), layout_part(grey))
    vector = np.concatenate([*(weight * part for weight, part in zip(_WEIGHTS, parts, strict=True)), [0.0]])
    length = float(np.linalg.norm(vector))
    if length == 0:  # one even grey: alike among themselves, unlike everything else
        vector[-1] = length = 1.0
    return (vector / length).astype(np.float32)
