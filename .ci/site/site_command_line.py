"""The command line as Markdown, from the commands themselves: what `--help` says, as a page."""

from __future__ import annotations

import re
from typing import Any

EXAMPLE = re.compile(r"^Example: (optldp .*?)(?=^Example: |\Z)", re.MULTILINE | re.DOTALL)


def command_line() -> str:
    """Return a table of the commands of `optldp`, and of each: what it is for, examples, arguments and options."""
    import typer
    from optldp.designer.command_line import app

    group: Any = typer.main.get_command(app)
    rows = [f"| [`{name}`](#optldp-{name}) | {_summary(command)} |" for name, command in group.commands.items()]
    table = "\n".join(["| | `optldp` |", "|---|---|", *rows])
    return "\n\n".join([table, *(_command(name, command) for name, command in group.commands.items())])


def _summary(command: Any) -> str:
    """Return the first sentence of what a command's help says."""
    first = " ".join((command.help or "").split("\n\n")[0].split())
    return re.split(r"(?<=\.) (?=[A-Z])", first)[0].replace("|", r"\|")


def _command(name: str, command: Any) -> str:
    import typer

    context = typer.Context(command, info_name=f"optldp {name}")
    says = (command.help or "").replace("\b", "")
    usage = re.sub("[{}]", "", " ".join(command.collect_usage_pieces(context)))
    examples = "\n".join(
        " ".join(example.replace("\\\n", " ").split()) for example in EXAMPLE.findall(says)
    )  # long ones are wrapped
    rows = "\n".join(_row(parameter, context) for parameter in command.get_params(context) if not _gone(parameter))
    return (
        f"## optldp {name}\n\n{EXAMPLE.sub('', says).strip()}\n\n```text\noptldp {name} {usage}\n```\n\n"
        f"```sh\n{examples}\n```\n\n| option | value | |\n|---|---|---|\n{rows}"
    )


def _gone(parameter: Any) -> bool:
    """Return whether it is a name that was, which still works and no help shows."""
    return getattr(parameter, "hidden", False)


def _row(parameter: Any, context: Any) -> str:
    """Return one argument or option as a row of the table."""
    value = parameter.metavar or re.sub("[<>]", "", parameter.display_type(context))
    if parameter.param_type_name == "argument":
        names, value = f"`{value}`", ""
    else:
        names = " ".join(f"`{name}`" for name in parameter.opts)
        value = "" if parameter.is_flag else " ".join(f"`{part}`" for part in value.split("|"))
    notes = [parameter.help.replace("|", r"\|")] if parameter.help else []
    if parameter.required:
        notes.append("Required.")
    elif parameter.default not in (None, False, "", (), []):
        notes.append(f"Default: `{parameter.default}`.")
    return f"| {names} | {value} | {' '.join(notes)} |"
