"""The files of the page as they are read and addressed."""

import hashlib
import json
from pathlib import Path

from tributary.page.assets import ENTRY, SCRIPT, STATIC, STYLES, Page
from tributary.page.linking import reached


def test_what_was_taken_from_others_is_as_it_was_recorded() -> None:
    vendor = STATIC / "vendor"
    recorded = json.loads((vendor / "manifest.json").read_text())["files"]
    found = {
        path.relative_to(vendor).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in vendor.rglob("*")
        if path.is_file() and path.name != "manifest.json"
    }
    assert found == recorded


def test_every_package_has_its_licence_and_the_version_of_the_lock_file() -> None:
    packages = json.loads((STATIC / "vendor" / "manifest.json").read_text())["packages"]
    lock = json.loads((STATIC.parent / "package-lock.json").read_text())["packages"]
    for name, package in packages.items():
        assert (STATIC / "vendor" / "licences" / f"{name.removeprefix('@').replace('/', '-')}.txt").is_file()
        assert package == {key: lock[f"node_modules/{name}"][key] for key in package}


def test_every_module_and_every_style_is_in_the_one_file_of_its_kind() -> None:
    files = Page().current().files
    texts = {name: asset.body.decode() for name, asset in files.items() if name.endswith(".js") and name != SCRIPT}
    ours = {name for name in texts if not name.startswith("vendor/")} - {"early.js"}
    assert ours <= set(reached(texts, ENTRY))
    assert {name for name in files if name.startswith("styles/")} == set(STYLES)


def test_an_address_changes_with_what_it_names(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text('<script src="{{page}}page.js"></script>')
    (tmp_path / "app.js").write_text('import { b } from "./b.js";\nimport("./vendor/late.js");')
    (tmp_path / "b.js").write_text("export const b = 1;")
    (tmp_path / "styles").mkdir()
    for name in STYLES:
        (tmp_path / name).write_text("")
    page = Page(tmp_path)
    first = page.current()
    assert page.current() is first
    assert f'src="page/{first.digest}/page.js"' in first.index.body.decode()
    (tmp_path / "b.js").write_text("export const b = 22;")
    assert page.current().digest != first.digest
    assert page.known() is page.current()


def test_text_is_packed_and_fonts_are_not() -> None:
    files = Page().current().files
    packed = files["vendor/katex/katex.js"].packed
    assert packed is not None
    assert len(packed) < len(files["vendor/katex/katex.js"].body) / 2
    assert files["vendor/katex/fonts/KaTeX_Main-Regular.woff2"].packed is None
