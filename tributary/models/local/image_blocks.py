"""The parts of an image's vector: local structure, colour, layout. Each has at most unit length."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from tributary.models.local.image_decoding import Pixels
from tributary.models.local.image_keypoints import DESCRIPTOR, MIRROR, Floats

STRUCTURE = 512
_HUES = 16
COLOUR = 2 * _HUES
_FREQUENCIES = 8
LAYOUT = _FREQUENCIES**2 - 1

#: How fast the similarity of two descriptors falls with their angle: exp(-SHARPNESS * (1 - cosine)).
_SHARPNESS = 6.0
_SEED = 1
#: The usual descriptor, in thousandths, of pictures of overlapping shapes (leaves of random size, grey and angle).
#: Half of it: mirrored, it is the other half.
_USUAL_HALF = (
    (52, 42, 32, 36, 43, 52, 56, 55),
    (104, 86, 54, 43, 44, 53, 65, 91),
    (102, 93, 72, 57, 45, 42, 48, 80),
    (52, 58, 59, 55, 45, 36, 31, 40),
    (72, 60, 46, 52, 60, 65, 62, 67),
    (151, 134, 85, 69, 67, 77, 87, 132),
    (145, 133, 95, 85, 73, 71, 81, 124),
    (69, 69, 67, 72, 67, 57, 48, 58),
)
_VIVID = 0.5
#: Pictures with less colour than this have a shorter colour part; grey ones have none.
_COLOURFUL = 0.15
_LAYOUT_SIDE = 32


def _usual_descriptor() -> Floats:
    half = np.array(_USUAL_HALF, np.float32).ravel() / 1000
    whole = np.concatenate([half, np.zeros_like(half)])
    whole[len(half) :] = whole[MIRROR][len(half) :]
    return whole


def _projection() -> tuple[Floats, Floats, Floats]:
    """Random cosines whose products approximate the similarity above: directions, phases, and their means over all
    descriptors. `RandomState` never changes its numbers, so vectors stay comparable over versions of numpy."""
    random = np.random.RandomState(_SEED)
    directions = random.normal(size=(DESCRIPTOR, STRUCTURE)) * np.sqrt(_SHARPNESS)
    phases = random.uniform(0, 2 * np.pi, STRUCTURE)
    means = np.cos(phases) * np.exp(-(directions**2).sum(axis=0) / DESCRIPTOR / 2)
    return directions.astype(np.float32), phases.astype(np.float32), means.astype(np.float32)


def _cosine_basis() -> Floats:
    steps = np.arange(_LAYOUT_SIDE)
    basis = np.cos(np.pi * (2 * steps + 1) * np.arange(_FREQUENCIES)[:, None] / (2 * _LAYOUT_SIDE))
    return basis.astype(np.float32)


_USUAL = _usual_descriptor()
_DIRECTIONS, _PHASES, _MEANS = _projection()
_BASIS = _cosine_basis()


def structure_part(descriptors: Floats) -> Floats:
    """What the keypoints look like, whatever their places: two parts' product is near the share of keypoints that
    have a match in the other picture. All zero without keypoints."""
    if not len(descriptors):
        return np.zeros(STRUCTURE, np.float32)
    both = np.concatenate([descriptors, descriptors[:, MIRROR]]) - _USUAL
    both /= np.linalg.norm(both, axis=1, keepdims=True) + np.float32(1e-9)
    # One that repeats (tiles, text) counts once together with its likes, else a pattern would drown all the rest.
    weights = 1 / np.exp(np.float32(_SHARPNESS) * (both @ both.T - 1)).sum(axis=1)
    total = weights @ (np.cos(both @ _DIRECTIONS + _PHASES) - _MEANS)
    return _unit(np.sign(total) * np.sqrt(np.abs(total)))


def colour_part(rgb: Pixels) -> Floats:
    """How much of which hue there is, pale and vivid apart. Shorter than a unit, down to zero, where colour is rare:
    a grey copy is then compared by its structure alone."""
    luma = rgb @ np.array([0.299, 0.587, 0.114], np.float32)
    blue, red = rgb[..., 2] - luma, rgb[..., 0] - luma
    saturation = np.minimum(np.hypot(blue, red) / (luma + np.float32(0.15)), np.float32(1.5)).ravel()
    hue = ((np.arctan2(red, blue) + np.pi) / (2 * np.pi) * _HUES).ravel()
    lower = np.floor(hue).astype(np.int64)
    upper_share = hue - lower
    offset = np.where(saturation > _VIVID, _HUES, 0)
    histogram = np.zeros(COLOUR)
    for bins, share in ((lower, 1 - upper_share), (lower + 1, upper_share)):
        histogram += np.bincount(bins % _HUES + offset, share * saturation, COLOUR)
    part = np.sqrt(histogram / saturation.size)
    scaled: Floats = (part / max(float(np.linalg.norm(part)), _COLOURFUL)).astype(np.float32)
    return scaled


def layout_part(grey: Pixels) -> Floats:
    """How light and dark are spread over the whole picture: sizes of its lowest frequencies, which mirroring leaves
    alone and a quarter turn swaps in pairs. All zero for a flat picture."""
    small = Image.fromarray(grey).resize((_LAYOUT_SIDE, _LAYOUT_SIDE), Image.Resampling.BOX)
    level = np.asarray(small, np.float32)
    sizes = np.abs(_BASIS @ (level - level.mean()) @ _BASIS.T)
    steps = np.arange(_FREQUENCIES)
    sizes *= np.hypot(steps[:, None], steps)  # natural pictures fall off with frequency: even that out
    paired = np.where(steps[:, None] >= steps, np.maximum(sizes, sizes.T), np.minimum(sizes, sizes.T))
    part = np.sqrt(paired.ravel()[1:])
    return _unit(part - part.mean()) if part.max() > 1e-3 else np.zeros(LAYOUT, np.float32)


def _unit(vector: NDArray[np.floating]) -> Floats:
    length = float(np.linalg.norm(vector))
    return (vector / length if length > 0 else vector).astype(np.float32)
