"""XML of strangers: read without its DTD, without entities, without the network, and bounded in depth and size."""

from collections.abc import Iterator
from functools import lru_cache
from typing import TypeAlias

from lxml import etree

from tributary.domain.errors import DamagedFile

Element: TypeAlias = etree._Element

#: Bytes of one part. A tree takes about eight times as much.
MAX_XML_BYTES = 96 * 2**20


def parse_xml(data: bytes) -> Element:
    """The root element.

    Raises:
        DamagedFile: not well-formed, nested over 256 deep, or with a DTD, which no Office document has.
    """
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, dtd_validation=False, remove_comments=True,
        remove_pis=True, huge_tree=False,
    )  # fmt: skip
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise DamagedFile("The document is damaged: a part of it is not well-formed XML.") from error
    if root.getroottree().docinfo.internalDTD is not None:
        raise DamagedFile("The document declares a DTD, which Office documents must not have.")
    return root


@lru_cache(maxsize=4096)
def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def name_of(element: Element) -> str:
    """The element's name without its namespace: transitional and strict Office documents differ in nothing else."""
    tag = element.tag
    return _local(tag) if isinstance(tag, str) else ""


def attribute(element: Element, name: str) -> str | None:
    """The attribute of this local name, in any namespace."""
    found = element.get(name)
    if found is not None:
        return str(found)
    return next((str(value) for key, value in element.attrib.items() if _local(str(key)) == name), None)


def child(element: Element | None, *path: str) -> Element | None:
    """The first descendant along the names of `path`, each the child of the one before."""
    for name in path:
        if element is None:
            return None
        element = next((each for each in element if name_of(each) == name), None)
    return element


def children(element: Element | None, name: str) -> Iterator[Element]:
    if element is not None:
        yield from (each for each in element if name_of(each) == name)


def descendants(element: Element, name: str) -> Iterator[Element]:
    yield from (each for each in element.iter() if name_of(each) == name)


def value_of(element: Element | None, *path: str) -> str | None:
    """The `val` of the descendant along `path`, as Office writes properties."""
    found = child(element, *path)
    return None if found is None else attribute(found, "val")


def is_on(element: Element | None, name: str) -> bool:
    """Whether the property `name` is switched on: it is there, and not with a value that denies it."""
    found = child(element, name)
    return found is not None and (attribute(found, "val") or "1") not in {"0", "false", "off", "none"}


def number(text: str | None, default: int = 0) -> int:
    """An integer that Office wrote; `default` for anything else."""
    try:
        return int(text) if text is not None and len(text) < 12 else default
    except ValueError:
        return default
