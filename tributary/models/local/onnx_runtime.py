"""Opening ONNX models: on the CPU, with little memory kept, and nothing sent anywhere."""

import ctypes
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tributary.models.protocols import Vectors


class OnnxModel:
    """A loaded model with one output. It may be run from one thread at a time; a run uses `threads` cores."""

    def __init__(self, session: Any) -> None:
        self._session = session

    def run(self, feeds: Mapping[str, NDArray[Any]]) -> Vectors:
        """The model's output for these inputs, by their names."""
        (output,) = self._session.run(None, dict(feeds))
        return np.asarray(output, dtype=np.float32)


def open_model(path: Path, *, threads: int | None, fuse: bool) -> OnnxModel:
    """Loads a model: half a second of CPU. `threads`: cores for one run, by default all. `fuse`: whether the runtime
    should look for operators to join; a graph that is built with joined ones wants none of it."""
    # The runtime reads it when it is imported, and would otherwise prepare to report its use.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads or os.cpu_count() or 1
    # An arena would keep the largest batch's memory for ever: 60 MB, for no speed that could be measured.
    options.enable_cpu_mem_arena = False
    # Threads that spin between operators take the cores that the server's other work needs.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    level = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = level.ORT_ENABLE_ALL if fuse else level.ORT_ENABLE_BASIC
    session = onnxruntime.InferenceSession(os.fspath(path), options, providers=["CPUExecutionProvider"])
    return_free_memory()
    return OnnxModel(session)


def return_free_memory() -> None:
    """Gives back what this process has used and freed, where the C library can be asked to. Takes milliseconds."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
    if trim is not None:
        trim(0)
