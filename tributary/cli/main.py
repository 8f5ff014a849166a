"""The commands and their help. Each imports what it needs when it runs, so that `--help` answers at once."""

from pathlib import Path
from typing import Annotated

import typer

from tributary.cli.options import Data, Org, load_settings, run, run_in_one_thread

app = typer.Typer(
    name="tributary",
    help="Chat with your files and your knowledge bases, answered with citations.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
keys = typer.Typer(help="API keys of an organisation.", no_args_is_help=True)
orgs = typer.Typer(help="Organisations and their limits.", no_args_is_help=True)
app.add_typer(keys, name="keys")
app.add_typer(orgs, name="orgs")


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="Address to listen on")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port; 0 takes a free one", min=0, max=65535)] = 8000,
    data: Data = None,
    demo: Annotated[bool, typer.Option(help="Make the demo bot on a first start")] = True,
    processes: Annotated[int, typer.Option(help="Processes that serve this port", min=1, max=64)] = 1,
    listener: Annotated[int | None, typer.Option(hidden=True)] = None,
) -> None:
    """Serves the API. The last line printed is `Tributary ready at http://HOST:PORT`."""
    from tributary.cli.serving import serve as command
    from tributary.cli.serving import serve_beside

    settings = load_settings(data)
    if listener is not None:
        run(lambda: serve_beside(settings, listener, demo=demo), settings, own_signals=True)
        return
    run(lambda: command(settings, host=host, port=port, demo=demo, processes=processes), settings, own_signals=True)


@app.command()
def worker(data: Data = None) -> None:
    """Ingests documents, beside the workers of `serve`, until it is stopped."""
    from tributary.cli.knowledge import work

    settings = load_settings(data)
    run(lambda: work(settings), settings)


@app.command()
def ingest(
    paths: Annotated[list[Path], typer.Argument(help="Files, or folders to take all files from", exists=True)],
    kb: Annotated[str, typer.Option("--kb", help="Knowledge base by name; made where it is new")],
    org: Org = "demo",
    data: Data = None,
) -> None:
    """Puts documents into a knowledge base and waits until they are searchable."""
    from tributary.cli.knowledge import ingest as command

    settings = load_settings(data)
    failed = run(lambda: command(settings, organisation=org, name=kb, paths=paths), settings)
    raise typer.Exit(1 if failed else 0)


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="The question")],
    bot: Annotated[str, typer.Option("--bot", help="Bot by name")] = "Demo",
    file: Annotated[list[Path] | None, typer.Option("--file", help="A file to attach; up to 5", exists=True)] = None,
    conversation: Annotated[str | None, typer.Option("--conversation", help="Id of a conversation to go on")] = None,
    org: Org = "demo",
    data: Data = None,
) -> None:
    """Asks a bot, and prints the answer with its sources."""
    from tributary.cli.asking import ask as command

    settings = load_settings(data)
    run(
        lambda: command(
            settings, organisation=org, bot=bot, question=question, files=file or [], conversation=conversation
        ),
        settings,
    )


@app.command()
def reindex(
    kb: Annotated[str, typer.Argument(help="Knowledge base by name or id")],
    embedding: Annotated[
        str | None, typer.Option(help="The embedding to move it to; by default it is embedded anew by its own")
    ] = None,
    discard: Annotated[bool, typer.Option("--discard", help="Give up what a run that was cut off has done")] = False,
    org: Org = "demo",
    data: Data = None,
) -> None:
    """Embeds a knowledge base anew while it is searched by what it has. Cut off, it goes on when it is run again."""
    from tributary.cli.reindexing import reindex as command

    settings = load_settings(data)
    run(lambda: command(settings, organisation=org, name=kb, embedding=embedding, discard=discard), settings)


@app.command()
def graph(
    kb: Annotated[str, typer.Argument(help="Knowledge base, by name or id")],
    html: Annotated[
        Path | None,
        typer.Option("--html", help="Draws the graph into this file", dir_okay=False),
    ] = None,
    to: Annotated[str | None, typer.Option("--to", help="Moves the graph to `postgres` or `neo4j`")] = None,
    nodes: Annotated[int, typer.Option(help="Entities drawn, the most mentioned first", min=1, max=5000)] = 2000,
    org: Org = "demo",
    data: Data = None,
) -> None:
    """A knowledge graph: how large it is and where it is kept; with options it is drawn or moved."""
    from tributary.cli.graphs import graph as command

    settings = load_settings(data)
    run(lambda: command(settings, organisation=org, name=kb, html=html, to=to, nodes=nodes), settings)


@app.command()
def backup(
    file: Annotated[Path, typer.Argument(help="The file to write; it must not exist", dir_okay=False)],
    data: Data = None,
) -> None:
    """Backs up the embedded database and the stored files into one file, beside a running server or without one."""
    from tributary.cli.backups import backup as command

    settings = load_settings(data)
    run_in_one_thread(lambda: command(settings, file), settings)


@app.command()
def restore(
    file: Annotated[Path, typer.Argument(help="A file that `backup` wrote", dir_okay=False)],
    check: Annotated[bool, typer.Option("--check", help="Only reads it and says what is in it")] = False,
    data: Data = None,
) -> None:
    """Makes an empty data folder from a backup, which is checked as a whole before anything is written."""
    from tributary.cli.backups import restore as command

    settings = load_settings(data)
    run_in_one_thread(lambda: command(settings, file, check=check), settings)


@keys.command("create")
def create_key(
    org: Annotated[str, typer.Option("--org", help="Organisation; made where it is new")],
    scope: Annotated[
        str, typer.Option(help="`full`, or `chat`: no changes to bots and knowledge bases, no traces")
    ] = "full",
    data: Data = None,
) -> None:
    """Prints a new API key, and nothing else, on stdout."""
    from tributary.cli.administration import create_key as command

    settings = load_settings(data)
    typer.echo(run(lambda: command(settings, organisation=org, scope=scope), settings))


@keys.command("list")
def list_keys(org: Org = "demo", data: Data = None) -> None:
    """The organisation's keys, newest first; secrets are not kept."""
    from tributary.cli.administration import list_keys as command

    settings = load_settings(data)
    run(lambda: command(settings, organisation=org), settings)


@keys.command("revoke")
def revoke_key(
    key: Annotated[str, typer.Argument(help="Id of the key, as `keys list` shows it")],
    org: Org = "demo",
    data: Data = None,
) -> None:
    """Ends a key at once, on every process."""
    from tributary.cli.administration import revoke_key as command

    settings = load_settings(data)
    run(lambda: command(settings, organisation=org, key=key), settings)


@orgs.command("list")
def list_organisations(data: Data = None) -> None:
    """All organisations with their limits."""
    from tributary.cli.administration import list_organisations as command

    settings = load_settings(data)
    run(lambda: command(settings), settings)


@orgs.command("set")
def set_limits(
    name: Annotated[str, typer.Argument(help="Organisation; made where it is new")],
    quota_bytes: Annotated[int | None, typer.Option(help="Bytes of files it may keep; -1 for no limit")] = None,
    files_per_day: Annotated[int | None, typer.Option(help="Attachments a UTC day; -1 for no limit")] = None,
    monthly_budget: Annotated[float | None, typer.Option(help="US dollars a month; -1 for no limit")] = None,
    data: Data = None,
) -> None:
    """Sets limits of an organisation; those that are not named stay."""
    from tributary.cli.administration import set_limits as command

    settings = load_settings(data)
    run(
        lambda: command(
            settings, name, quota_bytes=quota_bytes, files_per_day=files_per_day, monthly_budget=monthly_budget
        ),
        settings,
    )


@app.command()
def link(
    org: Org = "demo",
    url: Annotated[str, typer.Option(help="Address of the running server")] = "http://127.0.0.1:8000",
    data: Data = None,
) -> None:
    """Prints a link that signs a browser in, once, within the hour, and nothing else, on stdout."""
    from tributary.cli.administration import make_link

    chosen = load_settings(data)
    typer.echo(url.rstrip("/") + run(lambda: make_link(chosen, organisation=org), chosen))


@app.command()
def settings() -> None:
    """Every setting: its environment variable, its default, and what it does."""
    from tributary.cli.administration import show_settings

    show_settings()


@app.command()
def prepare(data: Data = None) -> None:
    """Makes the local models ready, so that a first start doesn't wait for them."""
    from tributary.cli.administration import prepare_models

    chosen = load_settings(data)
    run(lambda: prepare_models(chosen), chosen)


def main() -> None:
    """The entry point of the installed command."""
    app()


if __name__ == "__main__":
    main()
