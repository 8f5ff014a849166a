"""Documents that ask whoever reads them to fetch something, in every way that their formats know."""

from tests.support.office import changed as changed_archive
from tests.support.office import docx, package, paragraph, pptx, xlsx

_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def documents(url: str, local: str) -> dict[str, bytes]:
    """By file name. `url` is asked for under a path that names the way, `local` is the address of a file here."""
    return {
        "page.html": _page(url).encode(),
        "page.xhtml": _strict_page(url, local).encode(),
        "drawing.svg": _drawing(url, local).encode(),
        "notes.md": f"# Tides\n\n![p]({url}/md.png) [l]({url}/md) <{url}/bare>\n\n<img src='{url}/md-html'>".encode(),
        "mail.eml": _mail(url).encode(),
        "table.csv": f'name,value\ntides,"=WEBSERVICE(""{url}/csv"")"\ni,"=IMAGE(""{url}/csv.png"")"'.encode(),
        "letter.docx": _letter(url),
        "entities.docx": _entities(url, local),
        "slides.pptx": _slides(url),
        "sheet.xlsx": _sheet(url),
        "paper.pdf": _paper(url),
    }


def _page(url: str) -> str:
    return f"""<!doctype html><html><head><base href="{url}/base/"><link rel="stylesheet" href="{url}/css">
<link rel="preload" as="image" href="{url}/preload"><meta http-equiv="refresh" content="0;url={url}/refresh">
<script src="{url}/script"></script><style>@import url({url}/import); body {{background: url({url}/bg)}}</style></head>
<body background="{url}/body"><p>A page about tides.<img src="{url}/img" srcset="{url}/set 2x"><img src="relative.png">
<picture><source srcset="{url}/source"><img src="//{url.removeprefix("http://")}/bare"></picture>
<iframe src="{url}/frame"></iframe><object data="{url}/object"></object><embed src="{url}/embed">
<video src="{url}/video" poster="{url}/poster"></video><audio src="{url}/audio"></audio>
<svg><image href="{url}/svg" xlink:href="{url}/xlink"/><use href="{url}/use#a"/></svg></p></body></html>"""


def _strict_page(url: str, local: str) -> str:
    return f"""<?xml version="1.0"?><?xml-stylesheet href="{url}/xsl" type="text/xsl"?>
<!DOCTYPE html PUBLIC "-//X//X" "{url}/dtd" [<!ENTITY far SYSTEM "{url}/entity"><!ENTITY near SYSTEM "{local}">
<!ENTITY % p SYSTEM "{url}/parameter"> %p;]>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:xi="http://www.w3.org/2001/XInclude"><body>
<p>A strict page about tides. &far; &near;</p><xi:include href="{url}/xinclude"/>
<xi:include href="{local}" parse="text"/></body></html>"""


def _drawing(url: str, local: str) -> str:
    return f"""<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY far SYSTEM "{url}/svg-entity">
<!ENTITY near SYSTEM "{local}">]>
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"><text>Tides &far; &near;</text>
<image xlink:href="{url}/svg-image"/><use xlink:href="{url}/svg-use#x"/><style>@import "{url}/svg-css";</style></svg>"""


def _mail(url: str) -> str:
    return f"""From: a@example.org\r\nTo: b@example.org\r\nSubject: Tides\r\nMIME-Version: 1.0\r
Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/html\r\n\r
<p>Tides<img src="{url}/mail-img"></p>\r\n--b\r\nContent-Type: message/external-body; access-type=URL;\r
 URL="{url}/mail"\r
\r\n\r\n--b--\r\n"""


def _letter(url: str) -> bytes:
    content = docx(lambda document: document.add_paragraph("A letter about tides."))
    far = "".join(
        f'<Relationship Id="far{kind}" Type="{_OFFICE}/{kind}" Target="{url}/{kind}" TargetMode="External"/>'
        for kind in ("image", "attachedTemplate", "hyperlink", "oleObject", "aFChunk", "frame", "subDocument")
    )
    picture = (
        '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>'
        f'INCLUDEPICTURE "{url}/field" INCLUDETEXT "{url}/text"</w:instrText></w:r>'
        '<w:r><w:fldChar w:fldCharType="end"/></w:r></w:p><w:altChunk r:id="faraFChunk"/>'
        '<w:p><w:r><w:drawing><a:blip xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
        'r:link="farimage" r:embed="farimage"/></w:drawing></w:r></w:p>'
    ).encode()
    content = changed_archive(
        content, "word/_rels/document.xml.rels", b"</Relationships>", far.encode() + b"</Relationships>"
    )
    return changed_archive(content, "word/document.xml", b"<w:sectPr", picture + b"<w:sectPr")


def _entities(url: str, local: str) -> bytes:
    head = (
        f'<!DOCTYPE w:document SYSTEM "{url}/docx-dtd" [<!ENTITY far SYSTEM "{url}/docx-entity">'
        f'<!ENTITY near SYSTEM "{local}">]>'
    )
    body = f"{paragraph('Entities about tides. &far; &near;')}"
    main = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    document = (
        f'{head}<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
        f"<w:body>{body}</w:body></w:document>"
    )
    return package(document, {}, main)


def _slides(url: str) -> bytes:
    def write(presentation: object) -> None:
        slides = presentation.slides  # type: ignore[attr-defined]
        slide = slides.add_slide(presentation.slide_layouts[5])  # type: ignore[attr-defined]
        slide.shapes.title.text = "Slides about tides"

    far = "".join(
        f'<Relationship Id="far{kind}" Type="{_OFFICE}/{kind}" Target="{url}/pptx-{kind}" TargetMode="External"/>'
        for kind in ("image", "video", "audio", "oleObject", "hyperlink", "slide")
    )
    return changed_archive(
        pptx(write), "ppt/slides/_rels/slide1.xml.rels", b"</Relationships>", far.encode() + b"</Relationships>"
    )


def _sheet(url: str) -> bytes:
    rows = [["name", "value"], ["tides", f'=WEBSERVICE("{url}/xlsx")'], ["picture", f'=IMAGE("{url}/xlsx.png")']]
    far = (
        f'<Relationship Id="far" Type="{_OFFICE}/externalLinkPath" Target="{url}/book.xlsx" TargetMode="External"/>'
        "</Relationships>"
    )
    return changed_archive(xlsx({"Tides": rows}), "xl/_rels/workbook.xml.rels", b"</Relationships>", far.encode())


def _paper(url: str) -> bytes:
    """A page whose contents, opening action and annotation lie elsewhere."""
    catalog = (
        f"<< /Type /Catalog /Pages 2 0 R /OpenAction << /S /URI /URI ({url}/pdf-open) >> /AA << /WC << /S /SubmitForm "
        f"/F << /FS /URL /F ({url}/pdf-submit) >> >> >> >>"
    )
    page = (
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents [4 0 R 5 0 R] /Resources << /Font << /F1 << "
        "/Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> /Annots [ << /Type /Annot /Subtype /Link /Rect "
        f"[0 0 9 9] /A << /S /GoToR /F << /FS /URL /F ({url}/pdf-remote) >> /D [0 /Fit] >> >> ] >>"
    )
    objects = [
        catalog,
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        page,
        "<< /Length 52 >>\nstream\nBT /F1 12 Tf 20 100 Td (A paper about the tides.) Tj ET\nendstream",
        f"<< /Length 0 /F << /FS /URL /F ({url}/pdf-stream) >> >>\nstream\n\nendstream",
    ]
    out, places = b"%PDF-1.7\n", []
    for number, each in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{each}\nendobj\n".encode()
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    end = (
        f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\n"
    )
    return out + f"{end}startxref\n{len(out)}\n%%EOF\n".encode()
