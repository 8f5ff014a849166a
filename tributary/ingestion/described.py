"""Documents with captions of their pictures: a parser beside a chat model that sees."""

import asyncio
import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from typing import NamedTuple

from nodes.ingest.parse import DocumentParser
from nodes.ingest.pictures import is_image
from stores.protocols.blobs import BlobStore
from stores.protocols.extractions import ExtractionCache
from tributary.domain.errors import TributaryError
from tributary.domain.knowledge import Document, ParsedDocument
from tributary.files.images import thumbnail
from tributary.files.sandbox import Sandbox
from tributary.ingestion.calls import as_they_come
from tributary.ingestion.model_captions import PICTURES, VERSION, CaptionModel
from tributary.ingestion.patience import Patience
from tributary.text.captions import captioned, whole_captioned

logger = logging.getLogger(__name__)

#: Pictures of a document that are described, the first; the rest are found by their likeness alone.
MOST = 32
#: Calls at a time, of all documents together.
CALLS = 2
#: Seconds that the captions of a document may take; what is not described by then stays without.
SECONDS = 180.0
#: Pixels of either side of a document that is a picture, as the model sees it; and seconds for making it so.
SIDE = 1_536
_SHRINK_SECONDS = 20.0


class _Shown(NamedTuple):
    """A picture by what its caption is kept under. Without `data` it is the document's file."""

    number: int
    key: bytes
    data: bytes | None


class DescribingParser:
    """`DocumentParser` that puts captions of the pictures into the text that `parser` reads, by the chat model `name`
    where it takes images.

    Captions are kept at once, by document and picture: a run that was cut off goes on where it ended, and the same
    picture is not paid for twice. What may pass (an overload, a timeout) is raised, for the queue to wait; at the
    fourth time, and where the model refuses or answers nonsense, the picture stays without, and the log says why.
    Without `model` only captions that are kept are put in, so that a document is read once more as it was.
    """

    def __init__(
        self,
        parser: DocumentParser,
        *,
        name: str,
        model: CaptionModel | None,
        cache: ExtractionCache,
        blobs: BlobStore,
        sandbox: Sandbox,
    ) -> None:
        self._parser = parser
        self._name = name
        self._model = model
        self._cache = cache
        self._blobs = blobs
        self._sandbox = sandbox
        self._calls = asyncio.Semaphore(CALLS)
        self._patience = Patience()

    async def parse(self, document: Document) -> ParsedDocument:
        parsed = await self._parser.parse(document)
        whole = is_image(document.content_type)
        shown = [self._whole(document)] if whole else self._inside(parsed)
        if not shown:
            return parsed
        known = await self._captions(document, parsed.title, shown)
        captions = {each.number: known[each.key] for each in shown if each.key in known}
        return whole_captioned(parsed, captions.get(0, "")) if whole else captioned(parsed, captions)

    def _whole(self, document: Document) -> _Shown:
        return _Shown(0, self._key(document.sha256), None)

    def _inside(self, parsed: ParsedDocument) -> list[_Shown]:
        return [
            _Shown(number, self._key(hashlib.sha256(each.data).hexdigest()), each.data)
            for number, each in enumerate(parsed.pictures[:MOST])
        ]

    def _key(self, sha256: str) -> bytes:
        made_of = json.dumps([VERSION, self._name, sha256])
        return hashlib.blake2b(made_of.encode(), digest_size=16).digest()

    async def _captions(self, document: Document, title: str, shown: Sequence[_Shown]) -> Mapping[bytes, str]:
        """By key, those that are kept already or can be had."""
        owner = document.organisation_id, document.id
        keys = {each.key for each in shown}
        known = dict(await self._cache.find(*owner, keys))
        if self._model is None:
            return known
        missing = [each for each in shown if each.key not in known]
        if missing and await self._model.sees():
            logger.info("document %s: %s", document.id, self._model.announcement(len(missing), len(shown)))
            batches = [missing[first : first + PICTURES] for first in range(0, len(missing), PICTURES)]
            calls = (self._ask(self._model, document, title, batch) for batch in batches)
            try:
                async with asyncio.timeout(SECONDS), aclosing(as_they_come(calls)) as answers:
                    async for made in answers:
                        await self._cache.keep(*owner, made)
                        known |= made
            except TimeoutError:
                logger.warning("%s took too long over the pictures of document %s", self._name, document.id)
        await self._cache.retain(*owner, keys)
        return known

    async def _ask(
        self, model: CaptionModel, document: Document, title: str, batch: Sequence[_Shown]
    ) -> dict[bytes, str]:
        """By key. Pictures that an answer leaves out are asked for alone."""
        made: dict[bytes, str] = {}
        try:
            pictures = [await self._bytes(document, each) for each in batch]
            async with self._calls:
                told = await model.captions(pictures, title=title, filename=document.filename)
            made = {batch[place].key: caption for place, caption in told.items()}
            self._patience.restore(document.id)
        except TributaryError as error:
            if error.transient and self._patience.left(document.id):
                raise
            logger.warning("%s could not describe %d pictures: %s", self._name, len(batch), error.code)
            if error.transient:
                return {}
        if len(batch) > 1:
            for each in batch:
                if each.key not in made:
                    made |= await self._ask(model, document, title, [each])
        elif not made:
            logger.warning("%s said nothing usable of a picture of document %s", self._name, document.id)
        return made

    async def _bytes(self, document: Document, shown: _Shown) -> bytes:
        """The picture as a JPEG that the model takes."""
        if shown.data is not None:
            return shown.data
        data = await self._blobs.get(document.storage_key)
        return await self._sandbox.run(thumbnail, data, SIDE, timeout=_SHRINK_SECONDS)
