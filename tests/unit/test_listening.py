"""Hearing what changes: once each, bounded, and of one's own organisation."""

from uuid import UUID, uuid4

import orjson
import pytest

from stores.memory.signals import MemorySignals
from tributary import changes
from tributary.changes import MOST_WAITING, Change, Changes, Kind, Listener, News
from tributary.domain.errors import RateLimited

WITHIN = 5.0


def signal(organisation: UUID, *ids: str, kind: str = "bot", base: str | None = None) -> str:
    told = {"organisation": str(organisation), "kind": kind, "ids": ids or None, "knowledgeBase": base}
    return changes.PREFIX + orjson.dumps(told).decode()


async def settled(listener: Listener) -> Listener:
    assert await listener.next(within=WITHIN) == News(missed=True)
    return listener


async def test_who_begins_to_listen_is_told_to_read_first() -> None:
    with Changes(MemorySignals()).listening(uuid4()) as listener:
        assert await listener.next(within=WITHIN) == News(missed=True)


async def test_what_happens_several_times_is_told_once_and_in_order() -> None:
    signals, organisation = MemorySignals(), uuid4()
    with Changes(signals).listening(organisation) as listener:
        await settled(listener)
        for each in ("one", "two", "one"):
            await signals.publish(signal(organisation, each))
        assert await listener.next(within=WITHIN) == News((Change(Kind.BOT, "one"), Change(Kind.BOT, "two")))


async def test_other_organisations_and_other_signals_are_not_heard() -> None:
    signals, organisation = MemorySignals(), uuid4()
    with Changes(signals).listening(organisation) as listener:
        await settled(listener)
        await signals.publish(signal(uuid4(), "theirs"))
        await signals.publish("stop:somebody")
        await signals.publish(signal(organisation, "ours", kind="document", base="b"))
        assert await listener.next(within=WITHIN) == News((Change(Kind.DOCUMENT, "ours", "b"),))


async def test_a_slow_listener_keeps_a_bounded_number_and_then_reads_anew() -> None:
    signals, organisation = MemorySignals(), uuid4()
    with Changes(signals).listening(organisation) as listener:
        await settled(listener)
        for number in range(3 * MOST_WAITING):
            await signals.publish(signal(organisation, str(number)))
        assert await listener.next(within=WITHIN) == News(missed=True)
        await signals.publish(signal(organisation, "next"))
        assert await listener.next(within=WITHIN) == News((Change(Kind.BOT, "next"),))


async def test_an_end_of_access_is_told_beside_changes_and_asked_for_in_silence() -> None:
    signals, organisation = MemorySignals(), uuid4()
    with Changes(signals).listening(organisation) as listener:
        await settled(listener)
        await signals.publish(signal(organisation, "one"))
        await signals.publish(signal(organisation, "key", kind="access"))
        assert await listener.next(within=WITHIN) == News((Change(Kind.BOT, "one"),), access=True)
        assert await listener.next(within=0.01) == News(access=True)


async def test_too_many_listeners_are_refused_and_room_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "MOST_LISTENERS", 1)
    everybody, organisation = Changes(MemorySignals()), uuid4()
    with everybody.listening(organisation):
        with pytest.raises(RateLimited):
            everybody.require_room(organisation)
        everybody.require_room(uuid4())
    everybody.require_room(organisation)
