"""What a server loads before anybody asks it for anything."""

import subprocess
import sys

HEAVY = ("mcp", "mcp_types", "openai", "langchain_openai", "langchain_google_genai", "langchain_postgres")


def test_a_server_starts_without_what_only_some_requests_need() -> None:
    program = f"import sys, server; print([name for name in {HEAVY} if name in sys.modules])"
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert finished.stdout.strip() == "[]"
