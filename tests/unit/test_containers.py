"""`Dockerfile` and `compose.yaml` say what the product knows: settings, paths, ports, files."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from server import ROUTERS
from tributary.cli.main import app
from tributary.settings import Settings

ROOT = Path(__file__).parents[2]
DOCKERFILE = re.sub(r"\\\n\s*", " ", (ROOT / "Dockerfile").read_text())
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())
OURS = ("app", "worker")
#: Variables that processes of ours read beside the settings.
OTHERS = {"PATH", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "ORT_DISABLE_TELEMETRY"}


def instructions(name: str) -> list[str]:
    return re.findall(rf"^{name} (.+)$", DOCKERFILE, re.MULTILINE)


def settings() -> set[str]:
    return {str(field.alias) for field in Settings.model_fields.values()}


def paths() -> set[str]:
    return {getattr(route, "path", "") for router in ROUTERS for route in router.routes}


@pytest.mark.parametrize("service", OURS)
def test_what_compose_sets_are_settings(service: str) -> None:
    assert set(COMPOSE["services"][service]["environment"]) <= settings()


def test_what_the_image_sets_are_settings() -> None:
    named = {pair.partition("=")[0] for line in instructions("ENV")[1:] for pair in shlex.split(line)}
    assert named - OTHERS <= settings()
    assert "TRIBUTARY_DATA" in named


@pytest.mark.parametrize("service", [name for name in COMPOSE["services"] if name not in OURS])
def test_images_of_others_are_of_one_version(service: str) -> None:
    tag = COMPOSE["services"][service]["image"].rpartition(":")[2]
    assert re.fullmatch(r"v?\d+\.\d+\.\d+(-[a-z0-9-]+)?", tag), tag


def test_the_image_is_made_from_one_version_of_python_that_the_project_allows() -> None:
    bases = {line.partition(" AS ")[0] for line in instructions("FROM")}
    assert len(bases) == 1
    assert re.fullmatch(r"python:3\.1[1-9]-slim-[a-z]+", bases.pop())


def test_the_image_serves_as_nobody_of_importance() -> None:
    [user] = instructions("USER")
    assert re.fullmatch(r"[1-9]\d{3,}:[1-9]\d{3,}", user)
    for service in OURS:
        hardened = COMPOSE["services"][service]
        assert (hardened["read_only"], hardened["cap_drop"]) == (True, ["ALL"])


def test_nothing_is_installed_unchecked() -> None:
    installs = [each for line in instructions("RUN") for each in line.split("&&") if " pip install " in each]
    assert installs
    for each in installs:
        assert "--require-hashes" in each or each.rstrip().endswith("/wheel/*.whl")


def test_what_is_copied_is_there_and_let_in() -> None:
    let_in = {line.removeprefix("!") for line in (ROOT / ".dockerignore").read_text().splitlines() if line[:1] == "!"}
    copied: set[str] = set()
    for line in instructions("COPY"):
        if not line.startswith("--from"):
            copied.update(line.split()[:-1])
    assert copied == let_in
    assert all((ROOT / name).exists() for name in copied)


def test_health_is_asked_where_the_product_answers() -> None:
    checks = [*instructions("HEALTHCHECK"), str(COMPOSE["services"]["worker"]["healthcheck"]["test"])]
    asked = [re.search(r"http://127\.0\.0\.1:(\d+)(/\w+)", check) for check in checks]
    assert [(found[1], found[2]) for found in asked if found] == [("8000", "/readyz"), ("9100", "/healthz")]
    assert {"/readyz", "/healthz"} <= paths()
    assert COMPOSE["services"]["worker"]["environment"]["TRIBUTARY_METRICS_ADDRESS"].endswith(":9100")
    assert instructions("EXPOSE") == ["8000"]
    assert COMPOSE["services"]["app"]["ports"][0].endswith(":8000")


@pytest.mark.parametrize("command", [re.findall(r'"([^"]+)"', each) for each in instructions("CMD")])
def test_what_runs_is_a_command_of_ours_with_options_that_it_has(command: list[str]) -> None:
    commands = get_command(app).commands  # type: ignore[attr-defined] # of a group
    for name, *arguments in (command, COMPOSE["services"]["worker"]["command"]):
        known = {option for each in commands[name].params for option in (*each.opts, *each.secondary_opts)}
        assert {each for each in arguments if each.startswith("--")} <= known


def test_passwords_are_asked_for_and_stand_nowhere() -> None:
    text = (ROOT / "compose.yaml").read_text()
    example = (ROOT / "compose.env.example").read_text()
    secrets = set(re.findall(r"\$\{(\w+):\?", text))
    assert secrets == {"POSTGRES_PASSWORD", "NEO4J_PASSWORD", "S3_SECRET_ACCESS_KEY"}
    assert all(re.search(rf"^{name}=$", example, re.MULTILINE) for name in secrets)
    assert not re.search(r"(PASSWORD|SECRET\w*|_KEY): (?!\$\{|tributary$)\S", text, re.MULTILINE)
    assert ".env" in (ROOT / ".gitignore").read_text().split()


def test_files_reach_both_processes_by_the_bucket_of_the_s3_server() -> None:
    services = COMPOSE["services"]
    assert [services[name]["volumes"][0].partition(":")[0] for name in OURS] == list(OURS)
    for name in OURS:
        environment = services[name]["environment"]
        assert services["s3"]["volumes"] == [f"s3:{services['s3']['command'][1]}/{environment['S3_BUCKET']}"]
        assert environment["S3_ENDPOINT_URL"] == f"http://s3{services['s3']['environment']['VGW_PORT']}"
        assert environment["S3_ACCESS_KEY_ID"] == services["s3"]["environment"]["ROOT_ACCESS_KEY"]
    assert set(COMPOSE["volumes"]) == {each["volumes"][0].partition(":")[0] for each in services.values()}
