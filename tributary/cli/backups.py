"""`tributary backup` and `tributary restore`."""

from pathlib import Path

from tributary.backup.archives import Manifest
from tributary.backup.making import make_backup
from tributary.backup.restoring import check_backup, restore_backup
from tributary.cli.options import console
from tributary.domain.attachments import human_size
from tributary.settings import Settings


def backup(settings: Settings, file: Path) -> None:
    target = file.expanduser().absolute()
    with console.status("") as status:
        manifest = make_backup(settings, target, told=status.update)
    console.print(f"{target} ({human_size(target.stat().st_size)}) holds {_contents(manifest)}", soft_wrap=True)
    if manifest.missing:
        console.print(
            f"The bytes of {len(manifest.missing)} files are not on this disk and not in the backup: "
            f"{', '.join(manifest.missing[:3])}{' …' if len(manifest.missing) > 3 else ''}",
            style="yellow",
            soft_wrap=True,
        )


def restore(settings: Settings, file: Path, *, check: bool) -> None:
    source = file.expanduser().absolute()
    with console.status("") as status:
        if check:
            manifest = check_backup(source, told=status.update)
        else:
            manifest = restore_backup(settings, source, told=status.update)
    done = "is whole: it holds" if check else f"is restored into {settings.data}:"
    console.print(f"{source} of {manifest.made_at} {done} {_contents(manifest)}", soft_wrap=True)


def _contents(manifest: Manifest) -> str:
    rows = manifest.rows
    return (
        f"{rows.get('organisations', 0)} organisations, {rows.get('conversations', 0)} conversations, "
        f"{rows.get('documents', 0)} documents, {manifest.files} files"
    )
