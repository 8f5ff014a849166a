"""Loading what files hold, in the form in which a model call needs it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from nodes.chat.delivery import MISSING, UNREADABLE
from nodes.chat.state import Delivery
from stores.protocols.blobs import BlobStore
from tributary.domain.attachments import Modality
from tributary.domain.errors import DamagedFile, FileTooLarge, NotFound
from tributary.files.images import PreparedImage
from tributary.files.text import decode_text

#: Decoded text, a picture as models take it, the bytes of a PDF or of audio.
Content = str | bytes | PreparedImage


class Pictures(Protocol):
    """Pictures as models take them."""

    async def prepared(self, key: str, load: Callable[[], Awaitable[bytes]], *, max_bytes: int) -> PreparedImage:
        """The picture that is stored under `key`, which `load` reads where it isn't known yet: upright, with 8 bits a
        channel, its first frame. With `max_bytes` other than 0 it is made smaller until it has at most so many.

        Raises:
            DamagedFile, FileTooLarge: it can't be decoded, or has too many pixels.
        """
        ...


@dataclass(frozen=True, slots=True)
class Loaded:
    """What files hold, by id; and why some hold nothing: `missing` or `unreadable`."""

    contents: Mapping[str, Content] = field(default_factory=dict)
    failed: Mapping[str, str] = field(default_factory=dict)

    def judged(self, deliveries: Sequence[Delivery]) -> list[Delivery]:
        """The deliveries, with what could not be loaded."""
        return [
            Delivery(**{**each, "reason": self.failed[each["file"]["id"]]})
            if each["file"]["id"] in self.failed and not each["reason"]
            else each
            for each in deliveries
        ]


async def load_files(deliveries: Sequence[Delivery], *, blobs: BlobStore, pictures: Pictures) -> Loaded:
    """The contents of those files that are to be sent."""
    wanted = [each for each in deliveries if not each["reason"]]
    found = await asyncio.gather(*(_load(each, blobs, pictures) for each in wanted))
    contents: dict[str, Content] = {}
    failed: dict[str, str] = {}
    for each, (content, reason) in zip(wanted, found, strict=True):
        if content is None:
            failed[each["file"]["id"]] = reason
        else:
            contents[each["file"]["id"]] = content
    return Loaded(contents, failed)


async def _load(delivery: Delivery, blobs: BlobStore, pictures: Pictures) -> tuple[Content | None, str]:
    file = delivery["file"]
    read = partial(blobs.get, file["storageKey"])
    try:
        if file["modality"] == Modality.IMAGE:
            return await pictures.prepared(file["storageKey"], read, max_bytes=delivery["shrinkTo"]), ""
        content = await read()
        return (await asyncio.to_thread(decode_text, content) if file["modality"] == Modality.TEXT else content), ""
    except NotFound:
        return None, MISSING
    except (DamagedFile, FileTooLarge):
        return None, UNREADABLE
