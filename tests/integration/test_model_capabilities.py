"""What models take, as OpenRouter's list, LangChain's profiles and our defaults say; no list ever fails a turn."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel

from tests.support.provider import Provider
from tests.support.provider_faults import Fault, Garbage, Hold, Refuse
from tests.support.provider_models import entry
from tributary.domain.attachments import Modality
from tributary.domain.errors import InvalidRequest
from tributary.models.capabilities import Capabilities, ModelCapabilities
from tributary.models.chat import ChatModels

TEXT_ONLY = Capabilities(images=False, pdfs=False, audio=False, context_tokens=32_768)
HOUR = 3_600.0


class Clock:
    """Seconds since the epoch, as a test sets them."""

    def __init__(self) -> None:
        self.now = 1_764_600_000.0

    def __call__(self) -> float:
        return self.now


def _no_local() -> BaseChatModel:
    raise AssertionError("no test here asks for the local model")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def models(provider: Provider, tmp_path: Path) -> AsyncIterator[ChatModels]:
    registry = ChatModels(provider.settings(tmp_path), _no_local)
    yield registry
    await registry.aclose()


@pytest.fixture
async def book(
    provider: Provider, tmp_path: Path, models: ChatModels, clock: Clock
) -> AsyncIterator[ModelCapabilities]:
    book = ModelCapabilities(provider.settings(tmp_path), models.profile, clock=clock)
    yield book
    await book.aclose()


async def _refreshed(book: ModelCapabilities, provider: Provider, name: str, *, listings: int) -> Capabilities:
    """The capabilities once the list was asked for that often and what it says is in use."""
    await book.of(name)
    assert await asyncio.to_thread(provider.wait_for_requests, listings)
    await book.settled()
    return await book.of(name)


@pytest.mark.parametrize(
    ("slug", "accepted"),
    [
        ("stub/all", {Modality.IMAGE, Modality.PDF, Modality.AUDIO}),
        ("stub/sees", {Modality.IMAGE}),
        ("stub/reads", {Modality.PDF}),
        ("stub/hears", {Modality.AUDIO}),
        ("stub/text", set()),
    ],
)
async def test_each_kind_of_file_is_judged_by_the_models_own_entry(
    book: ModelCapabilities, slug: str, accepted: set[Modality]
) -> None:
    capabilities = await book.of(f"openrouter/{slug}")

    assert {modality for modality in Modality if capabilities.accepts(modality)} == accepted | {Modality.TEXT}


async def test_the_window_and_the_longest_answer_come_from_the_list(book: ModelCapabilities) -> None:
    all_kinds = await book.of("openrouter/stub/all")
    text = await book.of("openrouter/stub/text")

    assert (all_kinds.context_tokens, all_kinds.max_output_tokens) == (200_000, 4_096)
    assert (text.context_tokens, text.max_output_tokens) == (32_000, None)


async def test_a_variant_that_is_not_listed_has_what_its_model_has(book: ModelCapabilities) -> None:
    assert await book.of("openrouter/stub/sees:nitro") == await book.of("openrouter/stub/sees")


async def test_odd_entries_neither_break_the_list_nor_claim_abilities(
    book: ModelCapabilities, provider: Provider
) -> None:
    old = entry("stub/old", [], 8_192)
    old["architecture"] = {"modality": "text+image->text"}
    loose = {"id": "stub/loose", "architecture": None, "context_length": None, "top_provider": None}
    words = entry("stub/words", ["text"], 0) | {"context_length": "131072"}
    provider.models = [None, "text", {"name": "without id"}, old, loose, words]

    assert (await book.of("openrouter/stub/old")).images
    assert await book.of("openrouter/stub/loose") == Capabilities(
        images=False, pdfs=False, audio=False, context_tokens=4_096
    )
    assert (await book.of("openrouter/stub/words")).context_tokens == 131_072


async def test_eight_who_ask_at_once_share_one_call(book: ModelCapabilities, provider: Provider) -> None:
    hold = Hold()
    provider.next_models(hold)
    asking = [asyncio.create_task(book.of("openrouter/stub/all")) for _ in range(8)]
    assert await asyncio.to_thread(provider.wait_for_requests, 1)
    hold.event.set()

    answers = await asyncio.gather(*asking)

    assert len(provider.listings) == 1
    assert all(answer.pdfs for answer in answers)


async def test_one_who_stops_waiting_does_not_take_the_list_from_the_others(
    book: ModelCapabilities, provider: Provider
) -> None:
    hold = Hold()
    provider.next_models(hold)
    impatient, patient = (asyncio.create_task(book.of("openrouter/stub/all")) for _ in range(2))
    assert await asyncio.to_thread(provider.wait_for_requests, 1)
    impatient.cancel()
    hold.event.set()

    assert (await patient).images
    assert len(provider.listings) == 1


async def test_a_fresh_list_is_not_asked_for_again(book: ModelCapabilities, provider: Provider, clock: Clock) -> None:
    await book.of("openrouter/stub/all")
    clock.now += HOUR - 1

    await book.of("openrouter/stub/text")

    assert len(provider.listings) == 1


async def test_an_expired_list_answers_while_it_is_refreshed(
    book: ModelCapabilities, provider: Provider, clock: Clock
) -> None:
    await book.of("openrouter/stub/text")
    clock.now += HOUR
    provider.models = [entry("stub/text", ["text", "image"], 32_000)]
    hold = Hold()
    provider.next_models(hold)

    assert not (await book.of("openrouter/stub/text")).images
    hold.event.set()
    assert (await _refreshed(book, provider, "openrouter/stub/text", listings=2)).images


@pytest.mark.parametrize(
    "fault",
    [
        Refuse(503),
        Garbage("<html>busy</html>", "text/html"),
        Garbage('{"data": null}', "application/json"),
        Garbage("[]", "application/json"),
    ],
    ids=repr,
)
async def test_a_list_that_cannot_be_had_leaves_the_default(
    book: ModelCapabilities, provider: Provider, fault: Fault
) -> None:
    provider.next_models(fault)

    assert await book.of("openrouter/stub/all") == TEXT_ONLY


async def test_after_a_failure_the_next_try_waits_a_minute(
    book: ModelCapabilities, provider: Provider, clock: Clock
) -> None:
    provider.next_models(Refuse(503))
    await book.of("openrouter/stub/all")
    clock.now += 59
    assert await book.of("openrouter/stub/all") == TEXT_ONLY
    assert len(provider.listings) == 1
    clock.now += 1

    assert (await book.of("openrouter/stub/all")).images


async def test_the_last_good_list_outlives_a_restart_and_an_outage(
    book: ModelCapabilities, provider: Provider, tmp_path: Path, models: ChatModels, clock: Clock
) -> None:
    before = await book.of("openrouter/stub/all")
    clock.now += 30 * 24 * HOUR
    provider.next_models(Refuse(503))

    restarted = ModelCapabilities(provider.settings(tmp_path), models.profile, clock=clock)
    after = await restarted.of("openrouter/stub/all")
    await restarted.settled()

    assert after == before
    assert await restarted.of("openrouter/stub/all") == before


async def test_a_list_of_another_address_is_not_used(
    book: ModelCapabilities, provider: Provider, tmp_path: Path, models: ChatModels, clock: Clock
) -> None:
    await book.of("openrouter/stub/all")
    elsewhere = provider.settings(tmp_path, openrouter_base_url="http://127.0.0.1:9")

    moved = ModelCapabilities(elsewhere, models.profile, clock=clock)

    assert await moved.of("openrouter/stub/all") == TEXT_ONLY


@pytest.mark.parametrize("kept", ["", "{", "[]", '{"url": 1}', '{"url": "x", "fetched_at": null, "models": {"a": 1}}'])
async def test_a_kept_list_that_is_damaged_is_asked_for_anew(
    book: ModelCapabilities, provider: Provider, tmp_path: Path, kept: str
) -> None:
    (tmp_path / "capabilities.json").write_text(kept)

    assert (await book.of("openrouter/stub/all")).images
    assert len(provider.listings) == 1
    assert json.loads((tmp_path / "capabilities.json").read_text())["models"]["stub/all"]["images"] is True


async def test_a_folder_that_cannot_be_written_costs_only_the_copy(
    provider: Provider, tmp_path: Path, models: ChatModels, clock: Clock
) -> None:
    (tmp_path / "file").write_text("")
    book = ModelCapabilities(provider.settings(tmp_path / "file" / "data"), models.profile, clock=clock)

    assert (await book.of("openrouter/stub/all")).images


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("openai/gpt-4o", Capabilities(True, True, False, 128_000, 16_384)),
        ("google/gemini-2.5-flash", Capabilities(True, True, True, 1_048_576, 65_536)),
        ("openai/some-local-model", Capabilities(True, False, False, 32_768)),
        ("google/gemini-99-ultra", Capabilities(True, True, True, 1_048_576)),
        ("local/extractive", Capabilities(False, False, False, 2_000_000)),
        ("openrouter/nobody/knows", TEXT_ONLY),
    ],
)
async def test_models_off_the_list_have_their_profile_or_a_default(
    book: ModelCapabilities, name: str, expected: Capabilities
) -> None:
    assert await book.of(name) == expected


async def test_no_list_is_asked_for_a_model_that_is_on_none(book: ModelCapabilities, provider: Provider) -> None:
    for name in ("openai/gpt-4o", "google/gemini-2.5-flash", "local/extractive"):
        await book.of(name)

    assert provider.requests == []


async def test_a_model_without_a_key_has_the_default_of_its_provider(provider: Provider, tmp_path: Path) -> None:
    settings = provider.settings(tmp_path, openai_api_key=None)
    book = ModelCapabilities(settings, ChatModels(settings, _no_local).profile)

    assert (await book.of("openai/gpt-4o")).context_tokens == 32_768


async def test_an_unknown_name_is_refused(book: ModelCapabilities) -> None:
    with pytest.raises(InvalidRequest):
        await book.of("mistral/large")


async def test_the_list_is_asked_for_without_the_key(book: ModelCapabilities, provider: Provider) -> None:
    await book.of("openrouter/stub/all")

    headers: dict[str, Any] = provider.listings[0].headers
    assert "authorization" not in headers
