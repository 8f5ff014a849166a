"""Whether an organisation's limits have room for one more file."""

from dataclasses import dataclass

from tributary.domain.attachments import human_size
from tributary.domain.errors import QuotaExceeded


@dataclass(frozen=True, slots=True)
class Usage:
    """What an organisation has stored and sent today, beside its limits; a limit of `None` is none."""

    quota_bytes: int | None
    bytes: int
    files_per_day: int | None
    files_today: int
    #: Seconds until the day ends in UTC.
    until_midnight: float


def require_room(usage: Usage, size: int) -> None:
    """Raises `QuotaExceeded` when a file of `size` bytes is more than the limits allow. It says how long to wait
    where waiting helps: until midnight UTC for the files of a day, and not at all for the bytes."""
    if usage.quota_bytes is not None and usage.bytes + size > usage.quota_bytes:
        raise QuotaExceeded(
            f"{human_size(size)} more would pass the organisation's quota of {human_size(usage.quota_bytes)}, "
            f"of which {human_size(usage.bytes)} are used"
        )
    if usage.files_per_day is not None and usage.files_today >= usage.files_per_day:
        raise QuotaExceeded(
            f"The organisation's {usage.files_per_day} files of this day are used up",
            retry_after=usage.until_midnight,
        )
