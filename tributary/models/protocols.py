"""The ports of models that embed. Chat models are LangChain's `BaseChatModel`; they need no port of ours."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class TextEmbedder(Protocol):
    """Texts to vectors of one space.

    Every vector that comes back has unit length and only finite values. Errors: `ProviderError`,
    `ProviderTimeout` (see the domain's tree); a count or dimension that is not what was asked for is a
    `ProviderError`, never a silent mixture.
    """

    #: The registry name, as a knowledge base remembers it, e.g. `local/multilingual-e5-small`.
    name: str
    dimension: int
    #: What one text may hold, in this model's tokens, special tokens and prefixes not counted.
    max_tokens: int

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """One row a text, in order: shape `(len(texts), dimension)`. A text over the window is cut."""
        ...

    async def embed_query(self, text: str) -> Vectors:
        """The vector of a question: shape `(dimension,)`. It goes ahead of documents that wait."""
        ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, as `max_tokens` counts them. Plain CPU work, safe from any thread."""
        ...

    def similarity(self, cosine: Vectors) -> Vectors:
        """Cosines of this model as calibrated similarities in [0, 1]: unrelated texts near 0, answers near 1.
        Monotone, element by element."""
        ...


class ImageEmbedder(Protocol):
    """Images to vectors of one space; the same promises as `TextEmbedder`."""

    name: str
    dimension: int

    async def embed_images(self, images: Sequence[bytes]) -> Vectors:
        """One row an encoded image (JPEG, PNG or WebP): shape `(len(images), dimension)`.

        Raises:
            DamagedFile: an image can't be decoded.
        """
        ...

    def similarity(self, cosine: Vectors) -> Vectors:
        """Cosines as calibrated similarities in [0, 1]: other pictures near 0, the same picture near 1."""
        ...


class SharedSpaceEmbedder(ImageEmbedder, Protocol):
    """Images to vectors of the space that a text embedder of the same name puts texts into."""

    def text_similarity(self, cosine: Vectors) -> Vectors:
        """Cosines of a question and pictures as calibrated similarities in [0, 1]. Pictures lie farther from texts than
        texts from each other, so this is another curve than that of texts."""
        ...


class ImageSpaces(Protocol):
    """Which embedder sees the pictures of a knowledge base: it follows from the embedding of its texts, by name."""

    def image_embedder(self, embedding: str) -> ImageEmbedder: ...

    def shared_embedder(self, embedding: str) -> SharedSpaceEmbedder | None:
        """The same where questions can be compared with pictures, else None."""
        ...
