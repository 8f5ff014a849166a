"""Whether an MP3 or a WAV holds sound, and how long it is. Samples are not decoded: a walk over frames and chunks
reads every header, and a missing or cut sample is nothing that a listener would notice."""

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tributary.domain.errors import DamagedFile
from tributary.files.mpeg import Frame, chain_at, frame_at, skip_id3

#: One frame is a fortieth of a second: what is left of a file that was cut, not a recording.
MIN_FRAMES = 2
#: How far the walk looks for the next frame where one is missing.
RESYNC_BYTES = 256 * 1024
MAX_CHUNKS = 10_000
_KNOWN_CHUNKS = frozenset({b"fmt ", b"data", b"LIST", b"fact", b"bext", b"JUNK", b"PEAK", b"cue ", b"smpl", b"id3 "})
_TAGS_AT_THE_END = (b"TAG", b"APETAGEX", b"LYRICSBEGIN", b"ID3", b"3DI")


def mp3_seconds(path: Path) -> float:
    """How long an MP3 plays, from its frames alone: headers of variable bit rate may lie. Raises `DamagedFile` where
    no whole frame is found."""
    with path.open("rb") as file:
        start = skip_id3(file)
        file.seek(0, 2)
        if file.tell() == start or file.tell() == 0:
            raise DamagedFile("The MP3 holds a tag and no audio.")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            frames, seconds = _walk_frames(data, start)
    if frames < MIN_FRAMES:
        raise DamagedFile("The MP3 holds no audio.")
    return seconds


def _walk_frames(data: mmap.mmap, offset: int) -> tuple[int, float]:
    """How many frames there are from `offset` on, and how long they play."""
    frames, seconds = 0, 0.0
    end = len(data)
    while offset < end:
        frame = frame_at(data[offset : offset + 4], 0)
        if frame is None or not _followed(data, offset, frame):
            found = _resync(data, offset + 1)
            if found is None:
                break
            offset = found
            continue
        frames += 1
        seconds += frame.samples / frame.rate
        offset += frame.length
    return frames, seconds


def _followed(data: mmap.mmap, offset: int, frame: Frame) -> bool:
    """Whether the frame is whole and a next one, a tag or the end stands behind it: any four bytes can look like a
    header, not two headers a frame apart."""
    behind = offset + frame.length
    if behind >= len(data):
        return behind == len(data)
    following = frame_at(data[behind : behind + 4], 0)
    if following is not None:
        return frame.continues(following)
    rest = data[behind : behind + 11]
    return rest.startswith(_TAGS_AT_THE_END) or not rest.strip(b"\x00") or len(rest) < 4


def _resync(data: mmap.mmap, offset: int) -> int | None:
    limit = min(len(data), offset + RESYNC_BYTES)
    position = data.find(b"\xff", offset, limit)
    while position >= 0:
        if chain_at(data[position : position + 8192], 0, at_least=3):
            return position
        position = data.find(b"\xff", position + 1, limit)
    return None


@dataclass(frozen=True, slots=True)
class _Format:
    channels: int
    rate: int
    bytes_per_second: int
    block: int


def wav_seconds(path: Path) -> float:
    """How long a WAV plays, whatever its codec. Raises `DamagedFile` where the format or every sample is missing."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        audio_format, data_bytes = _walk_chunks(file, size)
    if audio_format is None or min(audio_format.channels, audio_format.rate, audio_format.block) == 0:
        raise DamagedFile("The WAV has no valid format header.")
    if data_bytes < audio_format.block:
        raise DamagedFile("The WAV holds no audio.")
    return data_bytes / (audio_format.bytes_per_second or audio_format.rate * audio_format.block)


def _walk_chunks(file: IO[bytes], size: int) -> tuple[_Format | None, int]:
    """The format, and how many bytes of samples are there in truth: recorders that died, or that wrote to a pipe,
    left wrong sizes in the headers."""
    audio_format = None
    offset = 12
    for _ in range(MAX_CHUNKS):
        file.seek(offset)
        header = file.read(8)
        if len(header) < 8:
            break
        name, length = header[:4], struct.unpack("<I", header[4:])[0]
        if name == b"fmt " and length >= 14:
            audio_format = _format(file.read(16))
        elif name == b"data" and length and audio_format is not None:
            return audio_format, min(length, size - offset - 8)
        offset = _next_chunk(file, offset + 8 + length)
    return audio_format, 0


def _next_chunk(file: IO[bytes], offset: int) -> int:
    """Chunks begin at even offsets, but for writers that forget it, or that pad once too often."""
    even = offset + offset % 2
    for candidate in (even, offset, even + 1, even + 2):
        file.seek(candidate)
        if file.read(4) in _KNOWN_CHUNKS:
            return candidate
    return even


def _format(fields: bytes) -> _Format | None:
    if len(fields) < 14:
        return None
    channels, rate, bytes_per_second, block = struct.unpack("<HIIH", fields[2:14])
    return _Format(channels=channels, rate=rate, bytes_per_second=bytes_per_second, block=block)
