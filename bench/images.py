"""Image search on photos with edits and other views: the local descriptor beside perceptual hashes and colour.

    python -m bench.images --data DIR

`DIR` holds folders with `files/`, `images.jsonl` and `qrels.tsv` (2 an edit of the same photo, 1 the same object or
place); all are searched as one collection. Prints nDCG@10 over the photos that have a match, the share of photos
with edits that have one at rank 1, and images a second on one core.
"""

import argparse
import io
import json
import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from tributary.models.local.image_descriptor import describe_image

Vector = NDArray[np.floating]
Judgements = Mapping[str, Mapping[str, int]]


def load(data: Path) -> tuple[dict[str, bytes], dict[str, dict[str, int]]]:
    """Encoded images by name, and for each query the images that match it."""
    images: dict[str, bytes] = {}
    judgements: dict[str, dict[str, int]] = {}
    for listing in sorted(data.glob("*/images.jsonl")):
        for line in listing.read_text("utf-8").splitlines():
            name = json.loads(line)["file"]
            images[name] = (listing.parent / "files" / name).read_bytes()
        for line in (listing.parent / "qrels.tsv").read_text("utf-8").splitlines()[1:]:
            query, match, relevance = line.split("\t")
            judgements.setdefault(query, {})[match] = int(relevance)
    return images, judgements


def difference_hash(data: bytes) -> Vector:
    """64 bits: whether each of 8 × 8 areas is darker than its right neighbour."""
    grey = np.asarray(Image.open(io.BytesIO(data)).convert("L").resize((9, 8), Image.Resampling.LANCZOS), float)
    return np.where(np.diff(grey, axis=1).ravel() > 0, 1.0, -1.0) / 8


def cosine_hash(data: bytes) -> Vector:
    """63 bits: which of the 8 × 8 lowest frequencies are above their median (pHash)."""
    grey = np.asarray(Image.open(io.BytesIO(data)).convert("L").resize((32, 32), Image.Resampling.LANCZOS), float)
    steps = np.arange(32)
    basis = np.cos(np.pi * (2 * steps + 1) * steps[:8, None] / 64)
    lowest = (basis @ grey @ basis.T).ravel()[1:]
    return np.where(lowest > np.median(lowest), 1.0, -1.0) / math.sqrt(63)


def colour_histogram(data: bytes) -> Vector:
    """128 bins of hue, saturation and value, compared by the Bhattacharyya coefficient."""
    hsv = np.asarray(Image.open(io.BytesIO(data)).convert("HSV").resize((128, 128)), int)
    bins = hsv[..., 0] // 32 * 16 + hsv[..., 1] // 64 * 4 + hsv[..., 2] // 64
    histogram: Vector = np.sqrt(np.bincount(bins.ravel(), minlength=128) / bins.size)
    return histogram


def score(vectors: Vector, names: list[str], judgements: Judgements) -> tuple[float, float]:
    """Mean nDCG@10, and the share of queries with edits that have one of them first."""
    gains: list[float] = []
    firsts: list[bool] = []
    place = {name: at for at, name in enumerate(names)}
    for query, matches in judgements.items():
        cosines = vectors @ vectors[place[query]]
        cosines[place[query]] = -np.inf
        ranked = [matches.get(names[at], 0) for at in np.argsort(-cosines, kind="stable")[:10]]
        best = sorted(matches.values(), reverse=True)[:10]
        gains.append(discounted(ranked) / discounted(best))
        if max(matches.values()) == 2:
            firsts.append(ranked[0] == 2)
    return float(np.mean(gains)), float(np.mean(firsts))


def discounted(relevances: list[int]) -> float:
    return sum((2.0**relevance - 1) / math.log2(rank + 2) for rank, relevance in enumerate(relevances))


def main(data: Path) -> None:
    images, judgements = load(data)
    names = list(images)
    methods: dict[str, Callable[[bytes], Vector]] = {
        "local/image-descriptor": describe_image,
        "colour histogram": colour_histogram,
        "dHash": difference_hash,
        "pHash": cosine_hash,
    }
    print(f"{len(images)} images, {len(judgements)} queries")
    print(f"{'method':24} {'nDCG@10':>8} {'edit first':>11} {'images/s':>9}")
    for label, method in methods.items():
        started = time.process_time()
        vectors = np.array([method(images[name]) for name in names])
        rate = len(names) / (time.process_time() - started)
        ndcg, first = score(vectors, names, judgements)
        print(f"{label:24} {ndcg:8.3f} {first:11.3f} {rate:9.1f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    main(parser.parse_args().data)
