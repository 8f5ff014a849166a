"""Options that commands share, and how a command runs."""

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer
from rich.console import Console

from tributary.domain.errors import TributaryError
from tributary.settings import Settings
from tributary.telemetry import logs

T = TypeVar("T")

#: For people: progress, hints, errors. stdout is for results.
#: Without markup: names and reasons are text.
console = Console(stderr=True, highlight=False, markup=False)

Data = Annotated[
    Path | None,
    typer.Option("--data", help="Folder of all state; by default TRIBUTARY_DATA, else the user's data folder"),
]
Org = Annotated[str, typer.Option("--org", help="Organisation")]


def load_settings(data: Path | None) -> Settings:
    """The environment's settings, with the command's folder."""
    return Settings.load(data=data)


def run(command: Callable[[], Awaitable[T]], settings: Settings, *, own_signals: bool = False) -> T:
    """Runs a command to its end, or until it is told to stop; one with `own_signals` sees to that itself. What the
    caller or a dependency got wrong is one line on stderr and exit code 1."""
    configure_logging(settings)
    # Threads that read documents give way to the event loop after a millisecond, in place of five.
    sys.setswitchinterval(0.001)
    try:
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            return runner.run(_until_told_to_stop(command, own_signals=own_signals))
    except asyncio.CancelledError as error:
        raise typer.Exit(128 + signal.SIGTERM) from error
    except TributaryError as error:
        console.print(f"{error.title}: {error.detail}", style="red", soft_wrap=True)
        raise typer.Exit(1) from error


def run_in_one_thread(command: Callable[[], T], settings: Settings) -> T:
    """Runs a command that waits for nothing but the disk and other programs. A SIGTERM ends it as Ctrl-C does."""
    configure_logging(settings)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return command()
    except KeyboardInterrupt as error:
        raise typer.Exit(128 + signal.SIGTERM) from error
    except TributaryError as error:
        console.print(f"{error.title}: {error.detail}", style="red", soft_wrap=True)
        raise typer.Exit(1) from error


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """uvloop's event loop where it runs: waiting for PostgreSQL costs it half of what it costs the standard one."""
    if sys.platform == "win32":
        return None
    import uvloop

    return uvloop.new_event_loop


def configure_logging(settings: Settings) -> None:
    """The log on stderr, without the secrets that the settings name."""
    logs.configure(settings.log_level, as_json=settings.log_format == "json", secrets=settings.secrets)


async def _until_told_to_stop(command: Callable[[], Awaitable[T]], *, own_signals: bool) -> T:
    """A SIGTERM ends a command as Ctrl-C does: by cancelling it, so that what it began is left in good order."""
    running = asyncio.ensure_future(command())
    if not own_signals:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, running.cancel)
    return await running
