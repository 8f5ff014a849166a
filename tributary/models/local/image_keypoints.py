"""Keypoints of a picture and what its grey values look like around each, whichever way it is turned.

Blobs and corners are found by the Hessian's determinant at several scales. Each is described by how its gradients are
oriented in a grid of cells around it, measured from the strongest orientation there: turning the picture turns the
measure along, and a mirrored picture gives descriptors that `MIRROR` permutes into the plain ones.
"""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from tributary.models.local.image_decoding import Pixels

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]

#: Keypoints of a picture, at most.
KEYPOINTS = 300
_SCALES = 4
_SCALE_STEP = 2**-0.5
_CELLS = 4
_ORIENTATIONS = 8
#: Length of a keypoint's descriptor.
DESCRIPTOR = _CELLS * _CELLS * _ORIENTATIONS
_PATCH = 16
#: Finer bins, in which the strongest orientation of a patch is found.
_FINE = 36
_MARGIN = 6
_FLAT = 1e-6
#: No orientation of one cell may dominate a descriptor, as a glint or a letter's edge would.
_CAP = np.float32(0.2)


def _patch_grid() -> tuple[Floats, Floats, Floats]:
    steps = (np.arange(_PATCH) - (_PATCH - 1) / 2).astype(np.float32)
    y, x = (axis.ravel() for axis in np.meshgrid(steps, steps, indexing="ij"))
    weight = np.exp(-(x**2 + y**2) / (2 * (0.375 * _PATCH) ** 2)).astype(np.float32)
    return y, x, weight


def _cell_shares() -> Floats:
    """How much of each sample of a patch counts for each cell: shape `(samples, cells)`."""
    centre = np.clip((np.arange(_PATCH) + 0.5) * _CELLS / _PATCH - 0.5, 0, _CELLS - 1)
    line = np.maximum(0, 1 - np.abs(centre[:, None] - np.arange(_CELLS)))
    shares: Floats = np.einsum("ac,bd->abcd", line, line).reshape(_PATCH**2, _CELLS**2).astype(np.float32)
    return shares


def _mirror() -> Integers:
    places = np.arange(DESCRIPTOR).reshape(_CELLS, _CELLS, _ORIENTATIONS)
    mirrored: Integers = places[::-1][:, :, -np.arange(_ORIENTATIONS) % _ORIENTATIONS].ravel()
    return mirrored


MIRROR = _mirror()
_Y, _X, _WEIGHT = _patch_grid()
_SHARES = _cell_shares()
_ANGLES = np.arange(_ORIENTATIONS) * 2 * np.pi / _ORIENTATIONS
_BLUR = np.exp(-(np.arange(-3, 4) ** 2) / 2).astype(np.float32)
_BLUR /= _BLUR.sum()


def describe_keypoints(grey: Pixels) -> Floats:
    """Descriptors of the keypoints of a grey picture, none of them negative, each of unit length: shape
    `(keypoints, DESCRIPTOR)`. A flat picture has no keypoints."""
    shares = np.array([_SCALE_STEP ** (2 * scale) for scale in range(_SCALES)])
    image = Image.fromarray(grey)
    found = [np.zeros((0, DESCRIPTOR), np.float32)]
    for scale, share in enumerate(shares / shares.sum()):
        height, width = (round(side * _SCALE_STEP**scale) for side in grey.shape)
        if min(height, width) < 2 * _MARGIN + 4:
            break
        level = image.resize((width, height), Image.Resampling.BILINEAR) if scale else image
        smooth = _blurred(np.asarray(level, np.float32))
        dy, dx = _gradients(smooth)
        y, x = _strongest(dx, dy, int(KEYPOINTS * share) + 1)
        if len(y):
            found.append(_describe(dx, dy, y, x))
    return np.concatenate(found)


def _blurred(grey: Floats) -> Floats:
    reach = len(_BLUR) // 2
    for _ in range(2):  # along the columns, then, transposed, along the rows
        padded = np.pad(grey, ((reach, reach), (0, 0)), mode="edge")
        smooth = np.zeros_like(grey)
        for at, weight in enumerate(_BLUR):
            smooth += weight * padded[at : at + len(grey)]
        grey = smooth.T
    return grey


def _gradients(values: Floats) -> tuple[Floats, Floats]:
    """Down and across."""
    down, across = np.gradient(values)
    return np.asarray(down, np.float32), np.asarray(across, np.float32)


def _strongest(dx: Floats, dy: Floats, count: int) -> tuple[Integers, Integers]:
    """Rows and columns of the local maxima of the Hessian's determinant, the strongest `count`."""
    dyy, _ = _gradients(dy)
    dxy, dxx = _gradients(dx)
    strength = dxx * dyy - np.float32(0.9) * dxy * dxy
    around = np.maximum(np.maximum(strength[:-2], strength[1:-1]), strength[2:])
    around = np.maximum(np.maximum(around[:, :-2], around[:, 1:-1]), around[:, 2:])
    inner = (slice(_MARGIN - 1, 1 - _MARGIN), slice(_MARGIN - 1, 1 - _MARGIN))
    centre = strength[1:-1, 1:-1][inner]
    y, x = np.nonzero((centre >= around[inner]) & (centre > _FLAT))
    if len(y) > count:
        best = np.argsort(-centre[y, x], kind="stable")[:count]
        y, x = y[best], x[best]
    return y + _MARGIN, x + _MARGIN


def _describe(dx: Floats, dy: Floats, y: Integers, x: Integers) -> Floats:
    turn = _main_orientation(*_sample(dx, dy, y[:, None] + _Y, x[:, None] + _X))
    cosine, sine = (part.astype(np.float32)[:, None] for part in (np.cos(turn), np.sin(turn)))
    gx, gy = _sample(dx, dy, y[:, None] + sine * _X + cosine * _Y, x[:, None] + cosine * _X - sine * _Y)
    along, across = cosine * gx + sine * gy, cosine * gy - sine * gx
    weight = _WEIGHT / (np.sqrt(along**2 + across**2) + np.float32(1e-6))
    cells = np.empty((len(y), _CELLS**2, _ORIENTATIONS), np.float32)
    for number, angle in enumerate(_ANGLES):
        # A cubed cosine: each gradient counts for the two or three orientations next to its own.
        near = np.maximum(along * np.float32(np.cos(angle)) + across * np.float32(np.sin(angle)), 0)
        cells[:, :, number] = (near * near * near * weight) @ _SHARES
    descriptors = cells.reshape(len(y), DESCRIPTOR)
    descriptors /= np.linalg.norm(descriptors, axis=1, keepdims=True) + np.float32(1e-6)
    descriptors = np.minimum(descriptors, _CAP)
    # The root of shares compares histograms better than their values: it tempers the large ones.
    rooted: Floats = np.sqrt(descriptors / (descriptors.sum(axis=1, keepdims=True) + np.float32(1e-6)))
    return rooted


def _sample(dx: Floats, dy: Floats, y: NDArray[np.floating], x: NDArray[np.floating]) -> tuple[Floats, Floats]:
    """The gradients at the nearest pixels; beyond the border those of the border."""
    height, width = dx.shape
    rows = np.clip(np.rint(y), 0, height - 1).astype(np.int32)
    places = rows * width + np.clip(np.rint(x), 0, width - 1).astype(np.int32)
    return dx.ravel()[places], dy.ravel()[places]


def _main_orientation(gx: Floats, gy: Floats) -> NDArray[np.float64]:
    """The strongest orientation of each patch in radians, between bins by a parabola through three of them."""
    count = len(gx)
    strength = np.sqrt(gx * gx + gy * gy) * _WEIGHT
    bins = ((np.arctan2(gy, gx) + np.float32(np.pi)) * np.float32(_FINE / 2 / np.pi)).astype(np.int64) % _FINE
    bins += np.arange(count)[:, None] * _FINE
    counted = np.bincount(bins.ravel(), strength.ravel(), count * _FINE)
    histogram: NDArray[np.float64] = counted.astype(np.float64).reshape(count, _FINE)
    for _ in range(3):
        histogram = (np.roll(histogram, 1, 1) + histogram + np.roll(histogram, -1, 1)) / 3
    peak = histogram.argmax(axis=1)
    left, top, right = (histogram[np.arange(count), (peak + step) % _FINE] for step in (-1, 0, 1))
    offset = 0.5 * (left - right) / (left - 2 * top + right - 1e-9)
    orientation: NDArray[np.float64] = (peak + 0.5 + offset) * (2 * np.pi / _FINE) - np.pi
    return orientation
