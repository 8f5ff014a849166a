"""Does a turn take its longest path, or the sum of what it does?

    python -m bench.fan_out [--rounds 5] [--turns 6] [--ms 100] [--bases 8] [--chunks 500]

Every call of a model (embedding, chat) and every branch of each knowledge base waits for `--ms` milliseconds. The
message brings a picture, so that all four branches take part. The graph branch goes on from what the texts and the
picture have given: the longest path is embedding, text search, graph search, chat.
"""

import argparse
import io
import statistics
from collections.abc import Sequence

from PIL import Image

from bench.delaying import CALLS
from bench.figures import Bound, Figure, Report
from bench.harness import Call, Client, one_by_one, spread
from bench.scraping import scrape, total
from bench.server import Server, serving_on_instant
from bench.steps import Steps, bench_parser, run
from bench.synthetic import question, write_knowledge_base

#: Calls and branches on the longest path, and of all there are those that don't belong to a knowledge base.
PATH = ("embedding", "text search", "graph search", "chat")
CALLED = 2
WARMING = 3
#: How much longer than its longest path a turn may take, and than with one knowledge base.
PATH_BOUND, BASES_BOUND = Bound(1.15), Bound(1.3)


async def measure(options: argparse.Namespace, steps: Steps) -> Report:
    steps.expect(options.bases + 2 * options.rounds)
    command = "bench.delaying", str(options.ms)
    async with serving_on_instant(command=command, chat_ms=options.ms, embedding_ms=options.ms) as (server, _):
        bases = []
        for number in range(options.bases):
            steps.begin(f"writing knowledge base {number + 1}")
            bases.append(await write_knowledge_base(server, options.chunks, seed=number))
            steps.advance()
        claim = await upload_picture(server)
        client = Client(server.authorization)
        calls = {
            count: asking(client, server, await server.new_bot(bases[:count]), claim) for count in (1, options.bases)
        }
        times = await _rounds(calls, options, steps)
        await client.aclose()
        await _require_waits(server, (WARMING + options.rounds * options.turns) * (1 + options.bases))
    return report(times[1], times[options.bases], options)


def asking(client: Client, server: Server, bot: str, claim: dict[str, str]) -> Call:
    async def call() -> object:
        answer = await client.post(f"{server.url}/api/bots/{bot}/chat", {"message": question(), "attachments": [claim]})
        if answer["degraded"]:
            raise RuntimeError(f"a branch was left out: {answer['degraded']}")
        return answer

    return call


async def upload_picture(server: Server) -> dict[str, str]:
    """The claim of a small one."""
    content = io.BytesIO()
    Image.radial_gradient("L").convert("RGB").save(content, "PNG")
    files = [("files", ("picture.png", content.getvalue(), "image/png"))]
    stored = (await server.client.post("/api/bot/attachments/upload", files=files)).raise_for_status().json()
    return {"id": stored["id"], "accessToken": stored["accessToken"]}


async def _rounds(calls: dict[int, Call], options: argparse.Namespace, steps: Steps) -> dict[int, list[float]]:
    """By the number of knowledge bases, the median of each round, in seconds."""
    medians: dict[int, list[float]] = {count: [] for count in calls}
    for call in calls.values():
        await one_by_one(call, WARMING)
    for number in range(options.rounds):
        for count, call in calls.items():
            steps.begin(f"round {number + 1}, {count} linked")
            medians[count].append(statistics.median(await one_by_one(call, options.turns)))
            steps.advance()
    return medians


async def _require_waits(server: Server, searched: int) -> None:
    """Raises `RuntimeError` where a branch did not wait once for each of the `searched` knowledge bases: then its delay
    stands at a call that it does not make, or makes more than once."""
    samples = await scrape(server.client)
    for node in CALLS:
        waited = total(samples, "bench_waits_total", node=node)
        if waited != searched:
            raise RuntimeError(f"{node} waited {waited:.0f} times for its store, and searched {searched}")


def report(one: Sequence[float], many: Sequence[float], options: argparse.Namespace) -> Report:
    mine, all_of_them = statistics.median(one), statistics.median(many)
    longest, whole = options.ms * len(PATH), options.ms * (CALLED + len(CALLS))
    waits = f"{options.ms:.0f} ms in each of {CALLED} calls and {len(CALLS)} branches"
    path = f"longest path ({' → '.join(PATH)}: {longest:.0f} ms)"
    figures = [
        Figure(f"fan-out: a turn with {waits}", 1000 * mine, "ms", None, spread(one)),
        Figure(f"fan-out: the same ÷ {path}", 1000 * mine / longest, "×", PATH_BOUND, spread(one)),
        Figure(f"fan-out: the same ÷ the sum ({whole:.0f} ms)", 1000 * mine / whole, "×"),
        Figure(
            f"fan-out: {options.bases} linked knowledge bases ÷ one", all_of_them / mine, "×", BASES_BOUND, spread(many)
        ),
    ]
    return Report("fan_out", figures, {"one_ms": [1000 * each for each in one], "many_ms": [1000 * e for e in many]})


def main() -> None:
    parser = bench_parser("fan_out", __doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--turns", type=int, default=6, help="of a round")
    parser.add_argument("--ms", type=float, default=100.0)
    parser.add_argument("--bases", type=int, default=8)
    parser.add_argument("--chunks", type=int, default=500, help="of each knowledge base")
    run(parser, measure)


if __name__ == "__main__":
    main()
