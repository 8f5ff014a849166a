"""Vectors of the stub provider: hashed words, so that texts which share words are near each other."""

import base64
import hashlib
import io
import re
import struct

import numpy as np
from PIL import Image

#: What `gemini-embedding-2` expects before a text; it says what the text is for and is not part of it.
_TASK = re.compile(r"^(task: [^|]*\| query: |title: [^|]*\| text: )")

_COLOURS = {"red": (255, 0, 0), "green": (0, 255, 0), "blue": (0, 0, 255), "white": (255, 255, 255)}


def embed(text: str, dimension: int) -> list[float]:
    """A unit vector of the words in `text`; a text without words points along the first axis."""
    vector = np.zeros(dimension)
    for word in re.findall(r"\w+", _TASK.sub("", text).lower()):
        digest = hashlib.sha256(word.encode()).digest()
        vector[int.from_bytes(digest[:4], "big") % dimension] += 1.0
    if not vector.any():
        vector[0] = 1.0
    unit: list[float] = (vector / np.linalg.norm(vector)).tolist()
    return unit


def embed_picture(data: bytes, dimension: int) -> list[float]:
    """A unit vector near that of the picture's colour in words, and a little its own."""
    with Image.open(io.BytesIO(data)) as picture:
        mean = np.asarray(picture.convert("RGB"), dtype=float).reshape(-1, 3).mean(axis=0)
    name = min(_COLOURS, key=lambda name: float(np.linalg.norm(mean - np.array(_COLOURS[name]))))
    own = embed(hashlib.sha256(data).hexdigest(), dimension)
    vector = np.array(embed(name, dimension)) + 0.3 * np.array(own)
    unit: list[float] = (vector / np.linalg.norm(vector)).tolist()
    return unit


def as_base64(values: list[float]) -> str:
    """`encoding_format: base64`: little-endian float32."""
    return base64.b64encode(struct.pack(f"<{len(values)}f", *values)).decode()
