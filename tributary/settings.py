"""All settings. The only reader of the environment."""

import os
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

import platformdirs
from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

EXTRACTIVE = "local/extractive"
E5 = "local/multilingual-e5-small"
MINILM = "local/minilm"


def default_data_folder() -> Path:
    """The user's data folder. As root it is the system's: the embedded PostgreSQL then runs as a user of its own
    and must be able to reach it, which would open a private home to everybody."""
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        return Path("/var/lib/tributary")
    return Path(platformdirs.user_data_dir("tributary", appauthor=False))


def default_model_cache() -> Path:
    """The user's cache folder: what lies there is derived, and shared by all data folders."""
    return Path(platformdirs.user_cache_dir("tributary", appauthor=False)) / "models"


def _password(address: str) -> str:
    """The password in an address such as that of a database."""
    return unquote(urlsplit(address).password or "") if "://" in address else ""


class Settings(BaseSettings):
    """Every field is one environment variable: its alias. `tributary settings` lists them with these words."""

    model_config = SettingsConfigDict(extra="ignore", populate_by_name=True, frozen=True)

    data: Path = Field(
        default_factory=default_data_folder,
        alias="TRIBUTARY_DATA",
        description="Folder of all state of the embedded default: database and files.",
    )
    model_cache: Path = Field(
        default_factory=default_model_cache,
        alias="TRIBUTARY_MODEL_CACHE",
        description="Folder of prepared local models: made from installed packages, and made again when missing.",
    )
    organisation: str = Field(
        "demo", alias="TRIBUTARY_ORG", description="The organisation that Studio and notebooks act as."
    )

    database_url: SecretStr | None = Field(
        None,
        alias="DATABASE_URL",
        description="A PostgreSQL (15 or later, pgvector 0.8 or later) to serve from.",
    )
    database_admin_url: SecretStr | None = Field(
        None, alias="DATABASE_ADMIN_URL", description="The same database as a role that may migrate it."
    )
    database_pool_size: int = Field(
        12,
        ge=2,
        alias="TRIBUTARY_DATABASE_POOL",
        description="Connections a process keeps at most for its stores.",
    )

    neo4j_uri: str | None = Field(
        None,
        alias="NEO4J_URI",
        description="A Neo4j 5 (`bolt://…`, `neo4j+s://…`) that keeps the graphs of new knowledge bases.",
    )
    neo4j_username: str = Field("neo4j", alias="NEO4J_USERNAME", description="Neo4j user.")
    neo4j_password: SecretStr | None = Field(None, alias="NEO4J_PASSWORD", description="Neo4j password.")
    neo4j_database: str | None = Field(
        None, alias="NEO4J_DATABASE", description="Neo4j database; by default the user's home database."
    )
    neo4j_patience: float = Field(
        15.0,
        gt=0,
        alias="NEO4J_PATIENCE",
        description="Seconds that a write is repeated while Neo4j is away; then its document waits for its next turn.",
    )

    s3_bucket: str | None = Field(None, alias="S3_BUCKET", description="Copies uploaded files to this bucket.")
    s3_endpoint_url: str | None = Field(
        None, alias="S3_ENDPOINT_URL", description="An S3-compatible endpoint other than AWS."
    )
    s3_region: str = Field("us-east-1", alias="S3_REGION", description="The bucket's region.")
    s3_access_key_id: str | None = Field(None, alias="S3_ACCESS_KEY_ID", description="S3 access key.")
    s3_secret_access_key: SecretStr | None = Field(None, alias="S3_SECRET_ACCESS_KEY", description="S3 secret key.")

    openrouter_api_key: SecretStr | None = Field(
        None, alias="OPENROUTER_API_KEY", description="Makes `openrouter/<slug>` models available."
    )
    openrouter_base_url: str = Field(
        "https://openrouter.ai/api/v1", alias="OPENROUTER_BASE_URL", description="OpenRouter's address."
    )
    google_api_key: SecretStr | None = Field(
        None,
        alias="GOOGLE_API_KEY",
        description="Makes `google/<name>` and `gemini/<name>` models available.",
    )
    google_base_url: str | None = Field(None, alias="GOOGLE_BASE_URL", description="Another address of the Gemini API.")
    openai_api_key: SecretStr | None = Field(
        None, alias="OPENAI_API_KEY", description="Makes `openai/<name>` models available."
    )
    openai_base_url: str = Field(
        "https://api.openai.com/v1", alias="OPENAI_BASE_URL", description="Any OpenAI-compatible server."
    )

    chat_model: str = Field(EXTRACTIVE, alias="TRIBUTARY_CHAT_MODEL", description="The model of new bots.")
    ingest_model: str = Field(
        EXTRACTIVE,
        alias="TRIBUTARY_INGEST_MODEL",
        description="The model that reads documents when they are ingested.",
    )
    embedding: str = Field(E5, alias="TRIBUTARY_EMBEDDING", description="The embedding of new knowledge bases.")
    prices: dict[str, tuple[float, float]] = Field(
        default_factory=dict,
        alias="TRIBUTARY_PRICES",
        description="US dollars for a million tokens read and written, of models whose provider does not say, as JSON: "
        '{"openai/gpt-5-mini": [0.25, 2]}.',
    )
    calibrations: dict[str, tuple[float, float]] = Field(
        default_factory=dict,
        alias="TRIBUTARY_CALIBRATIONS",
        description="Middle and slope of the curve from cosine to similarity, by embedding, as JSON: "
        '{"openai/my-embedder": [0.45, 12]}.',
    )
    model_threads: int | None = Field(
        None,
        ge=1,
        alias="TRIBUTARY_MODEL_THREADS",
        description="Threads of a local model; by default the cores.",
    )

    branch_timeout: float = Field(
        10.0,
        gt=0,
        alias="TRIBUTARY_BRANCH_TIMEOUT",
        description="Seconds before a retrieval branch is left out.",
    )
    provider_timeout: float = Field(
        120.0,
        gt=0,
        alias="TRIBUTARY_PROVIDER_TIMEOUT",
        description="Seconds without a sign of a model provider.",
    )
    queue_timeout: float = Field(
        300.0, gt=0, alias="TRIBUTARY_QUEUE_TIMEOUT", description="Seconds that a message waits for its turn."
    )
    unused_attachment_hours: float = Field(
        24.0,
        gt=0,
        alias="TRIBUTARY_UNUSED_ATTACHMENT_HOURS",
        description="Hours after which an upload that no message used is removed.",
    )
    keep_files_of_deleted_conversations: bool = Field(
        False,
        alias="TRIBUTARY_KEEP_FILES",
        description="Keeps a conversation's files when the conversation is deleted.",
    )
    workers: int = Field(
        4,
        ge=0,
        alias="TRIBUTARY_WORKERS",
        description="Documents that `serve` ingests at a time; 0 for none.",
    )
    cors_origins: list[str] = Field(
        default_factory=list,
        alias="TRIBUTARY_CORS_ORIGINS",
        description="Origins that may call from a browser, as a JSON list.",
    )
    session_hours: float = Field(
        168.0,
        gt=0,
        le=8760,
        alias="TRIBUTARY_SESSION_HOURS",
        description="Hours that a sign-in of a browser lasts.",
    )
    shutdown_grace: float = Field(
        20.0,
        ge=0,
        alias="TRIBUTARY_SHUTDOWN_GRACE",
        description="Seconds that a stop gives running turns to finish.",
    )
    log_level: str = Field("INFO", alias="TRIBUTARY_LOG_LEVEL", description="Level of the log on stderr.")
    log_format: Literal["text", "json"] = Field(
        "text", alias="TRIBUTARY_LOG_FORMAT", description="`text` for people, `json` for one object a line."
    )
    metrics_address: str | None = Field(
        None,
        alias="TRIBUTARY_METRICS_ADDRESS",
        description="Where each process gives its figures to Prometheus, beside /metrics: HOST:PORT, or the next free "
        "port.",
    )
    otlp_endpoint: str | None = Field(
        None,
        alias="OTEL_EXPORTER_OTLP_ENDPOINT",
        description="Sends traces to this OpenTelemetry collector (OTLP over HTTP); needs the extra `otel`.",
    )
    otlp_traces_endpoint: str | None = Field(
        None,
        alias="OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
        description="The same as a whole address, where traces have one of their own.",
    )

    @field_validator("data", "model_cache", mode="after")
    @classmethod
    def _absolute(cls, value: Path) -> Path:
        return value.expanduser().absolute()

    @classmethod
    def load(cls, **overrides: Any) -> "Settings":
        """The environment's settings; overrides (of the command line) that are not None win."""
        return cls(**{name: value for name, value in overrides.items() if value is not None})

    @property
    def traces_endpoint(self) -> str:
        """Where traces go, as a whole address; empty for nowhere."""
        base = (self.otlp_endpoint or "").rstrip("/")
        return self.otlp_traces_endpoint or (f"{base}/v1/traces" if base else "")

    @property
    def secrets(self) -> list[str]:
        """The values that no log may hold."""
        whole = [value.get_secret_value() for _, value in self if isinstance(value, SecretStr)]
        return [*whole, *(part for each in whole if (part := _password(each)))]

    @property
    def files(self) -> Path:
        """Root of uploaded files."""
        return self.data / "files"
