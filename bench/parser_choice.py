"""Parsers of Office documents and HTML beside ours, on documents with known content and on large ones.

    python -m bench.parser_choice [--python INTERPRETER]

`INTERPRETER` is one in whose environment the others are installed (markitdown[docx,pptx,xlsx] kreuzberg mammoth
docx2python python-docx python-pptx openpyxl python-calamine html2text markdownify trafilatura html-to-markdown
resiliparse); those that are not are said to be missing. Each runs in a process of its own.

*text*: what must come out and did; *order*: in the order of the document; *wrong*: what must not and did (deleted and
hidden text, field codes, scripts); *headings* and *rows*: those that are marked as such in Markdown.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.parser_documents import SPECIMENS, Specimen

_NAIVE_DOCX = """
import docx
def parse(path):
    d = docx.Document(path)
    rows = [" | ".join(cell.text for cell in row.cells) for table in d.tables for row in table.rows]
    return "\\n\\n".join([p.text for p in d.paragraphs] + rows)
"""
_NAIVE_PPTX = """
import pptx
def parse(path):
    shapes = [shape for slide in pptx.Presentation(path).slides for shape in slide.shapes if shape.has_text_frame]
    return "\\n\\n".join(shape.text_frame.text for shape in shapes)
"""
_OPENPYXL = """
import openpyxl
def parse(path):
    book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    return "\\n".join(" | ".join(str(v) for v in row) for sheet in book for row in sheet.iter_rows(values_only=True))
"""
_CALAMINE = """
import python_calamine
def parse(path):
    book = python_calamine.load_workbook(path)
    rows = [row for name in book.sheet_names for row in book.get_sheet_by_name(name).to_python()]
    return "\\n".join(" | ".join(map(str, row)) for row in rows)
"""
_MARKITDOWN = """
from markitdown import MarkItDown
def parse(path):
    return MarkItDown().convert(path).text_content
"""
_KREUZBERG = """
import kreuzberg
def parse(path):
    return kreuzberg.extract_file_sync(path, config=kreuzberg.ExtractionConfig(output_format="markdown")).content
"""
_MAMMOTH = """
import mammoth
def parse(path):
    with open(path, "rb") as file:
        return mammoth.convert_to_markdown(file).value
"""
_DOCX2PYTHON = """
from docx2python import docx2python
def parse(path):
    return docx2python(path).text
"""
_READ = 'open(path, encoding="cp1252", errors="replace").read()'
_HTML = "{imports}\ndef parse(path):\n    return {call}\n"

OTHERS: dict[str, dict[str, str]] = {
    "docx": {
        "markitdown": _MARKITDOWN,
        "kreuzberg": _KREUZBERG,
        "mammoth": _MAMMOTH,
        "docx2python": _DOCX2PYTHON,
        "python-docx": _NAIVE_DOCX,
    },
    "pptx": {"markitdown": _MARKITDOWN, "kreuzberg": _KREUZBERG, "python-pptx": _NAIVE_PPTX},
    "xlsx": {"markitdown": _MARKITDOWN, "kreuzberg": _KREUZBERG, "openpyxl": _OPENPYXL, "calamine": _CALAMINE},
    "html": {
        "markitdown": _MARKITDOWN,
        "kreuzberg": _KREUZBERG,
        "html2text": _HTML.format(imports="import html2text", call=f"html2text.html2text({_READ})"),
        "markdownify": _HTML.format(imports="import markdownify", call=f"markdownify.markdownify({_READ})"),
        "trafilatura": _HTML.format(
            imports="import trafilatura", call=f'trafilatura.extract({_READ}, output_format="markdown") or ""'
        ),
        "html-to-markdown": _HTML.format(
            imports="import html_to_markdown",
            call=f'(lambda r: getattr(r, "content", None) or str(r))(html_to_markdown.convert({_READ}))',
        ),
        "resiliparse": _HTML.format(
            imports="from resiliparse.extract.html2text import extract_plain_text",
            call=f"extract_plain_text({_READ}, preserve_formatting=True)",
        ),
    },
}
_OURS = """
import pathlib
from tributary.files.parsing.{module} import parse_{module} as _parse
def parse(path):
    return _parse(pathlib.Path(path)).text
"""
_CHILD = """
import json, re, sys, time
started = time.perf_counter()
exec(sys.argv[1])
imported = time.perf_counter() - started
text = parse(sys.argv[2])
times = []
for _ in range(3):
    at = time.perf_counter(); parse(sys.argv[2]); times.append(time.perf_counter() - at)
at = time.perf_counter(); parse(sys.argv[3]); large = time.perf_counter() - at
peak = int(re.search("VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1])
print(json.dumps(dict(text=text, imported=imported, small=min(times), large=large, peak=peak / 1024)))
"""


def measure(interpreter: str, code: str, small: Path, large: Path) -> dict[str, Any] | str:
    """What a child found; why there is nothing."""
    command = [interpreter, "-W", "ignore", "-c", _CHILD, code, str(small), str(large)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    except subprocess.TimeoutExpired:
        return "over 300 s"
    if done.returncode:
        return done.stderr.strip().splitlines()[-1][:80] if done.stderr.strip() else f"exit {done.returncode}"
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def judge(specimen: Specimen, text: str) -> tuple[str, str, str, str, str]:
    """Cells of the table: text, order, wrong, headings, rows."""
    loose = re.sub(r"\\(?=\W)|\*", "", text)
    flowing = " ".join(loose.split())  # a line break within a paragraph is no fault
    places = [flowing.find(" ".join(words.split())) for words in specimen.wanted]
    found = [place for place in places if place >= 0]
    wrong = [words for words in specimen.unwanted if words in loose]
    lines = [line.strip() for line in loose.splitlines()]
    headings = sum(any(re.match(rf"#+ .*{re.escape(words)}", line) for line in lines) for words in specimen.headings)
    rows = sum(any(_is_row(line, cells) for line in lines) for cells in specimen.rows)
    return (
        f"{len(found)}/{len(specimen.wanted)}",
        "yes" if found == sorted(found) else "no",
        str(len(wrong)),
        f"{headings}/{len(specimen.headings)}",
        f"{rows}/{len(specimen.rows)}",
    )


def _is_row(line: str, cells: tuple[str, ...]) -> bool:
    return "|" in line and tuple(cell.strip() for cell in line.strip("|").split("|")) == cells


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--formats", nargs="*", default=list(SPECIMENS), choices=list(SPECIMENS))
    options = parser.parse_args()
    interpreter = options.python
    print("| format | parser | text | order | wrong | headings | rows | import s | small ms | large s | peak MB |")
    print("| --- | --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        for name in options.formats:
            make, make_large = SPECIMENS[name]
            small, large = Path(folder, f"small.{name}"), Path(folder, f"large.{name}")
            specimen = make(small)
            make_large(large)
            candidates = {"**ours**": (sys.executable, _OURS.format(module=name))}
            candidates |= {other: (interpreter, code) for other, code in OTHERS[name].items()}
            for candidate, (python, code) in candidates.items():
                found = measure(python, code, small, large)
                if isinstance(found, str):
                    print(f"| {name} | {candidate} | {found} | | | | | | | | |", flush=True)
                    continue
                cells = " | ".join(judge(specimen, found["text"]))
                times = f"{found['imported']:.2f} | {found['small'] * 1000:.1f} | {found['large']:.2f}"
                costs = f"{times} | {found['peak']:.0f}"
                print(f"| {name} | {candidate} | {cells} | {costs} |", flush=True)


if __name__ == "__main__":
    main()
