"""What tests run in the sandbox: a child imports it by name."""

import ctypes
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from tributary.domain.errors import Conflict, DamagedFile, NotFound, ProviderError
from tributary.files.soundness import FileFacts


@dataclass(frozen=True)
class Foreign:
    """A dataclass that no module of the product defines."""

    value: int


class Treacherous:
    """What a child that was taken over might answer: unpickled, it would run a command."""

    def __reduce__(self) -> tuple[object, ...]:
        return os.system, ("true",)


def double(number: int) -> int:
    return 2 * number


def facts_of(facts: FileFacts) -> FileFacts:
    return facts


def process_id() -> int:
    return os.getpid()


def environment() -> bytes:
    return Path("/proc/self/environ").read_bytes()


def loaded_modules() -> list[str]:
    return sorted(sys.modules)


def print_noise() -> str:
    print("noise on the channel of the answers", flush=True)  # noqa: T201
    os.write(1, b"more noise")
    return "heard"


def wait_for_ever(started: Path) -> None:
    started.write_text(str(os.getpid()))
    while True:
        time.sleep(60)


def die_the_first_time(mark: Path) -> str:
    """Ends like a process that the kernel killed, once."""
    if mark.exists():
        return "done"
    mark.touch()
    os.kill(os.getpid(), 9)
    return "unreachable"


def die() -> None:
    os.kill(os.getpid(), 9)


def crash() -> None:
    ctypes.string_at(0)


def take_memory(size: int) -> int:
    return len(bytearray(size))


def use_memory(size: int) -> int:
    """Holds so many bytes in truth: pages that were written to."""
    return len(b"x" * size)


def raise_not_found() -> None:
    raise NotFound("document", 7)


def raise_provider_error() -> None:
    raise ProviderError("too busy", transient=True, retry_after=3)


def raise_conflict() -> None:
    raise Conflict("as it is")


def raise_damaged() -> None:
    raise DamagedFile("half of it is missing")


def raise_type_error() -> None:
    raise TypeError("the secret text of the document")


def answer_foreign() -> Foreign:
    return Foreign(1)


def answer_treacherous() -> Treacherous:
    return Treacherous()


def answer_unpicklable() -> object:
    return lambda: None
