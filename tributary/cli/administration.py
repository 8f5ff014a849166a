"""Commands of the operator: organisations, keys, settings, models."""

from dataclasses import replace

import typer

from tributary.cli.options import console
from tributary.domain.attachments import human_size
from tributary.domain.errors import Conflict, InvalidRequest
from tributary.domain.identity import Scope
from tributary.domain.ids import parse_id
from tributary.domain.usage import MonthSpending
from tributary.services import open_accounts, open_identity, open_sign_in
from tributary.settings import Settings


async def create_key(settings: Settings, *, organisation: str, scope: str) -> str:
    """The secret of a new key."""
    if scope not in {each.value for each in Scope}:
        raise InvalidRequest(f"The scope is {' or '.join(Scope)}, not {scope}")
    async with open_identity(settings) as identity:
        owner = await identity.ensure_organisation(organisation)
        _, secret = await identity.create_key(owner.id, scope=Scope(scope))
        return secret


async def list_keys(settings: Settings, *, organisation: str) -> None:
    async with open_identity(settings) as identity:
        owner = await identity.organisation_named(organisation)
        found = await identity.list_keys(owner.id)
    for key in found:
        state = f"revoked {key.revoked_at:%Y-%m-%d %H:%M}" if key.revoked_at else "valid"
        typer.echo(f"{key.id}  {key.scope.value:4}  made {key.created_at:%Y-%m-%d %H:%M}  {state}")


async def revoke_key(settings: Settings, *, organisation: str, key: str) -> None:
    async with open_identity(settings) as identity:
        owner = await identity.organisation_named(organisation)
        await identity.revoke_key(owner.id, parse_id("key", key))
    console.print(f"Key {key} is revoked")


async def make_link(settings: Settings, *, organisation: str) -> str:
    """The path of a link into the page. Raises `Conflict` where the organisation has no key to sign in with."""
    async with open_sign_in(settings) as (identity, sign_in):
        owner = await identity.organisation_named(organisation)
        link = await sign_in.offer(owner.id)
    if link is None:
        raise Conflict(
            f"{organisation} has no key of full scope: `tributary keys create --org {organisation}` makes one"
        )
    return link


async def list_organisations(settings: Settings) -> None:
    async with open_accounts(settings) as (identity, usage):
        found = await identity.list_organisations()
        months = await usage.months()
    for organisation in found:
        limits = organisation.limits
        quota = "no quota" if limits.quota_bytes is None else f"{human_size(limits.quota_bytes)} quota"
        files = "no limit of files" if limits.files_per_day is None else f"{limits.files_per_day} files a day"
        budget = "no budget" if limits.monthly_budget is None else f"${limits.monthly_budget:.2f} a month"
        spent = _spent(months[organisation.id]) if organisation.id in months else "nothing spent"
        typer.echo(f"{organisation.id}  {organisation.name}  {quota}, {files}, {budget}; {spent}")


def _spent(month: MonthSpending) -> str:
    unknown = f" and {month.unpriced_calls} calls of unknown cost" if month.unpriced_calls else ""
    return f"${month.spent:.2f}{unknown} in {month.month:%B %Y}"


async def set_limits(
    settings: Settings,
    name: str,
    *,
    quota_bytes: int | None,
    files_per_day: int | None,
    monthly_budget: float | None,
) -> None:
    given = {"quota_bytes": quota_bytes, "files_per_day": files_per_day, "monthly_budget": monthly_budget}
    changes = {key: (None if value < 0 else value) for key, value in given.items() if value is not None}
    async with open_identity(settings) as identity:
        owner = await identity.ensure_organisation(name)
        await identity.set_limits(owner.id, replace(owner.limits, **changes))  # type: ignore[arg-type]
    console.print(f"Limits of {name} are set", soft_wrap=True)


def show_settings() -> None:
    for field in Settings.model_fields.values():
        default = field.get_default(call_default_factory=True, validated_data={})
        typer.echo(f"{field.alias}" + (f"={default}" if default not in (None, [], {}, "") else ""))
        typer.echo(f"    {field.description}")


async def prepare_models(settings: Settings) -> None:
    """Makes the default embedder's files, where they are not made yet."""
    from tributary.models.embeddings import TextEmbedders

    embedders = TextEmbedders(settings)
    try:
        with console.status(f"Preparing {settings.embedding} (once, half a minute)"):
            await embedders.prepare(settings.embedding)
    finally:
        await embedders.aclose()
    console.print(f"{settings.embedding} is ready")
