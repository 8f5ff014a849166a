"""What the routes share: JSON in camelCase, text that can be stored, lists in pages."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Generic, TypeVar
from uuid import UUID

from fastapi import Query
from pydantic import AfterValidator, BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

T = TypeVar("T")
Row = TypeVar("Row")


_UNSTORABLE = "text must not hold NUL characters or lone surrogates"


def storable(text: str) -> str:
    """Refuses what no database keeps: NUL, and halves of surrogate pairs."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(_UNSTORABLE) from error
    if "\x00" in text:
        raise ValueError(_UNSTORABLE)
    return text


def named(text: str) -> str:
    """A name: storable, and not blank."""
    if not text.strip():
        raise ValueError("must not be blank")
    return text.strip()


Text = Annotated[str, AfterValidator(storable)]
Name = Annotated[str, AfterValidator(storable), AfterValidator(named)]


class Body(BaseModel):
    """A request's body. Unknown fields are refused: a misspelt one must not be ignored."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid")


class Shape(BaseModel):
    """A response's object."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, from_attributes=True)


class Page(Shape, Generic[T]):
    """A page of a list; `nextCursor` is null on the last one."""

    items: list[T]
    next_cursor: str | None


Limit = Annotated[int, Query(ge=1, le=200)]
Cursor = Annotated[UUID | None, Query(description="`nextCursor` of the page before")]


def page_of(rows: Sequence[Row], limit: int, shape: Callable[[Row], Any]) -> dict[str, Any]:
    """A page from up to `limit + 1` rows: the extra one says that there is more."""
    shown = rows[:limit]
    more = len(rows) > limit
    return {"items": [shape(row) for row in shown], "next_cursor": str(shown[-1].id) if more else None}  # type: ignore[attr-defined]
