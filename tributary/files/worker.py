"""The child's side of the sandbox: a loop that reads a task, runs it under limits and writes its answer.

It runs as a script in an isolated interpreter and imports nothing but the standard library itself; a task brings
what it needs. Frames are an 8-byte big-endian length and a pickle. Requests are `(function, args, seconds)`, answers
`(outcome, value, retire)`: with `retire` the worker ends by itself and takes no further task.
"""

import os
import pickle
import signal
import struct
import sys
import traceback
from typing import IO, Any, NoReturn

LENGTH = struct.Struct(">Q")
#: A worker that once needed this much keeps a fragmented heap: a fresh one is cheaper.
RETIRE_ABOVE_BYTES = 256 * 2**20
#: Address space beyond the data limit: the interpreter, its libraries and mapped files.
MAPPED_ALLOWANCE_BYTES = 2**30

Answer = tuple[str, Any, bool]


def read_frame(stream: IO[bytes]) -> bytes | None:
    """The next frame's bytes; None when the other side closed the stream, also in the middle of a frame."""
    header = stream.read(LENGTH.size)
    if len(header) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(header)
    frame = stream.read(length)
    return frame if len(frame) == length else None


def write_frame(stream: IO[bytes], frame: bytes) -> None:
    stream.write(LENGTH.pack(len(frame)))
    stream.write(frame)
    stream.flush()


def limit_memory(limit: int) -> None:
    """Bounds private memory, and address space as the second lock; without effect where the platform has none."""
    if sys.platform == "win32":
        return
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":  # elsewhere the calls exist, and refuse or ignore such limits
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
        address_space = limit + MAPPED_ALLOWANCE_BYTES
        resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))


def limit_processor_time(seconds: float) -> None:
    """Bounds what the coming task may burn, for the case that nobody is left to kill this process."""
    if sys.platform == "win32":
        return
    import resource

    usage = resource.getrusage(resource.RUSAGE_SELF)
    allowed = usage.ru_utime + usage.ru_stime + seconds + 2
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(allowed) + 1, hard))


def peak_memory() -> int:
    """Bytes of memory that this process held at most; 0 where the platform does not say. Not from `getrusage`, whose
    peak begins with that of the parent."""
    if sys.platform != "linux":
        return 0
    with open("/proc/self/status", encoding="ascii", errors="replace") as status:  # noqa: PTH123 - pathlib costs 10 ms
        for line in status:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0


def is_ours(error: BaseException) -> bool:
    """Whether the error is of Tributary's tree. A task that raises one has imported it."""
    module = sys.modules.get("tributary.domain.errors")
    return module is not None and isinstance(error, module.TributaryError)


def describe(error: BaseException) -> str:
    """The error's class and the frames that led to it. Its message stays out: it may quote the document."""
    frames = traceback.extract_tb(error.__traceback__)[-8:]
    where = " < ".join(f"{frame.name} ({frame.filename}:{frame.lineno})" for frame in reversed(frames))
    return f"{type(error).__name__} in {where}"


def answer(request: bytes, last: bool) -> bytes:
    """Runs one task and packs what came of it."""
    outcome: str
    value: Any
    try:
        function, arguments, seconds = pickle.loads(request)  # noqa: S301 - written by our own parent
    except (ImportError, AttributeError, pickle.UnpicklingError) as error:
        return pickle.dumps(("bug", str(error), last))
    limit_processor_time(seconds)
    try:
        outcome, value = "value", function(*arguments)
    except MemoryError:
        outcome, value = "memory", None
    except Exception as error:  # noqa: BLE001 - parsers raise anything on odd bytes; the parent tells it on
        outcome, value = ("error", error) if is_ours(error) else ("failure", describe(error))
    retire = last or peak_memory() > RETIRE_ABOVE_BYTES
    try:
        return pickle.dumps((outcome, value, retire), protocol=5)
    except MemoryError:
        return pickle.dumps(("memory", None, True))
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        return pickle.dumps(("bug", str(error), retire))


def claim_pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Takes stdin and stdout for the frames, so that a library that prints can't break into them."""
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    return requests, answers


def serve(requests: IO[bytes], answers: IO[bytes]) -> None:
    """Answers tasks until the parent closes the pipe, or this worker has had its share of them."""
    setup = read_frame(requests)
    if setup is None:
        return
    sys.path[:], memory, tasks = pickle.loads(setup)  # noqa: S301 - written by our own parent
    limit_memory(memory)
    for done in range(1, tasks + 1):
        request = read_frame(requests)
        if request is None:
            return
        packed = answer(request, last=done == tasks)
        write_frame(answers, packed)


def main() -> NoReturn:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to answer; it closes our pipe
    serve(*claim_pipes())
    os._exit(0)  # nothing is worth a tidy exit here, and a damaged native heap could hang it


if __name__ == "__main__":
    main()
