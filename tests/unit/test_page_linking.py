"""Modules as one file: what runs is what was written."""

import subprocess
from pathlib import Path

import pytest

from tests.support.node import NODE
from tributary.page.assets import SCRIPT, Page
from tributary.page.linking import linked


def said(tmp_path: Path, **modules: str) -> list[str]:
    """What the linked modules print; the entry is `main`, and what is in `vendor_…` stands apart."""
    texts = {f"{name.replace('vendor_', 'vendor/').replace('in_', 'in/')}.js": text for name, text in modules.items()}
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "page.mjs").write_text(linked(texts, "main.js"))
    (tmp_path / "package.json").write_text('{"type": "module"}')
    run = subprocess.run([NODE, tmp_path / "page.mjs"], capture_output=True, text=True, check=False, timeout=60)
    assert run.returncode == 0, run.stderr
    return run.stdout.split()


def test_every_form_of_import_and_export_means_what_it_meant(tmp_path: Path) -> None:
    assert said(
        tmp_path,
        main='import { one, two as zwei,\n  three } from "./in/a.js";\nimport again from "./b.js";\n'
        'import * as all from "./b.js";\nimport "./c.js";\nconsole.log(one, zwei(), new three().x, again, all.far);',
        in_a="export const one = 1;\nexport function two() { return 2; }\nexport class three { x = 3 }\n",
        b='export { one as far } from "./in/a.js";\nexport default "default";',
        c='console.log("first");var x=1,y=2;export{x as a,y};',
    ) == ["first", "1", "2", "3", "default", "1"]


def test_a_module_runs_once_and_modules_may_import_each_other(tmp_path: Path) -> None:
    assert said(
        tmp_path,
        main='import { a } from "./a.js";\nimport { b } from "./b.js";\nconsole.log(a(), b());',
        a='import { b } from "./b.js";\nconsole.log("a");\nexport function a() { return typeof b; }',
        b='import { a } from "./a.js";\nconsole.log("b");\nexport function b() { return typeof a; }',
    ) == ["b", "a", "function", "function"]


def test_what_is_loaded_late_is_the_same_module_or_a_file_apart(tmp_path: Path) -> None:
    assert said(
        tmp_path,
        main='import { seen } from "./a.js";\nseen.push(1);\nconst name = "large";\n'
        'Promise.all([import("./in/late.js"), import(`./vendor/${name}.js`)])'
        ".then(([late, large]) => console.log(late.seen.length, large.default));",
        a="export const seen = [];",
        in_late='export { seen } from "../a.js";',
        vendor_large='export default "apart";',
    ) == ["1", "apart"]


def test_an_address_beside_a_module_stays_beside_it(tmp_path: Path) -> None:
    modules = {"main": 'import "./in/a.js";', "in_a": 'console.log(new URL("../icon.svg", import.meta.url).href);'}
    assert said(tmp_path, **modules) == [(tmp_path / "icon.svg").as_uri()]


@pytest.mark.parametrize(
    "text", ['import { a } from "./nowhere.js";', "export let a = 1;", 'export * from "./main.js";']
)
def test_a_form_that_is_not_read_is_refused_and_not_served(text: str) -> None:
    with pytest.raises(ValueError, match=r"nowhere.js|main.js: this form"):
        linked({"main.js": text}, "main.js")


def test_the_page_itself_is_a_module_that_can_be_read(tmp_path: Path) -> None:
    script = tmp_path / "page.mjs"
    script.write_bytes(Page().current().files[SCRIPT].body)
    checked = subprocess.run([NODE, "--check", script], capture_output=True, text=True, check=False, timeout=60)
    assert checked.returncode == 0, checked.stderr
