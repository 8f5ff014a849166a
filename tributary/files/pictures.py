"""Pictures as models take them, made once and kept for the questions that follow."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable

from tributary.files.images import PreparedImage, prepare_image, shrink_image
from tributary.files.sandbox import Sandbox

#: Bytes of pictures that are kept.
KEPT_BYTES = 64 * 2**20
#: Pictures of which it is kept that they need nothing.
KEPT_VERDICTS = 10_000
TIMEOUT = 20.0


class PreparedPictures:
    """Prepares pictures in the sandbox. What it made of one is kept in memory up to a bound, and so is that one needs
    nothing: a conversation shows the same pictures with every question."""

    def __init__(self, sandbox: Sandbox, *, kept_bytes: int = KEPT_BYTES) -> None:
        self._sandbox = sandbox
        self._kept_bytes = kept_bytes
        self._size = 0
        self._made: OrderedDict[tuple[str, int], PreparedImage] = OrderedDict()
        #: The pictures that are fit as they are, without their bytes.
        self._plain: OrderedDict[str, PreparedImage] = OrderedDict()

    async def prepared(self, key: str, load: Callable[[], Awaitable[bytes]], *, max_bytes: int) -> PreparedImage:
        """The picture that is stored under `key`, which `load` reads where it is not kept: upright, with 8 bits a
        channel, its first frame; made smaller where `max_bytes` is not 0, to at most so many.

        Raises:
            DamagedFile: it can't be decoded, or takes too long.
            FileTooLarge: it has too many pixels.
        """
        made = self._made.get((key, max_bytes))
        if made is not None:
            self._made.move_to_end((key, max_bytes))
            return made
        data = await load()
        plain = self._plain.get(key) if not max_bytes else None
        if plain is not None:
            self._plain.move_to_end(key)
            return PreparedImage(data, plain.file_type, plain.width, plain.height)
        if max_bytes:
            made = await self._sandbox.run(shrink_image, data, max_bytes, timeout=TIMEOUT)
        else:
            made = await self._sandbox.run(prepare_image, data, timeout=TIMEOUT)
        self._keep(key, max_bytes, made, plain=made.data == data)
        return made

    def _keep(self, key: str, max_bytes: int, made: PreparedImage, *, plain: bool) -> None:
        if plain and not max_bytes:
            self._plain[key] = PreparedImage(b"", made.file_type, made.width, made.height)
            if len(self._plain) > KEPT_VERDICTS:
                self._plain.popitem(last=False)
            return
        if (key, max_bytes) not in self._made:
            self._size += len(made.data)
        self._made[key, max_bytes] = made
        while self._size > self._kept_bytes:
            _, dropped = self._made.popitem(last=False)
            self._size -= len(dropped.data)
