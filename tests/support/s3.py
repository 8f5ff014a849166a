"""A real S3 endpoint over HTTP in a process of its own, for tests that must meet one."""

import subprocess
import sys
import urllib.request
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self
from uuid import uuid4

ACCESS_KEY_ID = "test-key"
SECRET_ACCESS_KEY = "test-secret"  # the server accepts any
REGION = "us-east-1"

_SERVER = """
import sys
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print("http://%s:%d" % server.get_host_and_port(), flush=True)
sys.stdin.read()
"""


@dataclass
class S3Server:
    """Runs from `with` on; ends with the process that started it, however that ends."""

    endpoint: str = ""
    _process: "subprocess.Popen[str] | None" = field(default=None, repr=False)

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _SERVER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._process.stdout is not None
        self.endpoint = self._process.stdout.readline().strip()
        assert self.endpoint.startswith("http://"), "the S3 server did not start"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.communicate()

    def new_bucket(self) -> str:
        name = f"bucket-{uuid4().hex}"
        self.request("PUT", name)
        return name

    def request(self, method: str, path: str) -> str:
        """The body of the answer to a plain request, such as a listing in XML."""
        request = urllib.request.Request(f"{self.endpoint}/{path}", method=method)
        with urllib.request.urlopen(request, timeout=30) as response:
            body: bytes = response.read()
        return body.decode()
