"""Small files of every kind, made by the tests themselves."""

import importlib
import io
import struct
import wave
import zlib
from typing import Any

from PIL import Image

#: Reportlab carries no types.
pdfencrypt: Any = importlib.import_module("reportlab.lib.pdfencrypt")
canvases: Any = importlib.import_module("reportlab.pdfgen.canvas")

ORIENTATION = 0x0112
MPEG1_HEADER = b"\xff\xfb\x90\x64"
MPEG1_FRAME_BYTES = 417


def picture(mode: str = "RGB", size: tuple[int, int] = (40, 30)) -> Image.Image:
    """A picture whose quarters differ, so that turning it shows."""
    image = Image.new("RGB", size, "white")
    width, height = size
    image.paste("red", (0, 0, width // 2, height // 2))
    image.paste("blue", (width // 2, 0, width, height // 2))
    return image.convert(mode)


def encoded(image: Image.Image, format_name: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, format_name, **options)
    return buffer.getvalue()


def jpeg(mode: str = "RGB", size: tuple[int, int] = (40, 30), orientation: int | None = None) -> bytes:
    if orientation is None:
        return encoded(picture(mode, size), "JPEG", quality=95)
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    return encoded(picture(mode, size), "JPEG", quality=95, exif=exif)


def png(mode: str = "RGB", size: tuple[int, int] = (40, 30)) -> bytes:
    return encoded(picture(mode, size), "PNG")


def webp(size: tuple[int, int] = (40, 30), frames: int = 1) -> bytes:
    first = picture("RGB", size)
    if frames == 1:
        return encoded(first, "WEBP")
    others = [Image.new("RGB", size, (40 * number, 200, 0)) for number in range(1, frames)]
    return encoded(first, "WEBP", save_all=True, append_images=others, duration=50)


def png_that_claims(width: int, height: int) -> bytes:
    """A tiny PNG whose header promises a huge picture."""
    small = png("L", (1, 1))
    header = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunk = struct.pack(">I", 13) + header + struct.pack(">I", zlib.crc32(header))
    return small[:8] + chunk + small[33:]


def pdf(pages: int = 1, header: bytes = b"%PDF-1.7\n") -> bytes:
    """A PDF of so many empty pages, with a right cross-reference table."""
    kids = " ".join(f"{number + 3} 0 R" for number in range(pages))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {pages} >>",
        *("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] >>" for _ in range(pages)),
    ]
    body = bytearray(header)
    offsets = []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{content}\nendobj\n".encode()
    start = len(body)
    body += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    body += b"".join(f"{offset:010} 00000 n \n".encode() for offset in offsets)
    body += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n".encode()
    return bytes(body)


def pdf_with_passwords(user: str, owner: str) -> bytes:
    buffer = io.BytesIO()
    protection = pdfencrypt.StandardEncryption(user, owner, strength=128)
    canvas = canvases.Canvas(buffer, encrypt=protection)
    canvas.drawString(72, 720, "Kept under a password.")
    canvas.save()
    return buffer.getvalue()


def wav(seconds: float = 0.1, rate: int = 8000) -> bytes:
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(rate)
        sound.writeframes(b"\x00\x10" * int(seconds * rate))
    return buffer.getvalue()


def mp3(frames: int = 4) -> bytes:
    """Silent MPEG-1 layer III frames of 128 kbit/s at 44.1 kHz: 26 ms each."""
    return (MPEG1_HEADER + bytes(MPEG1_FRAME_BYTES - len(MPEG1_HEADER))) * frames


def id3(size: int = 100) -> bytes:
    """An ID3v2.4 tag with `size` bytes of padding."""
    length = bytes((size >> shift) & 0x7F for shift in (21, 14, 7, 0))
    return b"ID3\x04\x00\x00" + length + bytes(size)
