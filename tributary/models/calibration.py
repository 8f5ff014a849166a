"""From the cosine of a model's vectors to a similarity that means the same for every model."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tributary.models.protocols import Vectors


@dataclass(frozen=True, slots=True)
class Calibration:
    """A logistic curve: 0.5 at the cosine `middle`, and the steeper the larger `slope`. It never ties two cosines
    that differ, so it changes no order."""

    middle: float
    slope: float

    def similarity(self, cosine: Vectors) -> Vectors:
        # In double precision a steep curve's exponential has room for every cosine.
        distance = cosine.astype(np.float64) - self.middle
        result: Vectors = (1.0 / (1.0 + np.exp(-self.slope * distance))).astype(np.float32)
        return result


#: Of models that are not listed: most put unrelated texts below 0.3 and a question's answer above 0.6.
UNKNOWN = Calibration(middle=0.45, slope=12.0)

# From what the providers' users report of unrelated and of matching texts; not measured by us. The shares of a
# hit's score are settings of a bot, so a curve that is a little off moves percentages more than orders.
_KNOWN = {
    "gemini/gemini-embedding-2": Calibration(middle=0.60, slope=16.0),
    "openai/text-embedding-3-small": Calibration(middle=0.33, slope=14.0),
    "openai/text-embedding-3-large": Calibration(middle=0.33, slope=14.0),
    "openai/text-embedding-ada-002": Calibration(middle=0.79, slope=45.0),
}


def calibration_of(name: str, measured: Mapping[str, tuple[float, float]] | None = None) -> Calibration:
    """The curve of a model by its registry name; what the operator has `measured` (middle and slope) wins."""
    own = (measured or {}).get(name)
    return Calibration(*own) if own else _KNOWN.get(name, UNKNOWN)


# Of one space that holds both: two pictures of different things are still both pictures, and lie nearer to each other
# than to any text; a text and the picture that shows it lie farther apart than a question and its answer.
_KNOWN_IMAGES = {
    "gemini/gemini-embedding-2": (Calibration(middle=0.75, slope=18.0), Calibration(middle=0.40, slope=20.0)),
}


def image_calibrations_of(name: str) -> tuple[Calibration, Calibration]:
    """The curves of a model for two pictures, and for a text and a picture."""
    return _KNOWN_IMAGES.get(name, (UNKNOWN, UNKNOWN))
