from pathlib import Path

import pytest

from tests.support import office
from tests.support.office import MAIN_TYPE, archive, compound, paragraph, word_of
from tributary.domain.errors import DamagedFile, FileTooLarge, TributaryError, UnsupportedType
from tributary.files.parsing import package
from tributary.files.parsing.detection import CSV, DOCX, HTML, PPTX, TSV, XLSX, detect
from tributary.files.parsing.registry import document_type_of, parse_document

BINARY_WORKBOOK = "application/vnd.ms-excel.sheet.binary.macroEnabled.main"


def found(tmp_path: Path, content: bytes, filename: str = "a.bin") -> str:
    path = tmp_path / "0b5e"
    path.write_bytes(content)
    return detect(path, filename)


def word_declared(main_type: str) -> bytes:
    return word_of(paragraph("x"), main_type=main_type)


@pytest.mark.parametrize(
    ("content", "content_type"),
    [
        (word_of(paragraph("x")), DOCX),
        (office.docx(lambda document: document.add_paragraph("x")), DOCX),
        (office.pptx(lambda _: None), PPTX),
        (office.xlsx({"S": [["x"]]}), XLSX),
        (word_declared("application/vnd.ms-word.document.macroEnabled.main+xml"), DOCX),
        (word_declared(MAIN_TYPE.replace("document.main", "template.main")), DOCX),
        (word_declared("application/vnd.ms-excel.sheet.macroEnabled.main+xml"), XLSX),
        (word_declared("application/vnd.ms-powerpoint.slideshow.macroEnabled.main+xml"), PPTX),
        (word_declared("application/vnd.openxmlformats-officedocument.presentationml.slideshow.main+xml"), PPTX),
    ],
)
def test_an_office_document_is_what_its_package_declares(tmp_path: Path, content: bytes, content_type: str) -> None:
    assert found(tmp_path, content, "named.xlsx") == content_type


@pytest.mark.parametrize(
    ("content", "filename", "content_type"),
    [
        (b"<!DOCTYPE html><p>x", "a.txt", HTML),
        (b"\n<!-- c --><html><p>x", "a", HTML),
        (b'<?xml version="1.0"?><!DOCTYPE html><html>', "a.md", HTML),
        ("<html><p>x".encode("utf-16"), "a", HTML),
        (b"<p>a fragment</p>", "a.html", HTML),
        (b"<p>a fragment</p>", "a.txt", "text/plain"),
        (b"no tag at all", "a.html", "text/plain"),
        (b"a,b\n1,2\n", "a.csv", CSV),
        (b"a,b\n1,2\n", "a.txt", "text/plain"),
        ("a\tb\n1\t2\n".encode("utf-16"), "a.TSV", TSV),
        (b"# a | b", "a.md", "text/markdown"),
    ],
)
def test_a_name_decides_only_where_the_bytes_are_alike(
    tmp_path: Path, content: bytes, filename: str, content_type: str
) -> None:
    assert found(tmp_path, content, filename) == content_type


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (compound("WordDocument", "ObjectPool"), r"old Word document \(\.doc\)"),
        (compound("Workbook", "WordDocument"), r"old Excel workbook \(\.xls\)"),
        (compound("PowerPoint Document"), r"old PowerPoint presentation \(\.ppt\)"),
        (compound("__properties_version1.0"), "Outlook message"),
        (compound("Something"), "old Office document"),
        (archive({"a.txt": "x"}), "ZIP archive"),
        (archive({"mimetype": "application/epub+zip"}), "ZIP archive|EPUB"),
        (word_declared(BINARY_WORKBOOK), "XLSB"),
        (word_declared("application/whatever"), "another kind"),
        (b"<?xml version='1.0'?><a/>", "XML document"),
        (b"{\\rtf1 x}", "Rich Text"),
        (b"<html><p>Not found", "named .pdf"),
    ],
)
def test_a_refusal_names_what_was_found_and_what_is_taken(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "0b5e"
    path.write_bytes(content)
    with pytest.raises(UnsupportedType, match=reason) as refusal:
        document_type_of(path, "report.pdf" if b"Not found" in content else "a.bin")
    assert "A knowledge base takes PDF" in refusal.value.detail
    assert "MP3" not in refusal.value.detail


def test_documents_with_a_password_are_refused_with_that_reason(tmp_path: Path) -> None:
    for content in (compound("EncryptionInfo", "EncryptedPackage"), encrypted_archive()):
        with pytest.raises(DamagedFile, match="password"):
            found(tmp_path, content)


def encrypted_archive() -> bytes:
    """Every member is flagged as encrypted, in both of its headers."""
    data = bytearray(word_of(paragraph("x")))
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.find(mark)
        while at >= 0:
            data[at + offset] |= 1
            at = data.find(mark, at + 1)
    return bytes(data)


@pytest.mark.parametrize(
    "entities",
    [
        '<!DOCTYPE w [<!ENTITY x SYSTEM "file:///etc/hostname">]>',
        '<!DOCTYPE w [<!ENTITY x "laugh"><!ENTITY y "&x;&x;&x;">]>',
        '<!DOCTYPE w SYSTEM "http://127.0.0.1:9/evil.dtd">',
    ],
)
def test_entities_and_foreign_dtds_are_never_resolved(tmp_path: Path, entities: str) -> None:
    document = f'{entities}<w:document xmlns:w="{office.W}"><w:body>{paragraph("secret &x;")}</w:body></w:document>'
    path = tmp_path / "0b5e"
    path.write_bytes(office.package(document, {}))
    with pytest.raises(DamagedFile):
        parse_document(path, DOCX, "a.docx")


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package, "MAX_UNPACKED_BYTES", 2**20)
    bomb = archive({"[Content_Types].xml": "", "word/document.xml": b" " * (2**20 + 1)})
    assert len(bomb) < 2**12
    with pytest.raises(FileTooLarge, match="unpacks to"):
        found(tmp_path, bomb)


def test_an_archive_that_lies_about_its_sizes_is_damaged(tmp_path: Path) -> None:
    honest = office.xlsx({"S": [["x" * 5_000]]})
    path = tmp_path / "0b5e"
    path.write_bytes(with_declared_sizes(honest, 10))
    with pytest.raises(DamagedFile), package.open_package(path) as opened:
        for _ in opened.blocks():
            pass
    with pytest.raises(DamagedFile):
        parse_document(path, XLSX, "a.xlsx")


def with_declared_sizes(content: bytes, size: int) -> bytes:
    data = bytearray(content)
    for mark, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = data.find(mark)
        while at >= 0:
            data[at + offset : at + offset + 4] = size.to_bytes(4, "little")
            at = data.find(mark, at + 1)
    return bytes(data)


def test_an_archive_that_holds_itself_is_not_followed(tmp_path: Path) -> None:
    inner = word_of(paragraph("x"))
    for _ in range(5):
        inner = archive({"[Content_Types].xml": "<Types/>", "word/inner.docx": inner})
    with pytest.raises(TributaryError):
        found(tmp_path, inner)
