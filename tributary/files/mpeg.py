"""MPEG audio: frame headers and where the frames of an MP3 begin. Only layer III is MP3."""

from dataclasses import dataclass
from typing import IO

_BITRATES_MPEG1 = (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320)
_BITRATES_MPEG2 = (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160)
_RATES = {3: (44100, 48000, 32000), 2: (22050, 24000, 16000), 0: (11025, 12000, 8000)}
_LAYER_III = 1
HEADER_BYTES = 4


@dataclass(frozen=True, slots=True)
class Frame:
    """What a frame's header says. `version` is 3 for MPEG-1, 2 for MPEG-2, 0 for MPEG-2.5; `length` in bytes."""

    version: int
    rate: int
    length: int

    @property
    def samples(self) -> int:
        return 1152 if self.version == 3 else 576

    def continues(self, other: "Frame") -> bool:
        """Whether `other` may follow in the same stream: the bit rate may change, version and rate may not."""
        return self.version == other.version and self.rate == other.rate


def frame_at(data: bytes | memoryview, offset: int) -> Frame | None:
    """The layer III frame whose header stands at `offset`; None where there is no valid one. Free-format frames,
    whose length no header gives, count as invalid."""
    header = data[offset : offset + HEADER_BYTES]
    if len(header) < HEADER_BYTES or header[0] != 0xFF or header[1] & 0xE0 != 0xE0:
        return None
    version, layer = header[1] >> 3 & 3, header[1] >> 1 & 3
    bitrate, rate, padding = header[2] >> 4, header[2] >> 2 & 3, header[2] >> 1 & 1
    if version == 1 or layer != _LAYER_III or rate == 3 or bitrate in {0, 15}:
        return None
    frequency = _RATES[version][rate]
    if version == 3:
        return Frame(version, frequency, 144_000 * _BITRATES_MPEG1[bitrate] // frequency + padding)
    return Frame(version, frequency, 72_000 * _BITRATES_MPEG2[bitrate] // frequency + padding)


def chain_at(data: bytes | memoryview, offset: int, *, at_least: int) -> bool:
    """Whether so many frames follow each other from `offset`; the last may be cut by the end of the data."""
    first = frame = frame_at(data, offset)
    for _ in range(at_least - 1):
        if first is None or frame is None or not first.continues(frame):
            return False
        offset += frame.length
        frame = frame_at(data, offset)
    return first is not None and frame is not None and first.continues(frame)


def find_frames(data: bytes, *, at_least: int, start: int = 0) -> int | None:
    """Where the first chain of so many frames begins."""
    position = data.find(b"\xff", start)
    while position >= 0:
        if chain_at(data, position, at_least=at_least):
            return position
        position = data.find(b"\xff", position + 1)
    return None


def skip_id3(file: IO[bytes]) -> int:
    """Where the bytes behind the ID3v2 tags begin; 0 where there is no tag."""
    offset = 0
    while True:
        file.seek(offset)
        header = file.read(10)
        if len(header) < 10 or header[:3] != b"ID3" or max(header[6:10]) > 0x7F:
            return offset
        size = header[6] << 21 | header[7] << 14 | header[8] << 7 | header[9]
        footer = 10 if header[5] & 0x10 else 0
        offset += 10 + size + footer
