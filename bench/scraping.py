"""A server's own figures, as `/metrics` gives them."""

from collections.abc import Sequence

import httpx
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample


async def scrape(client: httpx.AsyncClient) -> list[Sample]:
    answer = (await client.get("/metrics")).raise_for_status()
    return [sample for each in text_string_to_metric_families(answer.text) for sample in each.samples]


def total(samples: Sequence[Sample], name: str, **labels: str) -> float:
    """Of all samples of that name that have these labels; 0 where there is none."""
    return sum(each.value for each in samples if each.name == name and labels.items() <= each.labels.items())
