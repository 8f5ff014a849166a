import asyncio

from tributary.domain.errors import DependencyUnavailable
from tributary.readiness import Dependencies, Readiness


async def fine() -> None:
    return None


async def away() -> None:
    raise DependencyUnavailable("it is away")


async def silent() -> None:
    await asyncio.Event().wait()


async def test_all_is_well() -> None:
    report = await Dependencies({"a": fine}, {"b": fine}).report()
    assert (report.status, dict(report.dependencies)) == (Readiness.READY, {"a": "ok", "b": "ok"})


async def test_without_something_useful_it_is_degraded_and_says_what() -> None:
    report = await Dependencies({"a": fine}, {"b": away}).report()
    assert (report.status, report.dependencies["b"]) == (Readiness.DEGRADED, "it is away")


async def test_without_something_needed_it_is_unavailable_and_says_the_rest_too() -> None:
    report = await Dependencies({"a": away, "c": fine}, {"b": fine}).report()
    assert (report.status, dict(report.dependencies)) == (
        Readiness.UNAVAILABLE,
        {"a": "it is away", "c": "ok", "b": "ok"},
    )


async def test_a_check_that_does_not_answer_is_given_up() -> None:
    report = await Dependencies({"a": silent, "b": fine}, limit=0.01).report()
    assert dict(report.dependencies) == {"a": "no answer within 0.01 s", "b": "ok"}


async def test_checks_run_side_by_side() -> None:
    met = asyncio.Barrier(2)

    async def meeting() -> None:
        await met.wait()

    report = await Dependencies({"a": meeting, "b": meeting}).report()
    assert report.status is Readiness.READY


async def test_however_many_probe_each_dependency_is_asked_once() -> None:
    asked = 0

    async def counted() -> None:
        nonlocal asked
        asked += 1
        await asyncio.sleep(0)

    dependencies = Dependencies({"a": counted}, fresh=60)
    await asyncio.gather(*(dependencies.report() for _ in range(50)))
    assert asked == 1
